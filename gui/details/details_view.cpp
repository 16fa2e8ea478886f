// SPDX-License-Identifier: GPL-3.0-or-later
#include "details_view.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QScrollArea>
#include <QSortFilterProxyModel>
#include <QToolButton>
#include <QUrl>
#include <QVBoxLayout>
#include <algorithm>

#include "charts/table_file.h"
#include "details/details_text.h"
#include "timeline/timeline_view.h"
#include "widgets/habits.h"
#include "widgets/table_cells.h"
#include "widgets/table_columns.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

/// Place of a round in its lane of rounds.
std::optional<SlicePlace> place_of_round(const Timeline& timeline, const OpenedRecording& opened,
                                         std::uint32_t round_index) {
  const std::int64_t run_id = opened.runs()[opened.run_of(round_index)].run->id.value();
  const std::int64_t start_ns = opened.round(round_index).start_ns;
  for (std::size_t i = 0; i < timeline.lanes.size(); ++i) {
    const Lane& lane = timeline.lanes[i];
    if (lane.kind != LaneKind::rounds || lane.owner != run_id) continue;
    for (std::size_t slice = lane.slices.first_starting_at(start_ns);
         slice < lane.slices.size() && lane.slices.start_ns(slice) == start_ns; ++slice)
      if (lane.slices.round_index(slice) == round_index) return SlicePlace{i, slice};
  }
  return std::nullopt;
}

}  // namespace

DetailsView::DetailsView(ViewState& state, TimelineView& timeline, QWidget* parent)
    : QWidget(parent),
      state_(state),
      timeline_(timeline),
      meaning_(
          new QLabel(tr("attributed: each instant once, to the innermost span, or on a device to what began "
                        "first; it adds up. open: from begin to end."))) {
  setAccessibleName(tr("Details of the selection"));
  words_->setAccessibleName(tr("Details"));
  words_->setOpenLinks(false);
  words_->setFrameShape(QFrame::NoFrame);
  // Tab reaches links, and keys can mark text.
  words_->setTextInteractionFlags(Qt::TextBrowserInteraction | Qt::TextSelectableByKeyboard);
  pages_->addWidget(words_);
  pages_->addWidget(make_table());
  pages_->addWidget(scrollable(flame_graph_));
  constexpr int min_width = 200;
  constexpr int min_height = 60;
  pages_->setMinimumSize(min_width, min_height);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(4, 1, 2, 2);
  column->setSpacing(2);
  column->addWidget(make_head());
  column->addWidget(pages_, 1);
  connect(words_, &QTextBrowser::anchorClicked, this, &DetailsView::follow_link);
  connect(choice_, &QComboBox::currentIndexChanged, this, &DetailsView::forget);
  connect_state();
  when_seen(*this, [this] {
    if (is_stale_ && !job_.is_running()) start();
  });
  when_recoloured(*this, [this] {
    is_stale_ = true;
    update();
  });
  forget();
}

QWidget* DetailsView::make_head() {
  auto* head = new QWidget;
  auto* row = new QHBoxLayout(head);
  row->setContentsMargins(0, 0, 0, 0);
  auto* close = new QToolButton;
  close->setText(QStringLiteral("✕"));
  close->setAutoRaise(true);
  close->setToolTip(tr("Close the details (Ctrl+I)"));
  close->setAccessibleName(close->toolTip());
  choice_->addItems({tr("Slice"), tr("Round"), tr("Range by name"), tr("Range as flame graph")});
  choice_->setAccessibleName(tr("What the details show"));
  // A title that does not fit is cut, and does not widen the drawer.
  title_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  row->addWidget(choice_);
  row->addWidget(title_, 1);
  row->addWidget(close);
  connect(close, &QToolButton::clicked, this, &DetailsView::close_requested);
  return head;
}

QWidget* DetailsView::make_table() {
  auto* sorted = new QSortFilterProxyModel(this);
  sorted->setSourceModel(&names_);
  sorted->setSortRole(NamesModel::value_role);
  table_->setModel(sorted);
  table_->setAccessibleName(tr("The range by name"));
  table_->setSortingEnabled(true);
  table_->sortByColumn(NamesModel::attributed, Qt::DescendingOrder);
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setAlternatingRowColors(true);
  table_->setTabKeyNavigation(false);
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
  table_->setItemDelegateForColumn(NamesModel::share, new ShareCell(NamesModel::value_role, table_));
  keep_numbers_in_sight(*table_, {NamesModel::share});
  offer_copying(*table_);
  auto* page = new QWidget;
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(2);
  column->addWidget(table_, 1);
  meaning_->setWordWrap(true);
  column->addWidget(meaning_);
  return page;
}

