// SPDX-License-Identifier: GPL-3.0-or-later
#include "compare_view.h"

#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QSplitter>
#include <QTableView>
#include <QTimer>
#include <QTreeWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "models/column_text.h"
#include "models/copy_rows.h"
#include "views/compare/race_player.h"
#include "views/plot_style.h"
#include "views/theme.h"
#include "views/time_text.h"

namespace draftscope::gui {

namespace {

constexpr int recording_role = Qt::UserRole;
constexpr int run_role = Qt::UserRole + 1;
constexpr double ns_per_ms = 1e6;
constexpr int widest_name = 300;

QString notes_of(const RunsComparison& comparison) {
  QStringList lines;
  for (const auto& [name, differences] : comparison.settings) {
    QStringList facts;
    for (const simulator::MetaDifference& difference : differences) {
      const QString words = QStringLiteral("%1: %2 → %3")
                                .arg(QString::fromStdString(difference.key).toHtmlEscaped(),
                                     QString::fromStdString(difference.baseline).toHtmlEscaped(),
                                     QString::fromStdString(difference.comparison).toHtmlEscaped());
      facts << (difference.changes_experiment ? QStringLiteral("<b>%1</b>").arg(words) : words);
    }
    lines << CompareView::tr("%1 was recorded with other settings: %2")
                 .arg(QString::fromStdString(name).toHtmlEscaped(),
                      facts.isEmpty() ? CompareView::tr("none") : facts.join(QStringLiteral("; ")));
  }
  std::size_t different = 0;
  for (const RunAgainstBaseline& run : comparison.runs) different += run.identity.differing_prompts;
  if (comparison.runs.size() > 1) {
    if (comparison.requests.empty())
      lines << CompareView::tr("These runs share no request: there is nothing to align.");
    else
      lines << (different == 0
                    ? CompareView::tr("All texts are identical, token for token (%1 requests of each run).")
                          .arg(comparison.requests.size())
                    : CompareView::tr(
                          "⚠ Texts differ from the baseline's: this compares different outputs."));
  }
  bool is_told = false;
  for (const RunAgainstBaseline& run : comparison.runs) {
    if (!interval_and_p_disagree(run)) continue;
    const simulator::Interval& interval = *run.ratio->interval;
    const bool is_by_interval = interval.low > 1.0 || interval.high < 1.0;
    const QString differs = CompareView::tr("there is a difference");
    const QString may_not = CompareView::tr("there may be none");
    lines << CompareView::tr(
                 "%1: by the interval (%2–%3) %4, by p (%5) %6; it is faster on %7 of %8 prompts.")
                 .arg(QString::fromStdString(run.run.row().specification).toHtmlEscaped(),
                      number_text(interval.low), number_text(interval.high),
                      is_by_interval ? differs : may_not,
                      figure_text(simulator::FigureFormat::p_value, *run.adjusted_p_value),
                      is_by_interval ? may_not : differs)
                 .arg(run.faster_prompts)
                 .arg(run.prompts);
    is_told = true;
  }
  if (is_told)
    lines << CompareView::tr(
        "The interval is of all prompts' time, which long prompts decide; p is of how many prompts gain, "
        "corrected for "
        "the number of runs, and few prompts can't make it small.");
  return lines.join(QStringLiteral("<br>"));
}

QCustomPlot* make_plot(const QString& name, const QString& x, const QString& y) {
  auto* plot = new QCustomPlot;
  plot->setAccessibleName(name);
  plot->xAxis->setLabel(x);
  plot->yAxis->setLabel(y);
  plot->setInteractions(QCP::iRangeDrag | QCP::iRangeZoom);
  // As high as the name of the axis is long, with the axis of tokens below it.
  constexpr int others = 76;
  plot->setMinimumHeight(QFontMetrics(plot->yAxis->labelFont()).horizontalAdvance(y) + others);
  return plot;
}

/// Scrolling one plot scrolls the other: the same tokens stand below one another.
void link_ranges(QCustomPlot& from, QCustomPlot& to) {
  QObject::connect(from.xAxis, qOverload<const QCPRange&>(&QCPAxis::rangeChanged), &to,
                   [&to](const QCPRange& range) {
                     if (to.xAxis->range() == range) return;
                     to.xAxis->setRange(range);
                     to.replot(QCustomPlot::rpQueuedReplot);
                   });
}

/// The newest recording's runs that have rounds, as many as can be compared.
std::vector<ComparedRun> first_choice(const RecordingPointer& recording) {
  std::vector<ComparedRun> runs;
  for (std::size_t run = 0; run < recording->runs().size() && runs.size() < CompareView::max_runs; ++run)
    if (!recording->runs()[run].rounds.empty()) runs.push_back({recording, run});
  return runs;
}

}  // namespace

CompareView::CompareView(ViewState& state, QWidget* parent)
    : QWidget(parent),
      state_(state),
      choice_(new QTreeWidget),
      notes_(new QLabel),
      table_(new QTableView),
      requests_(new QComboBox),
      race_(make_plot(tr("Race: when each token was there"), tr("output token"),
                      tr("ms since the first token"))),
      gains_(make_plot(tr("Gain over the baseline along the text"), tr("output token"),
                       tr("ms ahead of the baseline"))),
      spread_(make_plot(tr("Distribution of round times"), tr("ms per round"),
                        tr("share of rounds at most that long"))),
      player_(new RacePlayer) {
  setAccessibleName(tr("Comparison"));
  set_up_widgets();
  lay_out();
  connect(choice_, &QTreeWidget::itemChanged, this, [this] {
    if (!is_listing_) take_checked();
  });
  connect(requests_, &QComboBox::currentIndexChanged, this, &CompareView::show_request);
  connect(&state_, &ViewState::opened_changed, this, &CompareView::take_opened);
  connect(player_, &RacePlayer::moved, this, &CompareView::mark_race);
  connect(&state_, &ViewState::cursor_changed, this, &CompareView::mark_cursor);
  link_ranges(*race_, *gains_);
  link_ranges(*gains_, *race_);
  take_opened();
}

void CompareView::set_up_widgets() {
  choice_->setHeaderLabels({tr("compare (2 to 6)"), tr("baseline")});
  choice_->setAccessibleName(tr("Runs to compare, and the baseline"));
  choice_->header()->setStretchLastSection(false);
  choice_->header()->setSectionResizeMode(0, QHeaderView::Stretch);
  notes_->setAccessibleName(tr("What is compared"));
  notes_->setWordWrap(true);
  notes_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  table_->setModel(&model_);
  table_->setAccessibleName(tr("Compared runs"));
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setDefaultSectionSize(table_->fontMetrics().height() + 8);
  table_->setTextElideMode(Qt::ElideMiddle);
  table_->setWordWrap(false);
  table_->setAlternatingRowColors(true);
  offer_copying(*table_);
  requests_->setAccessibleName(tr("Request to align"));
  // The same tokens below one another, whatever the widths of their tick labels.
  for (QCustomPlot* plot : {race_, gains_}) {
    constexpr int left_margin = 64;
    plot->axisRect()->setMinimumMargins(QMargins(left_margin, 15, 15, 15));
  }
}

void CompareView::lay_out() {
  auto* right = new QWidget;
  auto* column = new QVBoxLayout(right);
  column->setContentsMargins(4, 4, 4, 4);
  column->addWidget(notes_);
  column->addWidget(table_, 2);
  column->addWidget(requests_);
  column->addWidget(player_);
  auto* plots = new QHBoxLayout;
  auto* aligned = new QVBoxLayout;
  aligned->addWidget(race_);
  aligned->addWidget(gains_);
  plots->addLayout(aligned, 3);
  plots->addWidget(spread_, 2);
  column->addLayout(plots, 5);
  auto* splitter = new QSplitter;
  splitter->addWidget(choice_);
  splitter->addWidget(right);
  splitter->setStretchFactor(1, 1);
  splitter->setSizes({320, 1280});
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(splitter);
}

void CompareView::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) show_request();
}

