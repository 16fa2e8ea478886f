// SPDX-License-Identifier: GPL-3.0-or-later
#include "compare_view.h"

#include <QHeaderView>
#include <QMenu>
#include <QScrollArea>
#include <QSplitter>
#include <QStyledItemDelegate>
#include <QVBoxLayout>
#include <algorithm>

#include "charts/chart_plot.h"
#include "charts/table_file.h"
#include "models/column_text.h"
#include "views/comparison_charts.h"
#include "widgets/habits.h"
#include "widgets/table_cells.h"
#include "widgets/table_columns.h"
#include "widgets/theme.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

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
  for (const std::string& sentence : comparison.tracing) lines << sentence_text(sentence).toHtmlEscaped();
  std::size_t different = 0;
  bool are_ids_known = true;
  for (const RunAgainstBaseline& run : comparison.runs) {
    if (run.identity) different += run.identity->differing_prompts;
    are_ids_known = are_ids_known && (run.is_baseline || run.identity);
  }
  if (comparison.runs.size() > 1) {
    if (comparison.shared_requests == 0)
      lines << CompareView::tr("These runs share no request: there is nothing to align.");
    else if (different > 0)
      lines << CompareView::tr("⚠ Texts differ from the baseline's: this compares different outputs.");
    else if (!are_ids_known)
      lines << CompareView::tr("Whether texts differ is not known: a recording lacks token ids.");
    else
      lines << CompareView::tr("All texts are identical, token for token (%1 of each run).")
                   .arg(counted(static_cast<std::int64_t>(comparison.shared_requests),
                                CompareView::tr("1 request"), CompareView::tr("%1 requests")));
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

}  // namespace

CompareView::CompareView(ViewState& state, QWidget* parent) : QWidget(parent), state_(state) {
  setAccessibleName(tr("Comparison"));
  set_up_widgets();
  lay_out();
  style_choice();
  when_seen(*this, [this] { start(); });
  when_recoloured(*this, [this] { style_choice(); });
  connect(choice_, &QTreeWidget::itemChanged, this, [this] {
    if (!is_listing_) take_checked();
  });
  connect(&state_, &ViewState::opened_changed, this, &CompareView::take_opened);
  connect(&prompts_->plot(), &ChartPlot::chosen, this, &CompareView::ask_for_request);
  connect(&forest_->plot(), &ChartPlot::chosen, this, &CompareView::check_run_of_forest);
  take_opened();
}

void CompareView::set_up_widgets() {
  choice_->setHeaderLabels({tr("compare (2 to 6)"), tr("baseline")});
  choice_->setAccessibleName(tr("Runs to compare, and the baseline"));
  choice_->header()->setStretchLastSection(false);
  choice_->header()->setSectionResizeMode(0, QHeaderView::Stretch);
  choice_->header()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
  choice_->setTextElideMode(Qt::ElideMiddle);
  notes_->setAccessibleName(tr("What is compared"));
  notes_->setWordWrap(true);
  notes_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  table_->setModel(&model_);
  table_->setItemDelegate(new TextCell(table_));
  // The column of runs shows their colours beside its texts.
  table_->setItemDelegateForColumn(ComparisonModel::run, new QStyledItemDelegate(table_));
  table_->setAccessibleName(tr("Compared runs"));
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setDefaultSectionSize(table_->fontMetrics().height() + 8);
  table_->setAlternatingRowColors(true);
  offer_copying(*table_);
  keep_numbers_in_sight(*table_);
  choice_->setContextMenuPolicy(Qt::CustomContextMenu);
  connect(choice_, &QWidget::customContextMenuRequested, this, &CompareView::show_choice_menu);
  forest_->setObjectName(QStringLiteral("compare-forest"));
  categories_->setObjectName(QStringLiteral("compare-categories"));
  prompts_->setObjectName(QStringLiteral("compare-prompts"));
  tabs_->addTab(scrollable(forest_), tr("&All runs"));
  tabs_->addTab(scrollable(categories_), tr("By &category"));
  tabs_->addTab(scrollable(prompts_), tr("By pro&mpt"));
}

void CompareView::lay_out() {
  auto* below = new QSplitter(Qt::Vertical);
  below->addWidget(table_);
  below->addWidget(tabs_);
  below->setChildrenCollapsible(false);
  below->setStretchFactor(0, 1);
  below->setStretchFactor(1, 3);
  below->setSizes({140, 480});
  // A divider would not know how many lines the notes take.
  auto* right = new QWidget;
  auto* column = new QVBoxLayout(right);
  column->setContentsMargins(4, 4, 0, 0);
  column->addWidget(notes_);
  column->addWidget(below, 1);
  auto* splitter = new QSplitter;
  splitter->addWidget(choice_);
  splitter->addWidget(right);
  splitter->setStretchFactor(1, 1);
  splitter->setSizes({320, 1280});
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(splitter);
}

bool CompareView::is_open(const ComparedRun& run) const {
  return std::ranges::find(state_.opened(), run.recording) != state_.opened().end();
}