void DetailsView::connect_state() {
  connect(&timeline_, &TimelineView::slice_selected, this, [this] {
    const auto& selected = timeline_.selected();
    if (selected && state_.timeline()) {
      const bool is_round = state_.timeline()->lanes[selected->lane].kind == LaneKind::rounds;
      show_page(is_round ? Page::round : Page::slice);
      emit asked_for();
    }
    if (!is_about_range()) forget();
  });
  connect(&state_, &ViewState::recording_changed, this, &DetailsView::forget);
  connect(&state_, &ViewState::timeline_changed, this, &DetailsView::forget);
  connect(&state_, &ViewState::run_changed, this, &DetailsView::forget);
  connect(&state_, &ViewState::cursor_changed, this, [this] {
    if (!is_about_range()) forget();
  });
  connect(&state_, &ViewState::range_changed, this, [this] {
    if (is_about_range() && !state_.selection()) forget();
  });
  connect(&state_, &ViewState::selection_changed, this, [this] {
    const auto& selection = state_.selection();
    if (selection && selection->duration_ns() > 0) {
      if (!is_about_range()) show_page(Page::names);
      emit asked_for();
    }
    if (is_about_range()) forget();
  });
}

void DetailsView::forget() {
  job_.cancel();
  is_stale_ = true;
  pages_->setCurrentIndex(is_about_range() ? choice_->currentIndex() - 1 : 0);
  update();
}

void DetailsView::keyPressEvent(QKeyEvent* event) {
  if (event->key() != Qt::Key_M || event->modifiers() != Qt::NoModifier) return QWidget::keyPressEvent(event);
  choice_->setCurrentIndex((choice_->currentIndex() + 1) % choice_->count());
}

void DetailsView::start() {
  is_stale_ = false;
  const bool is_readable = state_.recording() && state_.recording()->has_rows() && state_.timeline();
  if (!is_readable) {
    show_slice(std::nullopt);
    show_profile(std::nullopt);
  } else if (is_about_range()) {
    start_profile();
  } else if (page() == Page::round) {
    start_round();
  } else {
    start_slice();
  }
}

std::optional<SlicePlace> DetailsView::slice() const {
  if (timeline_.selected()) return timeline_.selected();
  const std::uint32_t round_index = state_.cursor().round_index;
  if (round_index == no_index) return std::nullopt;
  return place_of_round(*state_.timeline(), *state_.recording(), round_index);
}

void DetailsView::start_slice() {
  const auto place = slice();
  if (!place) return show_slice(std::nullopt);
  job_.start(read_and_take(
      [recording = state_.recording(), timeline = state_.timeline(),
       place = *place](const auto& should_continue) {
        return slice_details(*recording, *timeline, place, should_continue);
      },
      [this](const std::optional<SliceDetails>& details) { show_slice(details); }));
}

void DetailsView::start_round() {
  const std::uint32_t round_index = state_.cursor().round_index;
  if (round_index == no_index) return show_round(std::nullopt);
  job_.start(read_and_take(
      [recording = state_.recording(), round_index](const auto& should_continue) {
        return round_details(*recording, round_index, should_continue);
      },
      [this](const std::optional<RoundDetails>& details) { show_round(details); }));
}

void DetailsView::start_profile() {
  job_.start(read_and_take(
      [timeline = state_.timeline(), range = range()](const auto& should_continue) {
        return range_profile(*timeline, range, should_continue);
      },
      [this](std::optional<RangeProfile> profile) { show_profile(std::move(profile)); }));
}

void DetailsView::show_slice(const std::optional<SliceDetails>& details) {
  title_->clear();
  if (details)
    words_->setHtml(slice_text(*details, *state_.recording(), *state_.timeline()));
  else
    words_->setPlainText(tr("Nothing is selected: click a slice, or go to one by Ctrl+↓ and Alt+→."));
}

void DetailsView::show_round(const std::optional<RoundDetails>& details) {
  title_->clear();
  if (details)
    words_->setHtml(round_text(*details, *state_.recording()));
  else
    words_->setPlainText(tr("The cursor is on no round."));
}

QString DetailsView::range_words(std::int64_t duration_ns) const {
  const QString time = duration_text(duration_ns);
  return state_.selection() ? tr("%1 selected").arg(time) : tr("%1 shown").arg(time);
}

void DetailsView::show_profile(std::optional<RangeProfile> profile) {
  profile_ = std::move(profile);
  const RangeProfile none;
  const RangeProfile& shown = profile_ ? *profile_ : none;
  title_->setText(profile_ ? range_words(shown.duration_ns) : QString());
  names_.set_rows(shown.names, profile_ ? state_.timeline()->names : std::vector<std::string>{},
                  shown.duration_ns);
  flame_graph_->set_profile(shown.nodes);
}

void DetailsView::follow_link(const QUrl& url) {
  const QString kind = url.scheme();
  const QStringList numbers = url.path().split(u':');
  if (kind == u"round") emit round_asked(numbers.value(0).toUInt());
  if (kind == u"run") emit run_asked(numbers.value(0).toUInt());
  if (kind != u"slice" || numbers.size() != 2 || !state_.timeline()) return;
  // The words may be of the timeline before, until those of the present one are computed.
  const SlicePlace place{numbers[0].toUInt(), numbers[1].toUInt()};
  const auto& lanes = state_.timeline()->lanes;
  if (place.lane < lanes.size() && place.slice < lanes[place.lane].slices.size()) timeline_.select(place);
}

}  // namespace draftscope::gui
