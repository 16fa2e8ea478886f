// SPDX-License-Identifier: GPL-3.0-or-later
#include "view_pages.h"

#include <QApplication>
#include <QHBoxLayout>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "details/timeline_panel.h"
#include "widgets/habits.h"

namespace draftscope::gui {

namespace {

/// Below this height the timeline has no room beside other views, unless the user asks for it.
constexpr int min_height_with_timeline = 620;
/// The timeline first takes one part in this many of the height below the tabs.
constexpr int timeline_share = 4;
constexpr int timeline_share_with_details = 3;

/// The view itself, its focus proxy, or its first widget that takes the focus by the Tab key.
QWidget* first_to_focus(QWidget& view) {
  if (QWidget* first = first_focus(view)) return first;
  if (view.focusProxy() != nullptr) return view.focusProxy();
  QWidget* at = &view;
  do {
    if ((at == &view || view.isAncestorOf(at)) && (at->focusPolicy() & Qt::TabFocus) != 0 &&
        at->isEnabled() && at->isVisibleTo(&view))
      return at;
    at = at->nextInFocusChain();
  } while (at != &view);
  return nullptr;
}

}  // namespace

ViewPages::ViewPages(QWidget* beside_tabs, QWidget* strip, TimelinePanel* timeline, QWidget* parent)
    : QWidget(parent), strip_(strip), timeline_(timeline), drawer_(new ViewPanel(tr("Timeline"), timeline)) {
  tabs_->setAccessibleName(tr("Pages"));
  tabs_->setDocumentMode(true);
  tabs_->setDrawBase(false);
  tabs_->setExpanding(false);
  auto* row = new QHBoxLayout;
  row->setContentsMargins(4, 2, 4, 0);
  row->addWidget(tabs_);
  row->addStretch(1);
  row->addWidget(beside_tabs, 4);
  auto* help = new QToolButton;
  help->setAutoRaise(true);
  help->setText(QStringLiteral("?"));
  help->setToolTip(tr("What this page shows, in the manual (F1)"));
  help->setAccessibleName(help->toolTip());
  // Keyboard users have F1.
  help->setFocusPolicy(Qt::NoFocus);
  row->addWidget(help);
  connect(help, &QToolButton::clicked, this,
          [this] { emit help_requested(&page().views->panels().front()->view()); });
  connect(drawer_, &ViewPanel::help_requested, this, [this] { emit help_requested(&drawer_->view()); });
  split_->setChildrenCollapsible(false);
  split_->addWidget(stack_);
  split_->addWidget(drawer_);
  split_->setStretchFactor(0, 1);
  split_->setStretchFactor(1, 0);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(row);
  column->addWidget(strip_);
  column->addWidget(split_, 1);
  connect(tabs_, &QTabBar::currentChanged, this, [this](int page) {
    maximise(nullptr);
    stack_->setCurrentIndex(page);
    show_parts();
    // A user who goes through the tabs by keyboard stays there.
    if (!tabs_->hasFocus()) focus_view();
    emit page_changed(page);
  });
  connect(drawer_, &ViewPanel::maximise_requested, this,
          [this] { maximise(maximised_ == drawer_ ? nullptr : drawer_); });
  connect(split_, &QSplitter::splitterMoved, this, [this] { timeline_height_ = drawer_->height(); });
  split_->installEventFilter(this);
  connect(timeline_, &TimelinePanel::laid_out, this, &ViewPages::limit_timeline);
  limit_timeline();
}

void ViewPages::add_page(const QString& name, const QString& title, const std::vector<PageRow>& rows,
                         bool has_timeline) {
  auto* views = new ViewPage(rows);
  pages_.push_back({name, views, has_timeline});
  stack_->addWidget(views);
  for (ViewPanel* panel : views->panels()) {
    connect(panel, &ViewPanel::maximise_requested, this,
            [this, panel] { maximise(maximised_ == panel ? nullptr : panel); });
    connect(panel, &ViewPanel::help_requested, this, [this, panel] { emit help_requested(&panel->view()); });
  }
  tabs_->addTab(title);
}

void ViewPages::add_page_of_its_own(const QString& name, const QString& title, QWidget* view) {
  add_page(name, title, {PageRow{{PlacedView{view, {}}}, 1}}, false);
  pages_.back().is_of_recording = false;
}

bool ViewPages::is_of_recording(int page) const {
  return pages_[static_cast<std::size_t>(page)].is_of_recording;
}

void ViewPages::offer_recording(bool is_there) {
  // A tab bar leaves a tab once it is disabled.
  if (!is_there && is_of_recording(current())) left_ = current();
  for (int page = 0; page < count(); ++page) tabs_->setTabEnabled(page, is_there || !is_of_recording(page));
  if (is_there && left_ && !is_of_recording(current())) show_page(*left_);
  if (is_there) left_.reset();
}

void ViewPages::show_view(QWidget& view) {
  if (drawer_->isAncestorOf(&view)) {
    if (maximised_ != drawer_) maximise(nullptr);
    open_timeline(true);
    timeline_->show_view(view);
  }
  for (std::size_t page = 0; page < pages_.size(); ++page)
    if (ViewPanel* panel = pages_[page].views->panel_of(view)) {
      show_page(static_cast<int>(page));
      if (maximised_ != panel) maximise(nullptr);
    }
}

QString ViewPages::page_of(const QWidget& view) const {
  for (const Page& page : pages_)
    if (page.views->panel_of(view) != nullptr) return page.name;
  return {};
}

void ViewPages::focus_view() {
  if (pages_.empty()) return;
  if (QWidget* first = first_to_focus(page().views->panels().front()->view())) first->setFocus();
}

bool ViewPages::is_timeline_open() const {
  if (pages_.empty() || !page().is_of_recording) return false;
  return page().timeline_chosen.value_or(page().has_timeline && height() >= min_height_with_timeline);
}

void ViewPages::open_timeline(bool is_open) {
  if (page().is_of_recording) page().timeline_chosen = is_open;
  if (maximised_ == drawer_ && !is_open) maximise(nullptr);
  show_parts();
}

void ViewPages::open_details(bool are_open) {
  if (are_open) open_timeline(true);
  timeline_->open_details(are_open);
}

void ViewPages::toggle_maximised() {
  if (maximised_ != nullptr) return maximise(nullptr);
  if (pages_.empty()) return;
  ViewPanel* chosen = page().views->panels().front();
  if (const QWidget* focus = QApplication::focusWidget(); focus != nullptr && isAncestorOf(focus)) {
    if (drawer_->isAncestorOf(focus))
      chosen = drawer_;
    else if (ViewPanel* panel = page().views->panel_of(*focus))
      chosen = panel;
  }
  maximise(chosen);
}

void ViewPages::maximise(ViewPanel* panel) {
  if (panel == maximised_ || pages_.empty()) return;
  QWidget* const focus = QApplication::focusWidget();
  maximised_ = panel;
  for (const Page& page : pages_) page.views->maximise(panel);
  drawer_->show_maximised(panel == drawer_);
  show_parts();
  if (focus != nullptr && focus->isVisible()) focus->setFocus();
}

void ViewPages::show_parts() {
  const bool is_drawer_alone = maximised_ != nullptr && maximised_ == drawer_;
  strip_->setVisible(maximised_ == nullptr && (pages_.empty() || page().is_of_recording));
  stack_->setVisible(!is_drawer_alone);
  drawer_->setVisible(is_drawer_alone || (maximised_ == nullptr && is_timeline_open()));
  limit_timeline();
  emit timeline_opened(is_timeline_open());
}

void ViewPages::limit_timeline() {
  // A maximised timeline takes all the room, so that no gap is left above it.
  const bool is_alone = maximised_ != nullptr && maximised_ == drawer_;
  drawer_->setMaximumHeight(is_alone ? QWIDGETSIZE_MAX : drawer_->bar_height() + timeline_->content_height());
  lay_out_timeline();
}

void ViewPages::lay_out_timeline() {
  if (drawer_->isHidden() || stack_->isHidden()) return;
  const int all = split_->height();
  const int first = timeline_->are_details_open() ? all / timeline_share_with_details : all / timeline_share;
  const int wanted = std::min(drawer_->maximumHeight(), timeline_height_.value_or(first));
  split_->setSizes({all - wanted, wanted});
}

bool ViewPages::eventFilter(QObject* watched, QEvent* event) {
  if (watched == split_ && event->type() == QEvent::Resize) lay_out_timeline();
  return QWidget::eventFilter(watched, event);
}

void ViewPages::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  show_parts();
}