void CompareView::follow_opened() {
  // A recording that was read again replaces its earlier state.
  for (ComparedRun& run : runs_)
    for (const RecordingPointer& recording : state_.opened())
      if (recording->recording().path == run.recording->recording().path &&
          run.run < recording->runs().size())
        run.recording = recording;
  const auto baseline = runs_.empty() ? std::optional<ComparedRun>() : runs_[baseline_];
  std::erase_if(runs_, [&](const ComparedRun& run) { return !is_open(run); });
  // The first choice is the newest recording's baseline and the fastest of its runs.
  if (runs_.empty() && !state_.opened().empty()) {
    runs_ = runs_to_compare(state_.opened().back(), max_runs);
    baseline_ = 0;
    return;
  }
  const auto found = std::ranges::find(runs_, baseline);
  baseline_ = found == runs_.end() ? 0 : static_cast<std::size_t>(found - runs_.begin());
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
  listed_.clear();
  choice_->clear();
  for (const RecordingPointer& recording : state_.opened()) {
    auto* file = new QTreeWidgetItem(choice_, {QString::fromStdString(recording->name())});
    file->setToolTip(0, QString::fromStdString(recording->recording().path.string()));
    for (std::size_t run = 0; run < recording->runs().size(); ++run) {
      auto* item =
          new QTreeWidgetItem(file, {QString::fromStdString(recording->runs()[run].run->specification)});
      item->setToolTip(0, item->text(0));
      listed_.emplace_back(item, ComparedRun{recording, run});
    }
    file->setExpanded(true);
  }
  is_listing_ = false;
  check_chosen();
}

void CompareView::check_chosen() {
  is_listing_ = true;
  for (const auto& [item, run] : listed_) {
    const auto place = std::find(runs_.begin(), runs_.end(), run);
    const bool is_baseline =
        place != runs_.end() && static_cast<std::size_t>(place - runs_.begin()) == baseline_;
    item->setCheckState(0, place != runs_.end() ? Qt::Checked : Qt::Unchecked);
    item->setCheckState(1, is_baseline ? Qt::Checked : Qt::Unchecked);
  }
  is_listing_ = false;
}

void CompareView::take_checked() {
  std::vector<ComparedRun> chosen;
  std::optional<ComparedRun> baseline;
  const ComparedRun before = runs_.empty() ? ComparedRun{} : runs_[baseline_];
  for (const auto& [item, run] : listed_) {
    const bool is_baseline = item->checkState(1) == Qt::Checked;
    if (item->checkState(0) != Qt::Checked && !is_baseline) continue;
    chosen.push_back(run);
    // If two baselines are checked, the user means the new one.
    if (is_baseline && (!baseline || *baseline == before)) baseline = run;
  }
  if (chosen.size() > max_runs) {
    check_chosen();
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
  check_chosen();
  is_stale_ = true;
  start();
}

void CompareView::start() {
  if (!is_stale_) return;
  is_stale_ = false;
  job_.start(read_and_take(
      [runs = runs_, baseline = baseline_,
       opened = state_.opened()](const BackgroundJob::ShouldContinue& should_continue) {
        Compared result{compare(runs, baseline), {}, runs};
        if (!runs.empty()) result.all = all_runs(opened, runs[baseline], should_continue);
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
  all_ = std::move(compared.all);
  compared_ = std::move(compared.runs);
  notes_->setText(notes());
  const QString why_empty =
      compared_.empty()
          ? QString()
          : tr("no ratio here: it takes wall times, and a prompt that the baseline decoded, too");
  forest_->set_chart(forest_chart(all_, compared_), why_empty);
  categories_->set_chart(category_chart(all_), why_empty);
  prompts_->set_chart(prompts_chart(all_, compared_), why_empty);
}

void CompareView::ask_for_request(const ChartPlace& place) {
  const RunStanding* standing = standing_of_series(all_, compared_, place.series);
  if (standing != nullptr && place.point < standing->by_prompt.size())
    emit request_asked(standing->run, standing->by_prompt[place.point].request);
}

void CompareView::check_run_of_forest(const ChartPlace& place) {
  const ChartSeries& series = forest_->plot().chart().panels[place.panel].series[place.series];
  const RunStanding& standing = all_.runs[static_cast<std::size_t>(series.y[place.point])];
  for (const auto& [item, run] : listed_)
    if (run == standing.run && !standing.is_baseline)
      return item->setCheckState(0, item->checkState(0) == Qt::Checked ? Qt::Unchecked : Qt::Checked);
}

void CompareView::show_choice_menu(const QPoint& at) {
  QMenu menu(choice_);
  const QTreeWidgetItem* under = choice_->itemAt(at);
  const auto chosen = std::ranges::find(listed_, under, [](const auto& of) { return of.first; });
  if (chosen != listed_.end() && !runs_.empty() && !(chosen->second == runs_[baseline_]))
    menu.addAction(tr("Only this against the baseline"), this,
                   [this, baseline = runs_[baseline_], run = chosen->second] {
                     set_runs({baseline, run}, 0);
                   });
  const RecordingPointer opened = chosen == listed_.end() ? state_.recording() : chosen->second.recording;
  if (opened != nullptr)
    menu.addAction(tr("Vanilla and the five fastest"), this,
                   [this, opened] { set_runs(runs_to_compare(opened, max_runs), 0); });
  menu.exec(choice_->viewport()->mapToGlobal(at));
}

void CompareView::style_choice() {
  // Styles draw the boxes of unchecked items in a shade of the window that is lost on a dark background.
  QPalette boxes = palette();
  if (is_dark(boxes)) boxes.setColor(QPalette::Window, boxes.color(QPalette::Mid).lighter(400));
  choice_->setPalette(boxes);
}

}  // namespace draftscope::gui