void CompareView::paintEvent(QPaintEvent* event) {
  QWidget::paintEvent(event);
  // What is painted has been seen.
  if (is_stale_) QTimer::singleShot(0, this, &CompareView::start);
}

bool CompareView::is_open(const ComparedRun& run) const {
  return std::ranges::find(state_.opened(), run.recording) != state_.opened().end();
}

void CompareView::follow_opened() {
  // What was read again takes the place of what it was.
  for (ComparedRun& run : runs_)
    for (const RecordingPointer& recording : state_.opened())
      if (recording->recording().path == run.recording->recording().path &&
          run.run < recording->runs().size())
        run.recording = recording;
  std::erase_if(runs_, [&](const ComparedRun& run) { return !is_open(run); });
  // At first: the newest recording's baseline and the runs behind it.
  if (runs_.empty() && !state_.opened().empty()) {
    runs_ = first_choice(state_.opened().back());
    baseline_ = 0;
    for (std::size_t i = 0; i < runs_.size(); ++i)
      if (runs_[i].row().is_baseline) baseline_ = i;
  }
  baseline_ = std::min(baseline_, runs_.empty() ? 0 : runs_.size() - 1);
}

void CompareView::take_opened() {
  const std::vector<ComparedRun> before = runs_;
  const std::size_t baseline_before = baseline_;
  follow_opened();
  list_runs();
  if (runs_ == before && baseline_ == baseline_before && !before.empty()) return;
  job_.cancel();
  const auto& shown = model_.comparison().runs;
  if (!std::ranges::all_of(shown, [&](const RunAgainstBaseline& run) { return is_open(run.run); }))
    show_comparison({});
  is_stale_ = true;
  update();
}