void ViewPages::reset_layout() {
  maximise(nullptr);
  for (Page& page : pages_) {
    page.timeline_chosen.reset();
    page.views->reset();
  }
  timeline_height_.reset();
  timeline_->reset_layout();
  show_parts();
}

QVariantMap ViewPages::layout_state() const {
  QVariantMap state;
  for (const Page& page : pages_) {
    QVariantMap of{{QStringLiteral("dividers"), page.views->dividers()}};
    if (page.timeline_chosen) of[QStringLiteral("timeline")] = *page.timeline_chosen;
    state[page.name] = of;
  }
  if (timeline_height_) state[QStringLiteral("timeline height")] = *timeline_height_;
  state[QStringLiteral("timeline")] = timeline_->layout_state();
  if (!pages_.empty()) state[QStringLiteral("page")] = page().name;
  return state;
}

void ViewPages::restore_layout(const QVariantMap& state) {
  for (std::size_t place = 0; place < pages_.size(); ++place) {
    Page& page = pages_[place];
    const QVariantMap of = state.value(page.name).toMap();
    page.views->set_dividers(of.value(QStringLiteral("dividers")).toList());
    if (const QVariant chosen = of.value(QStringLiteral("timeline")); chosen.isValid())
      page.timeline_chosen = chosen.toBool();
    if (state.value(QStringLiteral("page")).toString() == page.name) show_page(static_cast<int>(place));
  }
  if (const int kept = state.value(QStringLiteral("timeline height")).toInt(); kept > 0)
    timeline_height_ = kept;
  timeline_->restore_layout(state.value(QStringLiteral("timeline")).toMap());
  show_parts();
}

}  // namespace draftscope::gui
