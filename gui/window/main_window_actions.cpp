// SPDX-License-Identifier: GPL-3.0-or-later
// Menus and bars of the window, and its dialogs.
#include <QAction>
#include <QActionGroup>
#include <QComboBox>
#include <QDir>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMenuBar>
#include <QProgressBar>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTabWidget>
#include <QTableView>
#include <QToolButton>

#include "charts/export_dialog.h"
#include "charts/figure_file.h"
#include "charts/table_file.h"
#include "data/details/round_details.h"
#include "data/rounds/rejections.h"
#include "details/timeline_panel.h"
#include "help/command_palette.h"
#include "main_window.h"
#include "timeline/timeline_view.h"
#include "views/rounds/filter_bar.h"
#include "widgets/files.h"
#include "widgets/time_text.h"
#include "window/notice_bar.h"
#include "window/recording_tabs.h"
#include "window/view_pages.h"

namespace draftscope::gui {

void MainWindow::make_actions() {
  make_file_menu();
  make_view_menu();
  make_go_menu();
  make_recordings_menu();
  make_help_menu();
  make_status_bar();
  for (QAction* action : of_recording_) action->setEnabled(false);
}

void MainWindow::make_file_menu() {
  QMenu* file = menuBar()->addMenu(tr("&File"));
  file->addAction(tr("&Open…"), QKeySequence::Open, this, &MainWindow::choose_files);
  file->addAction(tr("Open a &folder…"), QKeySequence(tr("Ctrl+Shift+O")), this, &MainWindow::choose_folder);
  recent_ = file->addMenu(tr("R&ecent"));
  recent_->setToolTipsVisible(true);
  list_recent();
  file->addAction(tr("&Record…"), QKeySequence(tr("Ctrl+R")), this, &MainWindow::show_record_page);
  file->addAction(cancel_);
  file->addAction(tr("&Start page"), this, &MainWindow::show_start_page);
  file->addSeparator();
  of_recording_.push_back(
      file->addAction(tr("Export fi&gure…"), QKeySequence(tr("Ctrl+E")), this, &MainWindow::export_figures));
  of_recording_.push_back(file->addAction(tr("Export fig&ure at once"), QKeySequence(tr("Ctrl+Shift+E")),
                                          this, &MainWindow::export_figure_at_once));
  file->addSeparator();
  file->addAction(tr("&Quit"), QKeySequence::Quit, this, &QWidget::close);
}

void MainWindow::make_view_menu() {
  QMenu* view = menuBar()->addMenu(tr("&View"));
  QAction* back = state_.range_history().createUndoAction(this, tr("&Back:"));
  back->setShortcut(QKeySequence::Undo);
  QAction* forward = state_.range_history().createRedoAction(this, tr("&Forward:"));
  forward->setShortcut(QKeySequence::Redo);
  view->addAction(back);
  view->addAction(forward);
  of_recording_.push_back(
      view->addAction(tr("Show &all"), QKeySequence(tr("Ctrl+0")), &state_, &ViewState::show_whole));
  of_recording_.push_back(view->addAction(tr("F&it the selection"), QKeySequence(tr("Ctrl+F11")), timeline_,
                                          &TimelineView::fit_selection));
  view->addSeparator();
  add_page_actions(*view);
}

void MainWindow::add_page_actions(QMenu& view) {
  auto* group = new QActionGroup(this);
  for (int page = 0; page < pages_->count(); ++page) {
    QAction* show =
        view.addAction(pages_->title(page), QKeySequence(Qt::CTRL | static_cast<Qt::Key>(Qt::Key_1 + page)),
                       this, [this, page] {
                         if (pages_->is_of_recording(page)) show_recording_page();
                         stack_->setCurrentIndex(1);
                         pages_->show_page(page);
                       });
    show->setCheckable(true);
    show->setChecked(page == pages_->current());
    group->addAction(show);
    if (pages_->is_of_recording(page)) of_recording_.push_back(show);
  }
  connect(pages_, &ViewPages::page_changed, group,
          [group](int page) { group->actions()[page]->setChecked(true); });
  view.addSeparator();
  QAction* timeline = view.addAction(tr("&Timeline"), QKeySequence(Qt::Key_T));
  timeline->setCheckable(true);
  connect(timeline, &QAction::triggered, pages_, &ViewPages::open_timeline);
  connect(pages_, &ViewPages::timeline_opened, timeline, &QAction::setChecked);
  of_recording_.push_back(timeline);
  QAction* details = view.addAction(tr("&Details of the selection"), QKeySequence(tr("Ctrl+I")));
  details->setCheckable(true);
  connect(details, &QAction::triggered, pages_, &ViewPages::open_details);
  connect(timeline_panel_, &TimelinePanel::details_opened, details, &QAction::setChecked);
  of_recording_.push_back(details);
  QAction* pin = view.addAction(tr("&Pin this run"), QKeySequence(tr("Ctrl+P")), this, [this] {
    pinned_.is_pinned() ? pinned_.unpin() : pinned_.pin(state_.run());
    if (pinned_.is_pinned())
      statusBar()->showMessage(tr("Pinned: choose another run to see both. Ctrl+P unpins it."));
  });
  pin->setCheckable(true);
  connect(&pinned_, &PinnedRun::changed, pin, [this, pin] { pin->setChecked(pinned_.is_pinned()); });
  of_recording_.push_back(pin);
  of_recording_.push_back(
      view.addAction(tr("Pin the base&line"), QKeySequence(tr("Ctrl+B")), this, &MainWindow::pin_baseline));
  of_recording_.push_back(
      view.addAction(tr("Filter ro&unds"), QKeySequence(tr("Ctrl+Shift+F")), this, [this] {
        const QString page =
            page_descriptions()[static_cast<std::size_t>(std::max(0, pages_->current()))].name;
        // The other pages do not show single rounds.
        if (page != u"rounds" && page != u"skip-map" && page != u"decisions")
          show_view(MainWindow::view<QWidget>("rounds"));
        filter_->begin();
      }));
  of_recording_.push_back(view.addAction(tr("&Maximise the view"), QKeySequence(Qt::Key_F11), pages_,
                                         &ViewPages::toggle_maximised));
  of_recording_.push_back(view.addAction(tr("&Reset layout"), pages_, &ViewPages::reset_layout));
  view.addSeparator();
  add_appearance_actions(view);
}

void MainWindow::make_go_menu() {
  QMenu* go = menuBar()->addMenu(tr("&Go"));
  go->addAction(tr("To &round…"), QKeySequence(tr("Ctrl+G")), this, &MainWindow::go_to_round);
  go->addAction(tr("To &token…"), QKeySequence(tr("Ctrl+T")), this, &MainWindow::go_to_token);
  go->addAction(tr("&Next match"), QKeySequence::FindNext, this, [this] { step_match(true); });
  go->addAction(tr("&Previous match"), QKeySequence::FindPrevious, this, [this] { step_match(false); });
  go->addAction(tr("Next re&jection"), QKeySequence(Qt::Key_F7), this, [this] { step_rejection(true); });
  go->addAction(tr("Previous reje&ction"), QKeySequence(tr("Shift+F7")), this,
                [this] { step_rejection(false); });
  go->addAction(tr("&Mark this time…"), QKeySequence(tr("Ctrl+M")), this, [this] {
    show_view(*timeline_);
    timeline_->edit_mark();
  });
  go->addAction(tr("Ne&xt mark"), QKeySequence(Qt::Key_F8), this, [this] { step_mark(true); });
  go->addAction(tr("Pre&vious mark"), QKeySequence(tr("Shift+F8")), this, [this] { step_mark(false); });
  go->addAction(tr("&Search"), QKeySequence::Find, this, [this] {
    search_->setFocus();
    search_->selectAll();
  });
  for (QAction* action : go->actions()) of_recording_.push_back(action);
}

void MainWindow::make_recordings_menu() {
  recordings_ = menuBar()->addMenu(tr("&Recordings"));
  recordings_->setToolTipsVisible(true);
  const auto add = [this](const QString& words, const QKeySequence& key, void (MainWindow::*does)()) {
    auto* action = new QAction(words, this);
    action->setShortcut(key);
    connect(action, &QAction::triggered, this, does);
    recordings_->addAction(action);
    return action;
  };
  of_recording_.push_back(add(tr("&Reload"), QKeySequence(Qt::Key_F5), &MainWindow::reload));
  const auto step = [this](const QString& words, const QKeySequence& key, bool forward) {
    auto* action = new QAction(words, this);
    action->setShortcut(key);
    connect(action, &QAction::triggered, tabs_, [this, forward] { tabs_->step(forward); });
    recordings_->addAction(action);
    of_recording_.push_back(action);
  };
  step(tr("&Next"), QKeySequence(tr("Ctrl+Tab")), true);
  step(tr("&Previous"), QKeySequence(tr("Ctrl+Shift+Tab")), false);
  follow_ = new QAction(tr("&Follow"), this);
  follow_->setShortcut(Qt::Key_F6);
  follow_->setCheckable(true);
  follow_->setEnabled(false);
  connect(follow_, &QAction::triggered, this, &MainWindow::set_following);
  recordings_->addAction(follow_);
  of_recording_.push_back(add(tr("&Close"), QKeySequence(tr("Ctrl+W")), &MainWindow::close_recording));
  close_others_ = add(tr("Close &others"), {}, &MainWindow::close_other_recordings);
  of_recording_.push_back(
      add(tr("Close &all"), QKeySequence(tr("Ctrl+Shift+W")), &MainWindow::close_all_recordings));
  list_opened();
}

void MainWindow::list_opened() {
  // Actions of the list have the menu as parent; the window owns the others.
  for (QAction* action : recordings_->actions())
    if (action->parent() == recordings_) {
      recordings_->removeAction(action);
      action->deleteLater();
    }
  QAction* below = recordings_->actions().front();
  for (const RecordingPointer& recording : state_.opened()) {
    const QString path = QString::fromStdString(recording->recording().path.string());
    QString words = title_among(*recording, state_.opened());
    auto* action = new QAction(words.replace(u'&', QStringLiteral("&&")), recordings_);
    // Queued, since showing a recording rebuilds this list.
    connect(
        action, &QAction::triggered, this,
        [this, held = std::weak_ptr(recording)] {
          const RecordingPointer chosen = held.lock();
          if (!chosen) return;
          state_.show(chosen);
          show_recording_page();
          list_opened();
        },
        Qt::QueuedConnection);
    action->setCheckable(true);
    action->setChecked(recording == state_.recording());
    action->setToolTip(path);
    recordings_->insertAction(below, action);
  }
  if (!state_.opened().empty()) {
    auto* line = new QAction(recordings_);
    line->setSeparator(true);
    recordings_->insertAction(below, line);
  }
  const std::size_t others = state_.opened().size() - std::ranges::count(state_.opened(), state_.recording());
  close_others_->setEnabled(others > 0);
  recordings_->setEnabled(!state_.opened().empty() || state_.recording() != nullptr);
}

QWidget* MainWindow::make_controls() {
  auto* controls = new QWidget;
  auto* row = new QHBoxLayout(controls);
  row->setContentsMargins(0, 0, 0, 0);
  auto* run_label = new QLabel(tr("R&un:"));
  run_label->setBuddy(runs_);
  runs_->setAccessibleName(tr("Run"));
  // Names may be long: the box takes the remaining room, and its list all that it needs.
  constexpr int min_letters = 9;
  runs_->setMinimumContentsLength(min_letters);
  runs_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  runs_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  runs_->setEnabled(false);
  // A click leaves the focus where it was, so that the next key goes to the view.
  runs_->setFocusPolicy(Qt::TabFocus);
  row->addStretch(1);
  row->addWidget(run_label);
  row->addWidget(runs_, 4);
  row->addWidget(search_, 2);
  search_->setPlaceholderText(tr("Search"));
  search_->setAccessibleName(tr("Search the timeline"));
  search_->setClearButtonEnabled(true);
  search_->setMaximumWidth(260);
  search_->setMinimumWidth(90);
  connect(runs_, &QComboBox::activated, this,
          [this](int index) { state_.set_run(static_cast<std::size_t>(index)); });
  connect(&state_, &ViewState::run_changed, this,
          [this] { runs_->setCurrentIndex(static_cast<int>(state_.run())); });
  connect(search_, &QLineEdit::textChanged, this, [this](const QString& text) {
    const int names = timeline_->set_search(text);
    statusBar()->showMessage(text.isEmpty() ? QString()
                                            : counted(names, tr("1 name matches"), tr("%1 names match")));
  });
  connect(search_, &QLineEdit::returnPressed, this, [this] { step_match(true); });
  return controls;
}

void MainWindow::step_match(bool forward) {
  // A match brings up the timeline.
  if (!timeline_->step_match(forward)) return;
  show_view(*timeline_);
  const MatchRank rank = timeline_->match_rank();
  statusBar()->showMessage(tr("match %1 of %2").arg(rank.number).arg(rank.all));
}

void MainWindow::pin_baseline() {
  const RecordingPointer& shown = state_.recording();
  if (!shown || !shown->has_rows()) return;
  const auto& runs = shown->runs();
  const auto baseline = std::ranges::find_if(runs, [](const RunRounds& of) { return of.run->is_baseline; });
  if (baseline == runs.end())
    return statusBar()->showMessage(
        tr("This recording has no baseline: no run of it decoded without drafts."));
  pinned_.pin(static_cast<std::size_t>(baseline - runs.begin()));
  auto& replay = view<QWidget>("replay");
  show_view(replay);
  replay.setFocus();
  if (!pages_->is_maximised()) pages_->toggle_maximised();
  statusBar()->showMessage(
      tr("The baseline is pinned beside the shown run. Ctrl+P unpins it, F11 shows the other views."));
}

void MainWindow::step_rejection(bool forward) {
  const RecordingPointer& shown = state_.filtered();
  if (!shown || !shown->has_rows() || shown->runs().empty()) return;
  const auto found = next_rejection(*shown, state_.run(), state_.cursor().round_index, forward);
  if (!found)
    return statusBar()->showMessage(tr("No round that is shown of this run has a rejected draft token."));
  state_.go_to_round(found->round_index);
  statusBar()->showMessage(tr("rejection %1 of %2: %3")
                               .arg(found->number)
                               .arg(found->all)
                               .arg(words_of_round(found->round_index)));
}

QString MainWindow::words_of_round(std::uint32_t round_index) const {
  const OpenedRecording& opened = *state_.recording();
  const traces::Round& round = opened.round(round_index);
  QString words = tr("round #%1, %2 of %3 draft tokens accepted")
                      .arg(opened.number_in_run(round_index))
                      .arg(round.accepted)
                      .arg(round.drafted);
  if (const traces::LayerSet* set = opened.layer_set(round_index))
    words += tr("; skipped: %1").arg(QString::fromStdString(skipped_text(skipped_layers(*set))));
  return words;
}

void MainWindow::step_mark(bool forward) {
  show_view(*timeline_);
  timeline_->marks().step(forward);
  if (const auto chosen = timeline_->marks().chosen())
    statusBar()->showMessage(QString::fromStdString(timeline_->marks().marks()[*chosen].text));
}

void MainWindow::add_mark_commands(std::vector<Command>& commands) {
  const std::vector<Mark>& marks = timeline_->marks().marks();
  for (std::size_t i = 0; i < marks.size(); ++i)
    commands.push_back({QString::fromStdString(marks[i].text), tr("Mark"), {}, [this, i] {
                          show_view(*timeline_);
                          timeline_->marks().go_to(i);
                        }});
}

void MainWindow::make_status_bar() {
  progress_->setMaximumWidth(160);
  progress_->setAccessibleName(tr("Loading"));
  progress_->hide();
  cancel_->setShortcut(Qt::Key_Escape);
  cancel_->setIconText(tr("Cancel"));  // text of the button
  cancel_->setEnabled(false);
  connect(cancel_, &QAction::triggered, this, &MainWindow::cancel_opening);
  cancel_button_->setDefaultAction(cancel_);
  cancel_button_->setFocusPolicy(Qt::StrongFocus);
  cancel_button_->hide();
  statusBar()->addPermanentWidget(progress_);
  statusBar()->addPermanentWidget(cancel_button_);
  statusBar()->addWidget(range_text_, 1);
}

QString MainWindow::usual_folder() const {
  if (state_.recording())
    return QString::fromStdString(state_.recording()->recording().path.parent_path().string());
  const QStringList recent = memory_ == Memory::none ? QStringList() : recent_files();
  return recent.isEmpty() ? QString() : QFileInfo(recent.front()).path();
}

void MainWindow::choose_files() {
  const QStringList paths = QFileDialog::getOpenFileNames(this, tr("Open recordings"), usual_folder(),
                                                          tr("Recordings (*.dstrace);;All files (*)"));
  if (!paths.isEmpty()) open(paths);
}

void MainWindow::choose_folder() {
  const QString path =
      QFileDialog::getExistingDirectory(this, tr("Open the recordings of a folder"), usual_folder());
  if (!path.isEmpty()) open(path);
}

void MainWindow::go_to_round() {
  const RunRounds* run = state_.run_rounds();
  if (run == nullptr || run->rounds.empty()) return;
  bool chosen = false;
  const int last = static_cast<int>(run->rounds.size()) - 1;
  const int place = QInputDialog::getInt(this, tr("Go to round"), tr("Round of this run, 0 to %1:").arg(last),
                                         0, 0, last, 1, &chosen);
  // A recording that grows is read anew while the dialog is open.
  run = state_.run_rounds();
  if (chosen && run != nullptr && static_cast<std::size_t>(place) < run->rounds.size())
    state_.go_to_round(run->rounds[static_cast<std::size_t>(place)]);
}

void MainWindow::go_to_token() {
  if (!state_.recording() || state_.cursor().request_index >= state_.recording()->recording().requests.size())
    return;
  const std::size_t request_index = state_.cursor().request_index;
  const auto tokens = static_cast<int>(state_.recording()->recording().requests[request_index].tokens.size());
  if (tokens == 0) return;
  bool chosen = false;
  const int token = QInputDialog::getInt(
      this, tr("Go to token"), tr("Token of this request's output, 0 to %1:").arg(tokens - 1),
      static_cast<int>(state_.cursor().token_index), 0, tokens - 1, 1, &chosen);
  if (chosen) state_.go_to_token(request_index, static_cast<std::size_t>(token));
}

void MainWindow::show_view(QWidget& view) {
  for (QWidget* around = view.parentWidget(); around != nullptr; around = around->parentWidget())
    // Choose the page of the tab widget that contains the view.
    if (auto* tabs = qobject_cast<QTabWidget*>(around))
      for (int page = 0; page < tabs->count(); ++page)
        if (tabs->widget(page) == &view || tabs->widget(page)->isAncestorOf(&view))
          tabs->setCurrentIndex(page);
  pages_->show_view(view);
}

void MainWindow::export_view(QWidget& view) {
  if (!state_.recording()) return;
  show_recording_page();
  // A view reads its data only when it is shown.
  show_view(view);
  const bool has_table = view.findChild<QTableView*>() != nullptr;
  QString type;
  const QString chosen = QFileDialog::getSaveFileName(
      this, tr("Export %1").arg(view.accessibleName()), usual_folder(),
      has_table ? tr("PNG (*.png);;SVG (*.svg);;PDF (*.pdf);;CSV of its table (*.csv)")
                : tr("PNG (*.png);;SVG (*.svg);;PDF (*.pdf)"),
      &type);
  if (!chosen.isEmpty()) write_view(view, with_ending(chosen, type));
}

void MainWindow::export_figures() {
  if (!state_.recording()) return;
  show_recording_page();
  std::vector<Exportable> what = exportables(*pages_);
  if (what.empty())
    statusBar()->showMessage(tr("This page has no figure; a right click on a view exports it as it stands."));
  else
    ask_and_export(std::move(what), *this);
}

void MainWindow::export_figure_at_once() {
  if (!state_.recording()) return;
  notices_->clear_errors();
  const std::vector<Exportable> what = exportables(*pages_);
  if (what.empty() || what.front().chart.empty())
    return statusBar()->showMessage(
        tr("This page has no figure; a right click on a view exports it as it stands."));
  const Chart& chart = what.front().chart;
  FigureOptions options;
  options.width_inches = needs_both_columns(chart) ? double_column_inches : single_column_inches;
  const QString path = suggested_file(windowFilePath(), chart.name, QStringLiteral("pdf"));
  if (const Result<void> written = write_figure(chart, options, path); !written)
    return show_error(QString::fromStdString(written.error().message));
  statusBar()->showMessage(tr("Written: %1").arg(path));
}

bool MainWindow::write_view(QWidget& view, const QString& path) {
  notices_->clear_errors();
  const auto* table = view.findChild<QTableView*>();
  const Result<void> written = table != nullptr && path.endsWith(QStringLiteral(".csv"), Qt::CaseInsensitive)
                                   ? write_table(raw_table(*table->model()), path)
                                   : write_picture(view, path);
  if (written)
    statusBar()->showMessage(tr("Written: %1").arg(path));
  else
    show_error(QString::fromStdString(written.error().message));
  return written.has_value();
}

}  // namespace draftscope::gui