void CompareView::list_runs() {
  is_listing_ = true;
  choice_->clear();
  for (std::size_t i = 0; i < state_.opened().size(); ++i) {
    const RecordingPointer& recording = state_.opened()[i];
    auto* file = new QTreeWidgetItem(choice_, {QString::fromStdString(recording->name())});
    file->setToolTip(0, QString::fromStdString(recording->recording().path.string()));
    for (std::size_t run = 0; run < recording->runs().size(); ++run) {
      auto* item =
          new QTreeWidgetItem(file, {QString::fromStdString(recording->runs()[run].run->specification)});
      const ComparedRun compared{recording, run};
      const auto place = std::find(runs_.begin(), runs_.end(), compared);
      const bool is_baseline =
          place != runs_.end() && static_cast<std::size_t>(place - runs_.begin()) == baseline_;
      item->setCheckState(0, place != runs_.end() ? Qt::Checked : Qt::Unchecked);
      item->setCheckState(1, is_baseline ? Qt::Checked : Qt::Unchecked);
      item->setData(0, recording_role, static_cast<qulonglong>(i));
      item->setData(0, run_role, static_cast<qulonglong>(run));
      item->setToolTip(0, item->text(0));
    }
    file->setExpanded(true);
  }
  is_listing_ = false;
}

void CompareView::take_checked() {
  std::vector<ComparedRun> chosen;
  std::optional<ComparedRun> baseline;
  const ComparedRun before = runs_.empty() ? ComparedRun{} : runs_[baseline_];
  for (int file = 0; file < choice_->topLevelItemCount(); ++file)
    for (int i = 0; i < choice_->topLevelItem(file)->childCount(); ++i) {
      const QTreeWidgetItem* item = choice_->topLevelItem(file)->child(i);
      const ComparedRun run{state_.opened()[item->data(0, recording_role).toULongLong()],
                            static_cast<std::size_t>(item->data(0, run_role).toULongLong())};
      const bool is_baseline = item->checkState(1) == Qt::Checked;
      if (item->checkState(0) != Qt::Checked && !is_baseline) continue;
      chosen.push_back(run);
      // Of two that are checked, the new one is meant.
      if (is_baseline && (!baseline || *baseline == before)) baseline = run;
    }
  if (chosen.size() > max_runs) {
    list_runs();
    notes_->setText(
        tr("<b>Six runs at most can be compared: uncheck one of them first.</b><br>%1").arg(notes()));
    return;
  }
  std::size_t place = 0;
  if (baseline)
    if (const auto found = std::find(chosen.begin(), chosen.end(), *baseline); found != chosen.end())
      place = static_cast<std::size_t>(found - chosen.begin());
  set_runs(std::move(chosen), place);
}

