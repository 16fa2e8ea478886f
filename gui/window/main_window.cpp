// SPDX-License-Identifier: GPL-3.0-or-later
#include "main_window.h"

#include <QAction>
#include <QCloseEvent>
#include <QComboBox>
#include <QDir>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMenuBar>
#include <QMimeData>
#include <QProgressBar>
#include <QProgressDialog>
#include <QSettings>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTableView>
#include <QToolBar>
#include <QToolButton>
#include <QVBoxLayout>

#include "state/trace_exporter.h"
#include "timeline/timeline_view.h"
#include "views/breakdown_view.h"
#include "views/compare_view.h"
#include "views/confidence_view.h"
#include "views/picture_export.h"
#include "views/replay_view.h"
#include "views/rounds_strip.h"
#include "views/rounds_view.h"
#include "views/skip_map.h"
#include "views/sql_view.h"
#include "views/summary_view.h"
#include "views/time_text.h"
#include "what_if/picture_pane.h"
#include "what_if/what_if_view.h"
#include "window/start_page.h"

namespace draftscope::gui {

namespace {

constexpr int most_recent = 10;
constexpr int layout_version = 1;

/// Folders give way to the recordings in them.
QStringList files_of(const QStringList& paths) {
  QStringList files;
  for (const QString& path : paths) {
    if (QFileInfo(path).isDir())
      for (const QFileInfo& file :
           QDir(path).entryInfoList({QStringLiteral("*.dstrace")}, QDir::Files, QDir::Name))
        files << file.filePath();
    else if (!path.isEmpty())
      files << path;
  }
  return files;
}

QStringList dropped_paths(const QMimeData& data) {
  QStringList paths;
  for (const QUrl& url : data.urls())
    if (const QString path = url.toLocalFile(); !path.isEmpty()) paths << path;
  return paths;
}

}  // namespace

MainWindow::MainWindow(Memory memory)
    : memory_(memory),
      pages_(new QStackedWidget),
      start_page_(new StartPage),
      banner_(new QLabel),
      timeline_(new TimelineView(state_)),
      runs_(new QComboBox),
      search_(new QLineEdit),
      progress_(new QProgressBar),
      cancel_(new QAction(tr("&Cancel opening"), this)),
      cancel_button_(new QToolButton),
      range_words_(new QLabel) {
  setWindowTitle(tr("Draftscope"));
  setAcceptDrops(true);
  setDockNestingEnabled(true);
  resize(1600, 900);
  make_views();
  make_actions();
  connect(&loader_, &RecordingLoader::opened, this, &MainWindow::take);
  connect(&loader_, &RecordingLoader::progressed, this, [this](qint64 done, qint64 all) {
    progress_->setRange(0, 100);
    progress_->setValue(all > 0 ? static_cast<int>(100 * done / all) : 0);
  });
  connect(&loader_, &RecordingLoader::finished, this, [this] {
    if (waiting_.isEmpty())
      end_opening();
    else
      open_next();
  });
  connect(&loader_, &RecordingLoader::failed, this, [this](const QString& reason) {
    const bool has_more = banner_->isVisible() && opening_ > 1;
    show_banner(has_more ? QStringLiteral("%1\n%2").arg(banner_->text(), reason) : reason, true);
  });
  connect(&state_, &ViewState::recording_changed, this, &MainWindow::show_recording);
  connect(&state_, &ViewState::opened_changed, this, &MainWindow::list_opened);
  connect(&state_, &ViewState::selection_changed, this, &MainWindow::show_range_statistics);
  if (memory_ == Memory::none) return;
  const QSettings settings;
  start_page_->set_recent(settings.value(QStringLiteral("recent")).toStringList());
  restoreGeometry(settings.value(QStringLiteral("geometry")).toByteArray());
  restoreState(settings.value(QStringLiteral("layout")).toByteArray(), layout_version);
}

QDockWidget* MainWindow::add_dock(const QString& name, const QString& title, QWidget* view) {
  auto* dock = new QDockWidget(title, this);
  dock->setObjectName(name);
  dock->setWidget(view);
  addDockWidget(Qt::TopDockWidgetArea, dock);
  for (const NamedView& other : views_)
    if (other.dock != nullptr) {
      tabifyDockWidget(other.dock, dock);
      break;
    }
  dock->hide();
  views_.push_back({name, dock, view});
  return dock;
}

void MainWindow::make_views() {
  auto* strip = new RoundsStrip(state_);
  auto* recording_page = new QWidget;
  auto* layout = new QVBoxLayout(recording_page);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(strip);
  layout->addWidget(timeline_, 1);
  pages_->addWidget(start_page_);
  pages_->addWidget(recording_page);
  auto* middle = new QWidget;
  auto* column = new QVBoxLayout(middle);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  banner_->setWordWrap(true);
  banner_->setMargin(8);
  banner_->setAutoFillBackground(true);
  banner_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  banner_->setAccessibleName(tr("Notice"));
  banner_->hide();
  column->addWidget(banner_);
  column->addWidget(pages_, 1);
  setCentralWidget(middle);
  views_.push_back({QStringLiteral("strip"), nullptr, strip});
  views_.push_back({QStringLiteral("timeline"), nullptr, timeline_});
  add_dock(QStringLiteral("summary"), tr("Summary"), new SummaryView(state_));
  add_dock(QStringLiteral("rounds"), tr("Rounds"), new RoundsView(state_));
  add_dock(QStringLiteral("skip-map"), tr("Skip map"), new SkipMap(state_));
  add_dock(QStringLiteral("confidence"), tr("Confidence"), new ConfidenceView(state_));
  add_dock(QStringLiteral("breakdown"), tr("Breakdown"), new BreakdownView(state_));
  add_dock(QStringLiteral("replay"), tr("Text replay"), new ReplayView(state_));
  add_dock(QStringLiteral("compare"), tr("Compare"), new CompareView(state_));
  add_dock(QStringLiteral("sql"), tr("SQL"), new SqlView(state_));
  auto* what_if = new WhatIfView(state_);
  add_dock(QStringLiteral("what-if"), tr("What if"), what_if);
  for (const WhatIfView::NamedPane& named : what_if->panes())
    views_.push_back({QStringLiteral("what-if-%1").arg(named.name), nullptr, named.pane});
  connect(start_page_, &StartPage::open_requested, this, &MainWindow::choose_file);
  connect(start_page_, &StartPage::file_chosen, this, qOverload<const QString&>(&MainWindow::open));
}

void MainWindow::make_actions() {
  QMenu* file = menuBar()->addMenu(tr("&File"));
  file->addAction(tr("&Open…"), QKeySequence::Open, this, &MainWindow::choose_file);
  file->addAction(cancel_);
  file->addAction(tr("&Start page"), this, [this] { pages_->setCurrentWidget(start_page_); });
  file->addSeparator();
  QMenu* pictures = file->addMenu(tr("Export a &view"));
  for (const NamedView& named : views_)
    pictures->addAction(named.view->accessibleName(), this,
                        [this, view = named.view] { export_view(*view); });
  QMenu* traces = file->addMenu(tr("Export the &trace"));
  traces->addAction(tr("&Perfetto…"), this, [this] { export_trace(TraceFormat::perfetto); });
  traces->addAction(tr("&Chrome…"), this, [this] { export_trace(TraceFormat::chrome); });
  file->addSeparator();
  file->addAction(tr("&Quit"), QKeySequence::Quit, this, &QWidget::close);

  QMenu* view = menuBar()->addMenu(tr("&View"));
  QAction* back = state_.range_history().createUndoAction(this, tr("&Back:"));
  back->setShortcut(QKeySequence::Undo);
  QAction* forward = state_.range_history().createRedoAction(this, tr("&Forward:"));
  forward->setShortcut(QKeySequence::Redo);
  view->addAction(back);
  view->addAction(forward);
  view->addAction(tr("Show &all"), QKeySequence(tr("Ctrl+0")), &state_, &ViewState::show_whole);
  view->addAction(tr("&Fit the selection"), QKeySequence(tr("Ctrl+F11")), timeline_,
                  &TimelineView::fit_selection);
  view->addSeparator();
  for (const NamedView& named : views_)
    if (named.dock != nullptr) view->addAction(named.dock->toggleViewAction());

  QMenu* go = menuBar()->addMenu(tr("&Go"));
  go->addAction(tr("To &round…"), QKeySequence(tr("Ctrl+G")), this, &MainWindow::go_to_round);
  go->addAction(tr("&Next match"), QKeySequence::FindNext, this, [this] { timeline_->step_match(true); });
  go->addAction(tr("&Previous match"), QKeySequence::FindPrevious, this,
                [this] { timeline_->step_match(false); });
  go->addAction(tr("&Search"), QKeySequence::Find, this, [this] {
    search_->setFocus();
    search_->selectAll();
  });

  recordings_ = menuBar()->addMenu(tr("&Recordings"));
  list_opened();

  QToolBar* bar = addToolBar(tr("Recording"));
  bar->setObjectName(QStringLiteral("recording-bar"));
  auto* run_label = new QLabel(tr(" &Run: "));
  run_label->setBuddy(runs_);
  runs_->setAccessibleName(tr("Run"));
  runs_->setMinimumContentsLength(30);
  bar->addWidget(run_label);
  bar->addWidget(runs_);
  search_->setPlaceholderText(tr("Search the timeline"));
  search_->setAccessibleName(tr("Search the timeline"));
  search_->setClearButtonEnabled(true);
  search_->setMaximumWidth(260);
  bar->addWidget(search_);
  progress_->setMaximumWidth(160);
  progress_->setAccessibleName(tr("Loading"));
  progress_->hide();
  cancel_->setShortcut(Qt::Key_Escape);
  cancel_->setIconText(tr("Cancel"));  // the button's
  cancel_->setEnabled(false);
  connect(cancel_, &QAction::triggered, this, &MainWindow::cancel_opening);
  cancel_button_->setDefaultAction(cancel_);
  cancel_button_->setFocusPolicy(Qt::StrongFocus);
  cancel_button_->hide();
  statusBar()->addPermanentWidget(progress_);
  statusBar()->addPermanentWidget(cancel_button_);
  statusBar()->addWidget(range_words_, 1);
  connect(runs_, &QComboBox::activated, this,
          [this](int index) { state_.set_run(static_cast<std::size_t>(index)); });
  connect(&state_, &ViewState::run_changed, this,
          [this] { runs_->setCurrentIndex(static_cast<int>(state_.run())); });
  connect(search_, &QLineEdit::textChanged, this, [this](const QString& text) {
    const int names = timeline_->set_search(text);
    statusBar()->showMessage(text.isEmpty() ? QString() : tr("%n name(s) match", nullptr, names));
  });
  connect(search_, &QLineEdit::returnPressed, this, [this] { timeline_->step_match(true); });
}

void MainWindow::choose_file() {
  const QStringList paths = QFileDialog::getOpenFileNames(this, tr("Open recordings"), QString(),
                                                          tr("Recordings (*.dstrace);;All files (*)"));
  if (!paths.isEmpty()) open(paths);
}

void MainWindow::open(const QStringList& paths) {
  waiting_.clear();
  loader_.cancel();
  banner_->hide();
  const QStringList files = files_of(paths);
  if (files.isEmpty()) {
    show_banner(tr("%1: no recordings (*.dstrace) in this folder").arg(paths.join(u", ")), true);
    return;
  }
  waiting_ = files;
  opening_ = 0;
  shows_next_ = true;
  open_next();
}

void MainWindow::open_next() {
  const QString path = waiting_.takeFirst();
  ++opening_;
  // How far it is shows with the first progress.
  progress_->setRange(0, 0);
  progress_->show();
  cancel_->setEnabled(true);
  cancel_button_->show();
  const qsizetype all = opening_ + waiting_.size();
  statusBar()->showMessage(all == 1 ? tr("Opening %1 …").arg(path)
                                    : tr("Opening %1 (%2 of %3) …").arg(path).arg(opening_).arg(all));
  loader_.load(path, shows_next_ ? RecordingLoader::Preview::wanted : RecordingLoader::Preview::none);
}

void MainWindow::end_opening() {
  progress_->hide();
  cancel_->setEnabled(false);
  cancel_button_->hide();
  statusBar()->clearMessage();
}

void MainWindow::cancel_opening() {
  waiting_.clear();
  loader_.cancel();
  if (state_.recording() && !state_.recording()->has_rows())
    show_banner(
        tr("Opening was cancelled: this is the overview that the file stores. Open it again for its rounds."),
        false);
}

void MainWindow::take(const RecordingPointer& recording, const std::shared_ptr<const Timeline>& timeline) {
  if (!recording->has_rows()) {
    state_.preview(recording, timeline);
    return;
  }
  if (shows_next_)
    state_.add(recording, timeline);
  else
    state_.keep(recording, timeline);
  shows_next_ = false;
  remember(QString::fromStdString(recording->recording().path.string()));
}

void MainWindow::show_recording() {
  const RecordingPointer& recording = state_.recording();
  if (!recording) return;
  runs_->clear();
  for (const RunRounds& run : recording->runs())
    runs_->addItem(QString::fromStdString(run.run->specification));
  runs_->setCurrentIndex(static_cast<int>(state_.run()));
  const bool is_first = pages_->currentIndex() != 1;
  pages_->setCurrentIndex(1);
  for (const NamedView& named : views_) {
    if (named.dock == nullptr) continue;
    // What needs the rounds comes with them.
    const bool is_ready = recording->has_rows() || named.name == u"summary";
    named.view->setEnabled(is_ready);
    if (is_ready && named.dock->isHidden()) named.dock->show();
  }
  if (is_first) views_[2].dock->raise();
  setWindowTitle(tr("%1 – Draftscope").arg(QString::fromStdString(recording->name())));
  list_opened();
  if (!recording->recording().closed_cleanly)
    show_banner(tr("This recording was not closed cleanly; what was committed before it broke off is shown."),
                false);
  else if (recording->round_count() == 0)
    show_banner(tr("This recording holds no rounds, so only its timeline and its facts are shown."), false);
}

void MainWindow::list_opened() {
  recordings_->clear();
  for (const RecordingPointer& recording : state_.opened()) {
    QAction* action = recordings_->addAction(QString::fromStdString(recording->name()));
    // Queued: showing it makes this list anew.
    connect(
        action, &QAction::triggered, this, [this, recording] { state_.show(recording); },
        Qt::QueuedConnection);
    action->setCheckable(true);
    action->setChecked(recording == state_.recording());
    action->setToolTip(QString::fromStdString(recording->recording().path.string()));
  }
  recordings_->setEnabled(!state_.opened().empty());
}

void MainWindow::export_view(QWidget& view) {
  const bool has_table = view.findChild<QTableView*>() != nullptr;
  const QString path = QFileDialog::getSaveFileName(
      this, tr("Export %1").arg(view.accessibleName()), QString(),
      has_table ? tr("PNG (*.png);;SVG (*.svg);;PDF (*.pdf);;CSV of its table (*.csv)")
                : tr("PNG (*.png);;SVG (*.svg);;PDF (*.pdf)"));
  if (path.isEmpty()) return;
  const Result<void> written = has_table && path.endsWith(QStringLiteral(".csv"), Qt::CaseInsensitive)
                                   ? write_csv(*view.findChild<QTableView*>()->model(), path)
                                   : write_picture(view, path);
  if (written)
    statusBar()->showMessage(tr("Written: %1").arg(path));
  else
    show_banner(QString::fromStdString(written.error().message), true);
}

void MainWindow::export_trace(TraceFormat format) {
  if (!state_.recording()) return;
  const QString path = QFileDialog::getSaveFileName(
      this, tr("Export the trace"), QString(),
      format == TraceFormat::perfetto ? tr("Perfetto (*.pftrace)") : tr("Chrome (*.json)"));
  if (path.isEmpty()) return;
  auto* dialog = new QProgressDialog(tr("Exporting %1 …").arg(path), tr("Cancel"), 0, 100, this);
  dialog->setWindowModality(Qt::WindowModal);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  auto* exporter = new TraceExporter(dialog);
  connect(exporter, &TraceExporter::progressed, dialog, &QProgressDialog::setValue);
  connect(dialog, &QProgressDialog::canceled, exporter, &TraceExporter::cancel);
  connect(exporter, &TraceExporter::finished, this, [this, dialog, path](const QString& reason) {
    dialog->close();
    if (reason.isEmpty())
      statusBar()->showMessage(tr("Written: %1").arg(path));
    else
      show_banner(reason, true);
  });
  exporter->start(state_.recording()->recording().path, path.toStdString(), format);
}

void MainWindow::show_banner(const QString& words, bool is_error) {
  banner_->setText(QStringLiteral("%1 %2").arg(is_error ? QStringLiteral("✕") : QStringLiteral("⚠"), words));
  banner_->setBackgroundRole(QPalette::ToolTipBase);
  banner_->setForegroundRole(QPalette::ToolTipText);
  banner_->show();
  statusBar()->clearMessage();
}

void MainWindow::remember(const QString& path) {
  if (memory_ == Memory::none) return;
  QSettings settings;
  QStringList recent = settings.value(QStringLiteral("recent")).toStringList();
  const QString whole = QFileInfo(path).absoluteFilePath();
  recent.removeAll(whole);
  recent.prepend(whole);
  if (recent.size() > most_recent) recent.resize(most_recent);
  settings.setValue(QStringLiteral("recent"), recent);
  start_page_->set_recent(recent);
}

void MainWindow::go_to_round() {
  const RunRounds* run = state_.run_rounds();
  if (run == nullptr || run->rounds.empty()) return;
  bool chosen = false;
  const int last = static_cast<int>(run->rounds.size()) - 1;
  const int place = QInputDialog::getInt(this, tr("Go to round"), tr("Round of this run, 0 to %1:").arg(last),
                                         0, 0, last, 1, &chosen);
  if (chosen) state_.go_to_round(run->rounds[static_cast<std::size_t>(place)]);
}

void MainWindow::show_range_statistics() {
  const auto& selection = state_.selection();
  if (!selection || !state_.timeline() || !state_.recording()->has_rows()) {
    range_words_->clear();
    return;
  }
  const RunRounds* run = state_.run_rounds();
  std::int64_t rounds = 0;
  std::int64_t tokens = 0;
  if (run != nullptr)
    for (const std::uint32_t round : run->rounds) {
      const traces::Round& row = state_.recording()->round(round);
      if (row.start_ns < selection->start_ns || row.end_ns > selection->end_ns) continue;
      ++rounds;
      tokens += row.emitted;
    }
  const double seconds = static_cast<double>(selection->duration_ns()) / 1e9;
  range_words_->setText(tr("selected %1: %2 whole rounds of this run, %3 tokens, %4 tokens/s")
                            .arg(duration_text(selection->duration_ns()))
                            .arg(rounds)
                            .arg(tokens)
                            .arg(number_text(seconds > 0.0 ? static_cast<double>(tokens) / seconds : 0.0)));
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
    settings.setValue(QStringLiteral("layout"), saveState(layout_version));
  }
  QMainWindow::closeEvent(event);
}

}  // namespace draftscope::gui
