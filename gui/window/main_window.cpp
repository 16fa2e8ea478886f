// SPDX-License-Identifier: GPL-3.0-or-later
#include "main_window.h"

#include <draftscope/traces/reader.h>
#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QMenu>
#include <QScreen>
#include <QScrollArea>
#include <QSettings>
#include <QStatusBar>
#include <QStyle>
#include <QToolTip>
#include <QVBoxLayout>

#include "advise/advise_view.h"
#include "data/details/recording_diagnosis.h"
#include "details/details_view.h"
#include "details/timeline_panel.h"
#include "timeline/timeline_view.h"
#include "views/compare_view.h"
#include "views/decisions/decisions_view.h"
#include "views/decisions/skip_map.h"
#include "views/device/device_view.h"
#include "views/rounds/filter_bar.h"
#include "views/rounds/rounds_strip.h"
#include "views/rounds/rounds_view.h"
#include "views/sql_view.h"
#include "views/summary_view.h"
#include "what_if/what_if_view.h"
#include "widgets/files.h"
#include "widgets/habits.h"
#include "widgets/time_text.h"
#include "window/pinned_pair.h"
#include "window/recording_tabs.h"
#include "window/view_pages.h"

/// Loads the icons, which the linker would otherwise drop with the static library. Qt wants this call outside
/// every namespace.
static void take_icons() {
  Q_INIT_RESOURCE(icons);
}