void CompareView::set_runs(std::vector<ComparedRun> runs, std::size_t baseline) {
  runs_ = std::move(runs);
  baseline_ = std::min(baseline, runs_.empty() ? 0 : runs_.size() - 1);
  list_runs();
  is_stale_ = true;
  start();
}

void CompareView::start() {
  if (!is_stale_) return;
  is_stale_ = false;
  job_.start(read_and_take(
      [runs = runs_, baseline = baseline_](const auto&) {
        Compared result{compare(runs, baseline), baseline, {}};
        for (const ComparedRun& run : runs) result.spreads.push_back(round_time_spread(run));
        return result;
      },
      [this](Compared result) {
        show_comparison(std::move(result));
        emit compared();
      }));
  notes_->setText(notes());
}

QString CompareView::notes() const {
  if (runs_.size() < 2)
    return tr("Check two to six runs on the left, of this recording or of others that are open.");
  if (job_.is_running() || is_stale_) return tr("Comparing …");
  return notes_of(model_.comparison());
}

void CompareView::show_comparison(Compared compared) {
  model_.set_comparison(std::move(compared.comparison));
  shown_baseline_ = compared.baseline;
  spreads_ = std::move(compared.spreads);
  notes_->setText(notes());
  table_->resizeColumnsToContents();
  table_->setColumnWidth(ComparisonModel::run,
                         std::min(table_->columnWidth(ComparisonModel::run), widest_name));
  list_requests();
  show_request();
}

void CompareView::list_requests() {
  const QSignalBlocker quiet(requests_);
  const QString chosen = requests_->currentText();
  QStringList titles;
  for (const AlignedRequest& request : model_.comparison().requests)
    titles << QString::fromStdString(request.title) +
                  (request.is_same_text ? QString() : tr(" — texts differ"));
  requests_->clear();
  requests_->addItems(titles);
  requests_->setCurrentIndex(titles.isEmpty() ? -1 : std::max(0, requests_->findText(chosen)));
}

void CompareView::style_plots() {
  // Styles draw the boxes of unchecked items in a shade of the window that is lost on a dark background.
  QPalette boxes = palette();
  if (is_dark(boxes)) boxes.setColor(QPalette::Window, boxes.color(QPalette::Mid).lighter(400));
  choice_->setPalette(boxes);
  race_places_.clear();
  for (QCustomPlot* plot : {race_, gains_, spread_}) {
    plot->clearGraphs();
    plot->clearItems();
    apply_look(*plot, palette());
  }
  const QPen pen(cursor_color(is_dark(palette())), 1.5);
  for (const auto& [plot, line] : {std::pair(race_, &race_cursor_), std::pair(gains_, &gains_cursor_)}) {
    *line = new QCPItemStraightLine(plot);
    (*line)->setPen(pen);
    (*line)->setVisible(false);
  }
}

const AlignedRequest* CompareView::aligned_request() const {
  const std::vector<AlignedRequest>& requests = model_.comparison().requests;
  const int place = requests_->currentIndex();
  return place >= 0 && static_cast<std::size_t>(place) < requests.size()
             ? &requests[static_cast<std::size_t>(place)]
             : nullptr;
}

QPen CompareView::pen_of(std::size_t run_index) const {
  return QPen(series_color(run_index, is_dark(palette())), run_index == shown_baseline_ ? 2.5 : 1.5);
}

void CompareView::show_request() {
  style_plots();
  if (const AlignedRequest* aligned = aligned_request())
    draw_race(*aligned);
  else
    player_->set_race({}, {});
  draw_spreads();
  mark_cursor();
}

void CompareView::draw_race(const AlignedRequest& aligned) {
  const std::vector<RunAgainstBaseline>& runs = model_.comparison().runs;
  QStringList names;
  std::vector<std::vector<std::int64_t>> race;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    race.push_back(token_times_ns(*runs[i].run.recording, aligned.requests[i]));
    names << QString::fromStdString(runs[i].run.row().specification);
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    draw_times(i, race[i]);
    if (aligned.is_same_text) draw_gain(i, race[i], race[shown_baseline_]);
  }
  for (QCustomPlot* plot : {race_, gains_}) {
    plot->rescaleAxes();
    // Room for marks at the end.
    plot->xAxis->setRangeUpper(1.02 * plot->xAxis->range().upper);
  }
  for (std::size_t i = 0; i < runs.size(); ++i) add_race_mark(i);
  player_->set_race(Race(std::move(race)), names);
}

void CompareView::draw_times(std::size_t run_index, const std::vector<std::int64_t>& times_ns) {
  QVector<double> tokens;
  QVector<double> at;
  for (std::size_t token = 0; token < times_ns.size(); ++token) {
    tokens.push_back(static_cast<double>(token));
    at.push_back(static_cast<double>(times_ns[token]) / ns_per_ms);
  }
  QCPGraph* line = race_->addGraph();
  line->setPen(pen_of(run_index));
  line->setLineStyle(QCPGraph::lsStepRight);
  line->setData(tokens, at, true);
}

void CompareView::draw_gain(std::size_t run_index, const std::vector<std::int64_t>& times_ns,
                            const std::vector<std::int64_t>& baseline_ns) {
  QVector<double> tokens;
  QVector<double> ahead;
  for (std::size_t token = 0; token < std::min(times_ns.size(), baseline_ns.size()); ++token) {
    tokens.push_back(static_cast<double>(token));
    ahead.push_back(static_cast<double>(baseline_ns[token] - times_ns[token]) / ns_per_ms);
  }
  QCPGraph* gain = gains_->addGraph();
  gain->setPen(pen_of(run_index));
  gain->setData(tokens, ahead, true);
}

void CompareView::add_race_mark(std::size_t run_index) {
  const QColor color = series_color(run_index, is_dark(palette()));
  QCPGraph* mark = race_->addGraph();
  mark->setLineStyle(QCPGraph::lsNone);
  mark->setScatterStyle(QCPScatterStyle(series_shape(run_index), color, color, 10));
  race_places_.push_back(mark);
}

void CompareView::draw_spreads() {
  double longest_ms = 0.0;
  for (std::size_t i = 0; i < spreads_.size(); ++i) {
    const RoundTimeSpread& spread = spreads_[i];
    QCPGraph* line = spread_->addGraph();
    line->setPen(pen_of(i));
    line->setLineStyle(QCPGraph::lsStepLeft);
    line->setData(QVector<double>(spread.ms.begin(), spread.ms.end()),
                  QVector<double>(spread.share.begin(), spread.share.end()), true);
    // A few long rounds must not squeeze the others: up to the 99.5th percentile of the slowest run.
    longest_ms = std::max(longest_ms, spread.usual_longest_ms);
  }
  spread_->xAxis->setRange(0.0, longest_ms > 0.0 ? 1.05 * longest_ms : 1.0);
  spread_->yAxis->setRange(0.0, 1.02);
  spread_->replot(QCustomPlot::rpQueuedReplot);
}

void CompareView::mark_race() {
  const std::vector<RacePlace> places = player_->places();
  if (places.size() != race_places_.size()) return;
  for (std::size_t i = 0; i < places.size(); ++i)
    race_places_[i]->setData({static_cast<double>(places[i].token)},
                             {static_cast<double>(places[i].known_ns) / ns_per_ms}, true);
  race_->replot(QCustomPlot::rpQueuedReplot);
}

void CompareView::mark_cursor() {
  if (race_cursor_ == nullptr) return;
  bool is_here = false;
  if (const AlignedRequest* aligned = aligned_request()) {
    const std::vector<RunAgainstBaseline>& runs = model_.comparison().runs;
    for (std::size_t i = 0; i < runs.size(); ++i)
      is_here = is_here || (runs[i].run.recording == state_.recording() &&
                            aligned->requests[i] == state_.cursor().request_index);
  }
  for (QCPItemStraightLine* line : {race_cursor_, gains_cursor_}) {
    const auto token = static_cast<double>(state_.cursor().token_index);
    line->setVisible(is_here);
    line->point1->setCoords(token, 0.0);
    line->point2->setCoords(token, 1.0);
  }
  for (QCustomPlot* plot : {race_, gains_}) plot->replot(QCustomPlot::rpQueuedReplot);
}

}  // namespace draftscope::gui