namespace draftscope::gui {

namespace {

QIcon window_icon() {
  take_icons();
  QIcon icon;
  for (const int size : {16, 32, 48, 64, 128})
    icon.addFile(QStringLiteral(":/icons/org.draftscope.Draftscope-%1.png").arg(size), QSize(size, size));
  return icon;
}

/// Column and order that list first the rounds in which this part of the time per token is largest.
std::pair<std::string_view, Qt::SortOrder> rounds_by_cost(TokenTime what) {
  switch (what) {
    case TokenTime::vanilla:
    case TokenTime::fewer_steps:
      return {"emitted_tokens", Qt::DescendingOrder};
    case TokenTime::verification:
      return {"verify_ns", Qt::DescendingOrder};
    case TokenTime::draft:
      return {"draft_ns", Qt::DescendingOrder};
    case TokenTime::decide:
    case TokenTime::accept:
    case TokenTime::outside:
      return {"other_ns", Qt::DescendingOrder};
    case TokenTime::run:
      break;
  }
  return {"round_ns", Qt::DescendingOrder};
}

/// Makes a page of widgets below one another, without margins; the last takes the remaining room.
QWidget* stacked(std::initializer_list<QWidget*> widgets) {
  auto* page = new QWidget;
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  for (QWidget* widget : widgets) column->addWidget(widget);
  column->setStretchFactor(*std::prev(widgets.end()), 1);
  return page;
}

}  // namespace

MainWindow::MainWindow(Memory memory)
    : memory_(memory),
      tabs_(new RecordingTabs(state_)),
      timeline_panel_(new TimelinePanel(state_)),
      timeline_(&timeline_panel_->timeline()) {
  setWindowTitle(tr("Draftscope"));
  setAcceptDrops(true);
  setWindowIcon(window_icon());
  runs_->setObjectName(QStringLiteral("run-choice"));
  resize(first_size());
  make_views();
  connect_views();
  make_tabs();
  make_actions();
  connect(&queue_, &OpenQueue::began, this, &MainWindow::show_opening);
  connect(&queue_, &OpenQueue::progressed, this, [this](qint64 done, qint64 all) {
    progress_->setRange(0, 100);
    progress_->setValue(all > 0 ? static_cast<int>(100 * done / all) : 0);
  });
  connect(&queue_, &OpenQueue::read, this, &MainWindow::take);
  connect(&queue_, &OpenQueue::failed, this, &MainWindow::show_error);
  connect(&queue_, &OpenQueue::ended, this, &MainWindow::hide_opening);
  connect(notices_, &NoticeBar::reload_requested, this, &MainWindow::reload);
  connect(notices_, &NoticeBar::follow_toggled, this, &MainWindow::set_following);
  connect(&follower_, &RecordingFollower::read, this, &MainWindow::take_followed);
  connect(&follower_, &RecordingFollower::ended, this, &MainWindow::end_following);
  connect(&follower_, &RecordingFollower::stalled_changed, this, &MainWindow::show_following);
  connect(&state_, &ViewState::recording_changed, this, &MainWindow::show_recording);
  connect(&state_, &ViewState::opened_changed, this, &MainWindow::list_opened);
  connect(&state_, &ViewState::selection_changed, this, &MainWindow::show_range_statistics);
  // The tool tip on screen may be out of date.
  for (const auto signal :
       {&ViewState::recording_changed, &ViewState::run_changed, &ViewState::range_changed})
    connect(&state_, signal, this, &QToolTip::hideText);
  if (memory_ == Memory::none) return;
  const QSettings settings;
  restoreGeometry(settings.value(QStringLiteral("geometry")).toByteArray());
  pages_->restore_layout(settings.value(QStringLiteral("pages")).toMap());
}

QSize MainWindow::first_size() const {
  const QSize wanted(1600, 900);
  const QSize room = screen()->availableSize();
  return wanted.boundedTo({room.width(), room.height() - style()->pixelMetric(QStyle::PM_TitleBarHeight)});
}

void MainWindow::make_views() {
  auto* strip = new RoundsStrip(state_);
  strip->setObjectName(QStringLiteral("strip"));
  record_page_->setObjectName(QStringLiteral("record"));
  filter_ = new FilterBar(state_);
  pages_ = new ViewPages(make_controls(), stacked({filter_, strip}), timeline_panel_);
  for (const PageDescription& page : page_descriptions()) add_page(page);
  pages_->add_page_of_its_own(QStringLiteral("record"), tr("Record"), record_page_);
  pages_->offer_recording(false);
  views_.clear();
  for (const ViewRow& row : view_rows()) {
    const QString name = QString::fromUtf8(row.name);
    views_.push_back({name, pages_->findChild<QWidget*>(name)});
    views_.back().view->installEventFilter(this);
  }
  stack_->addWidget(scrollable(start_page_));
  stack_->addWidget(pages_);
  setCentralWidget(stacked({notices_, tabs_, stack_}));
}

void MainWindow::add_page(const PageDescription& page) {
  std::vector<PageRow> rows;
  for (const int share : page.shares) rows.push_back({{}, share});
  for (const ViewRow& row : view_rows()) {
    if (row.make == nullptr || page.name != QLatin1StringView(row.page)) continue;
    QWidget* view = row.make(state_, views_);
    view->setObjectName(QString::fromUtf8(row.name));
    views_.push_back({view->objectName(), view});
    QWidget* placed = view;
    if (row.pinned)
      placed = new PinnedPair(pinned_, *row.pinned, view, [&row](ViewState& state) {
        QWidget* pinned_view = row.make(state, {});
        if (row.prepare_pinned != nullptr) row.prepare_pinned(*pinned_view);
        return pinned_view;
      });
    const QString title = page.shares.size() > 1 ? QString::fromUtf8(row.section) : QString();
    rows[static_cast<std::size_t>(row.row)].views.push_back({placed, title});
  }
  pages_->add_page(page.name, page.title, rows, page.has_timeline);
}

void MainWindow::connect_views() {
  auto& summary = view<SummaryView>("summary");
  auto& rounds = view<RoundsView>("rounds");
  auto& decisions = view<DecisionsView>("decisions");
  auto& what_if = view<WhatIfView>("what-if");
  connect(&view<CompareView>("compare"), &CompareView::request_asked, this, &MainWindow::replay_request);
  connect(&view<AdviseView>("advise"), &AdviseView::question_asked, this,
          [this, &what_if](const Question& question) {
            what_if.ask_about(question);
            show_view(what_if);
          });
  connect(&summary, &SummaryView::rounds_asked, this, [this, &rounds](TokenTime what) {
    const auto [key, order] = rounds_by_cost(what);
    show_view(rounds);
    rounds.show_first_by(key, order);
  });
  connect(&summary, &SummaryView::view_asked, this, [this](const QString& title) {
    const auto row = std::ranges::find(view_rows(), title,
                                       [](const ViewRow& of) { return QString::fromUtf8(of.section); });
    if (row != view_rows().end()) show_view(view<QWidget>(row->name));
  });
  connect(&timeline_panel_->details(), &DetailsView::round_asked, this,
          [this, &rounds](std::uint32_t round_index) {
            state_.go_to_round(round_index);
            show_view(rounds);
          });
  connect(&timeline_panel_->details(), &DetailsView::run_asked, this,
          [this, &summary](std::size_t run_index) {
            state_.set_run(run_index);
            show_view(summary);
          });
  auto& device = view<DeviceView>("device");
  connect(&device, &DeviceView::time_asked, this, [this](const TimeRange& range) {
    pages_->open_timeline(true);
    state_.set_range(range);
    state_.end_range_change();
  });
  connect(&pinned_, &PinnedRun::changed, &device, [this, &device] {
    device.compare_with(pinned_.is_pinned() ? std::optional(pinned_.state().run()) : std::nullopt);
  });
  connect(&view<SqlView>("sql"), &SqlView::link_followed, this, &MainWindow::follow_link);
  connect(&view<SqlView>("sql"), &SqlView::lane_asked, this,
          [this](const QString& title, const QueryIntervals& intervals) {
            timeline_->query_lanes().add(title, intervals);
            show_view(*timeline_);
          });
  connect(&timeline_->marks(), &MarksLayer::said, this,
          [this](const QString& words) { statusBar()->showMessage(words); });
  connect(filter_, &FilterBar::went_to, this,
          [this](std::uint32_t round_index) { statusBar()->showMessage(words_of_round(round_index)); });
  connect(filter_, &FilterBar::ended, pages_, &ViewPages::focus_view);
  connect(&view<SkipMap>("skip-map"), &SkipMap::decision_asked, this,
          [this, &decisions](std::uint32_t round_index) {
            show_view(decisions);
            decisions.show_mask_decision(round_index);
          });
  connect(record_page_, &RecordPage::recorded, this, qOverload<const QString&>(&MainWindow::open));
  connect(start_page_, &StartPage::record_requested, this, &MainWindow::show_record_page);
  connect(start_page_, &StartPage::tour_requested, this, &MainWindow::start_tour);
  connect(start_page_, &StartPage::forget_requested, this, [this](const QString& path) {
    remove_recent_file(path);
    list_recent();
  });
  connect(start_page_, &StartPage::open_requested, this, &MainWindow::choose_files);
  connect(start_page_, &StartPage::file_chosen, this, qOverload<const QString&>(&MainWindow::open));
}

void MainWindow::replay_request(const ComparedRun& run, std::size_t request_index) {
  if (run.recording != state_.recording()) state_.show(run.recording);
  state_.go_to_token(request_index, 0);
  show_view(view<QWidget>("replay"));
}

void MainWindow::make_tabs() {
  connect(tabs_, &RecordingTabs::chosen, this, [this](const RecordingPointer& recording) {
    state_.show(recording);
    show_recording_page();
  });
  connect(tabs_, &RecordingTabs::close_requested, this, &MainWindow::close_one);
  connect(tabs_, &RecordingTabs::menu_requested, this, &MainWindow::show_recording_menu);
  connect(pages_, &ViewPages::help_requested, this, &MainWindow::show_manual_of);
}

void MainWindow::open(const QStringList& paths) {
  notices_->clear_errors();
  queue_.open(paths);
}

void MainWindow::reload() {
  if (!state_.recording()) return;
  notices_->clear_errors();
  queue_.reload(QString::fromStdString(state_.recording()->recording().path.string()),
                !state_.recording()->has_rows());
}

void MainWindow::show_opening(const QString& path, qsizetype place, qsizetype all) {
  // The bar shows how far reading is once the first progress arrives.
  progress_->setRange(0, 0);
  progress_->show();
  cancel_->setEnabled(true);
  cancel_button_->show();
  statusBar()->showMessage(all == 1 ? tr("Opening %1 …").arg(path)
                                    : tr("Opening %1 (%2 of %3) …").arg(path).arg(place).arg(all));
}

void MainWindow::hide_opening() {
  progress_->hide();
  cancel_->setEnabled(false);
  cancel_button_->hide();
  statusBar()->clearMessage();
}

void MainWindow::cancel_opening() {
  queue_.cancel();
  if (state_.recording() && !state_.recording()->has_rows())
    notices_->set_notice(
        tr("Opening was cancelled: this is the overview that the file stores. Reload it for its rounds."),
        NoticeBar::Offer::reload);
}

void MainWindow::take(const RecordingPointer& recording, const std::shared_ptr<const Timeline>& timeline,
                      bool is_first) {
  if (!recording->has_rows()) {
    state_.preview(recording, timeline);
    return;
  }
  const bool is_shown =
      state_.recording() && state_.recording()->recording().path == recording->recording().path;
  if (is_first || is_shown || !state_.recording())
    state_.add(recording, timeline);
  else
    state_.keep(recording, timeline);
  remember(QString::fromStdString(recording->recording().path.string()));
}

void MainWindow::set_following(bool is_on) {
  const RecordingPointer& shown = state_.recording();
  if (is_on && shown && !shown->recording().closed_cleanly)
    follower_.follow(shown->recording().path);
  else
    follower_.stop();
  show_following();
}

void MainWindow::take_followed(const RecordingPointer& recording,
                               const std::shared_ptr<const Timeline>& timeline) {
  // The page that is shown stays.
  is_following_on_ = true;
  state_.add(recording, timeline);
  is_following_on_ = false;
}

void MainWindow::end_following(const QString& reason) {
  if (reason.isEmpty())
    statusBar()->showMessage(tr("The recording is complete."));
  else
    show_error(reason);
  show_following();
}

void MainWindow::show_following() {
  const RecordingPointer& shown = state_.recording();
  const bool is_open = shown && !shown->recording().closed_cleanly;
  follow_->setEnabled(is_open);
  follow_->setChecked(follower_.is_following());
  notices_->set_following(follower_.is_following());
  if (is_open) notices_->set_notice(notice_of(*shown), NoticeBar::Offer::reload);
}

void MainWindow::close_one(const RecordingPointer& recording) {
  // A copy, since `recording` may refer to an entry that close() removes.
  const std::vector<RecordingPointer> closed{recording};
  // Its rounds are still being read: cancel that, and let the other waiting files go on.
  if (!closed.front()->has_rows()) queue_.skip();
  state_.close(closed);
}

void MainWindow::close_other_recordings() {
  std::vector<RecordingPointer> others;
  for (const RecordingPointer& recording : state_.opened())
    if (recording != state_.recording()) others.push_back(recording);
  state_.close(others);
}

void MainWindow::close_all_recordings() {
  queue_.cancel();
  std::vector<RecordingPointer> all = state_.opened();
  if (state_.recording() && !state_.recording()->has_rows()) all.push_back(state_.recording());
  state_.close(all);
}

void MainWindow::show_recording() {
  const RecordingPointer& recording = state_.recording();
  // Only the shown recording is followed.
  if (!recording || recording->recording().path != follower_.path()) follower_.stop();
  pages_->offer_recording(recording != nullptr);
  for (QAction* action : of_recording_) action->setEnabled(recording != nullptr);
  runs_->clear();
  runs_->setEnabled(recording != nullptr);
  if (!recording) return show_no_recording();
  for (const RunRounds& run : recording->runs())
    runs_->addItem(QString::fromStdString(run.run->specification));
  runs_->setCurrentIndex(static_cast<int>(state_.run()));
  // Views that need rounds are enabled when the rounds arrive.
  for (const NamedView& named : views_)
    if (!pages_->page_of(*named.view).isEmpty() && named.view != record_page_)
      named.view->setEnabled(recording->has_rows() || named.name == u"summary");
  if (!is_following_on_) show_recording_page();
  setWindowTitle(tr("%1 – Draftscope").arg(QString::fromStdString(recording->name())));
  setWindowFilePath(QString::fromStdString(recording->recording().path.string()));
  list_opened();
  const QString notice = notice_of(*recording);
  notices_->set_notice(
      notice, recording->recording().closed_cleanly ? NoticeBar::Offer::nothing : NoticeBar::Offer::reload);
  show_following();
  if (is_tour_wanted_ && recording->has_rows()) begin_tour();
}

void MainWindow::show_no_recording() {
  tour_->leave();
  setWindowTitle(tr("Draftscope"));
  setWindowFilePath({});
  notices_->set_notice({});
  show_following();
  show_start_page();
  list_opened();
}

QString MainWindow::notice_of(const OpenedRecording& recording) const {
  QStringList sentences;
  const bool is_open = !recording.recording().closed_cleanly;
  if (follower_.is_stalled())
    sentences << tr(
        "Nothing is being added to this recording any more: its recorder may have ended. What it wrote is "
        "shown.");
  else if (is_open && follower_.is_following())
    sentences << tr("Following this recording, which is being written: %1 rounds so far.")
                     .arg(recording.round_count());
  else if (is_open)
    sentences << tr(
        "This recording was not closed cleanly, or is still being written: what was committed before it "
        "was read is shown. Reload it (F5) for what came since.");
  if (const int schema = recording.measured().schema_version; schema > traces::newest_schema_version())
    sentences << tr("This recording has schema %1, newer than this program, which shows what it knows of it "
                    "(schema %2).")
                     .arg(schema)
                     .arg(traces::newest_schema_version());
  if (!is_open && recording.round_count() == 0)
    sentences << tr("This recording holds no rounds, so only its timeline and its facts are shown.");
  return sentences.join(u' ');
}

void MainWindow::show_record_page() {
  stack_->setCurrentIndex(1);
  pages_->show_view(*record_page_);
}

void MainWindow::show_recording_page() {
  const bool is_of_recording = pages_->is_of_recording(pages_->current());
  if (stack_->currentIndex() == 1 && is_of_recording) return;
  stack_->setCurrentIndex(1);
  if (!is_of_recording) pages_->show_page(0);
  pages_->focus_view();
}

void MainWindow::show_error(const QString& words) {
  is_tour_wanted_ = false;
  notices_->add_error(words);
  statusBar()->clearMessage();
}

void MainWindow::remember(const QString& path) {
  if (memory_ == Memory::none) return;
  add_recent_file(path);
  list_recent();
}

void MainWindow::show_range_statistics() {
  const auto& selection = state_.selection();
  if (!selection || !state_.timeline() || !state_.recording()->has_rows()) {
    range_text_->clear();
    return;
  }
  const RunRounds* run = state_.run_rounds();
  std::int64_t rounds = 0;
  std::int64_t tokens = 0;
  if (run != nullptr)
    for (const std::uint32_t round_index : run->rounds) {
      const traces::Round& row = state_.recording()->round(round_index);
      if (row.start_ns < selection->start_ns || row.end_ns > selection->end_ns) continue;
      ++rounds;
      tokens += row.emitted;
    }
  const double seconds = static_cast<double>(selection->duration_ns()) / 1e9;
  range_text_->setText(tr("selected %1: %2 whole rounds of this run, %3 tokens, %4 tokens/s")
                           .arg(duration_text(selection->duration_ns()))
                           .arg(rounds)
                           .arg(tokens)
                           .arg(number_text(seconds > 0.0 ? static_cast<double>(tokens) / seconds : 0.0)));
}

void MainWindow::follow_link(SqlLink link, qint64 id) {
  const RecordingPointer& recording = state_.recording();
  if (!recording) return;
  const traces::Recording& rows = recording->recording();
  const auto with_id = [id](const auto& row) { return row.id.value() == id; };
  if (link == SqlLink::round) {
    const auto found = std::ranges::find_if(rows.rounds, with_id);
    if (found != rows.rounds.end()) {
      state_.go_to_round(static_cast<std::uint32_t>(found - rows.rounds.begin()));
      return show_view(view<QWidget>("rounds"));
    }
  } else if (link == SqlLink::request) {
    const auto found = std::ranges::find_if(rows.requests, with_id);
    if (found != rows.requests.end()) {
      state_.go_to_token(static_cast<std::size_t>(found - rows.requests.begin()), 0);
      return show_view(view<QWidget>("replay"));
    }
  } else if (link == SqlLink::run) {
    const auto found = std::ranges::find_if(rows.runs, with_id);
    if (found != rows.runs.end()) {
      state_.set_run(static_cast<std::size_t>(found - rows.runs.begin()));
      return show_view(view<QWidget>("summary"));
    }
  }
  statusBar()->showMessage(tr("The recording that is shown has none with the id %1.").arg(id));
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (!dropped_paths(*event->mimeData()).isEmpty()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  const QStringList paths = dropped_paths(*event->mimeData());
  if (!paths.isEmpty()) open(paths);
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (memory_ == Memory::kept) {
    QSettings settings;
    settings.setValue(QStringLiteral("geometry"), saveGeometry());
    settings.setValue(QStringLiteral("pages"), pages_->layout_state());
  }
  QMainWindow::closeEvent(event);
}

}  // namespace draftscope::gui
