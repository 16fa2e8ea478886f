// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the comparison in the real window: what it says of choices and figures, and what its charts show.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QTreeWidget>

#include "charts/chart_pane.h"
#include "charts/chart_plot.h"
#include "data/details/run_comparison.h"
#include "models/column_text.h"
#include "views/compare_view.h"
#include "views/comparison_charts.h"
#include "widgets/plot_style.h"
#include "widgets/theme.h"
#include "window_fixture.h"

namespace draftscope::gui {
namespace {

class Comparing : public Window {
 protected:
  void SetUp() override {
    Window::SetUp();
    traces::make_sample_file(folder_ / "many.dstrace", {.runs = 9, .requests_per_run = 8, .max_rounds = 6});
    ASSERT_EQ(open(folder_ / "many.dstrace"), QString());
    raise(QStringLiteral("compare"));
  }

  [[nodiscard]] std::vector<ComparedRun> first_six() {
    std::vector<ComparedRun> runs;
    for (std::size_t run = 0; run < CompareView::max_runs; ++run)
      runs.push_back({window_.state().recording(), run});
    return runs;
  }

  /// Compares three runs that share requests.
  void compare_three() {
    ASSERT_EQ(open(folder_ / "sample.dstrace"), QString());
    const RecordingPointer sample = window_.state().opened().back();
    ASSERT_EQ(sample->name(), "sample.dstrace");
    view_.set_runs({{sample, 0}, {sample, 1}, {sample, 2}}, 0);
    settle();
    ASSERT_GT(view_.model().comparison().shared_requests, 0U);
  }

  CompareView& view_ = view_of<CompareView>(window_, QStringLiteral("compare"));
};

TEST_F(Comparing, OpensOnVanillaAndTheFiveFastest) {
  const RecordingPointer opened = window_.state().recording();
  const std::vector<std::size_t> order = runs_by_speed(*opened);
  ASSERT_GT(order.size(), CompareView::max_runs);
  ASSERT_EQ(view_.runs().size(), CompareView::max_runs);
  EXPECT_TRUE(view_.runs().front().row().is_baseline);
  std::vector<std::size_t> fastest;
  for (const std::size_t run : order)
    if (!opened->runs()[run].run->is_baseline) fastest.push_back(run);
  for (std::size_t place = 1; place < view_.runs().size(); ++place)
    EXPECT_EQ(view_.runs()[place].run, fastest[place - 1]);
  EXPECT_EQ(window_.state().run(), fastest.front()) << "the page before opens on the fastest that drafts";
}

TEST_F(Comparing, ARunKeepsItsColourWhateverElseIsCompared) {
  const auto color_of = [&](const ComparedRun& run) -> std::optional<QColor> {
    for (int row = 0; row < view_.model().rowCount(); ++row)
      if (view_.model().comparison().runs[static_cast<std::size_t>(row)].run == run)
        return view_.model().index(row, ComparisonModel::run).data(Qt::DecorationRole).value<QColor>();
    return std::nullopt;
  };
  const std::vector<ComparedRun> all = view_.runs();
  std::vector<std::optional<QColor>> colors;
  for (const ComparedRun& run : all) colors.push_back(color_of(run));
  for (std::size_t left_out = 1; left_out < all.size(); ++left_out) {
    std::vector<ComparedRun> fewer = all;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(left_out));
    view_.set_runs(fewer, 0);
    settle();
    for (std::size_t place = 0; place < all.size(); ++place)
      EXPECT_EQ(color_of(all[place]), place == left_out ? std::nullopt : colors[place]);
  }
  // The chart of all runs has the same colours.
  const Chart chart = forest_chart(view_.all(), all);
  for (const ChartSeries& series : chart.panels.front().series)
    for (const double row : series.y) {
      const auto place = std::ranges::find(all, view_.all().runs[static_cast<std::size_t>(row)].run);
      if (place == all.end()) continue;
      EXPECT_EQ(series_color(series.color, is_dark(QGuiApplication::palette())),
                colors[static_cast<std::size_t>(place - all.begin())]);
    }
}

TEST_F(Comparing, SaysThatNoSeventhRunFitsAndKeepsTheChoice) {
  auto* choice = view_.findChild<QTreeWidget*>();
  const auto item = [&](int run) { return choice->topLevelItem(0)->child(run); };
  view_.set_runs(first_six(), 0);
  const std::vector<ComparedRun> before = view_.runs();
  ASSERT_EQ(before.size(), CompareView::max_runs);
  item(8)->setCheckState(0, Qt::Checked);
  EXPECT_TRUE(is_said("Six runs at most"));
  EXPECT_EQ(view_.runs(), before);
  EXPECT_EQ(item(8)->checkState(0), Qt::Unchecked) << "the boxes say what is compared";
  item(1)->setCheckState(0, Qt::Unchecked);
  item(8)->setCheckState(0, Qt::Checked);
  settle();
  EXPECT_EQ(view_.runs().back().run, 8U);
  EXPECT_FALSE(is_said("Six runs at most"));
}

TEST_F(Comparing, KeepsItsItemsWhenOneOfThemIsChecked) {
  auto* choice = view_.findChild<QTreeWidget*>();
  view_.set_runs(first_six(), 0);
  QTreeWidgetItem* first = choice->topLevelItem(0)->child(0);
  QTreeWidgetItem* run = choice->topLevelItem(0)->child(8);
  choice->setCurrentItem(run);
  // Check one run too many, uncheck another, and then check the maximum.
  run->setCheckState(0, Qt::Checked);
  EXPECT_EQ(choice->currentItem(), run) << "the keyboard goes on from where it was";
  choice->topLevelItem(0)->child(1)->setCheckState(0, Qt::Unchecked);
  run->setCheckState(0, Qt::Checked);
  EXPECT_EQ(choice->currentItem(), run);
  EXPECT_EQ(view_.runs().back().run, 8U);
  // A run that becomes the baseline takes the mark from the other run.
  run->setCheckState(1, Qt::Checked);
  EXPECT_EQ(choice->currentItem(), run);
  EXPECT_EQ(run->checkState(1), Qt::Checked);
  EXPECT_EQ(first->checkState(1), Qt::Unchecked);
}

TEST_F(Comparing, CountsThePromptsThatARunIsFasterOn) {
  for (const RunAgainstBaseline& run : view_.model().comparison().runs) {
    if (run.is_baseline) {
      EXPECT_EQ(run.prompts, 0U);
      continue;
    }
    // A request of the sample may have no token.
    EXPECT_LE(run.prompts, 8U);
    EXPECT_LE(run.faster_prompts, run.prompts);
    if (run.prompts == 0) continue;
    const QString cell =
        view_.model()
            .index(static_cast<int>(&run - view_.model().comparison().runs.data()), ComparisonModel::faster)
            .data()
            .toString();
    EXPECT_EQ(cell.toStdString(), fmt::format("{} of {}", run.faster_prompts, run.prompts));
  }
  // Compared from the other side, the other prompts are the faster ones, since no two times are equal to the
  // nanosecond.
  const std::vector<ComparedRun> pair{view_.runs()[0], view_.runs()[1]};
  const RunsComparison there = compare(pair, 0);
  const RunsComparison back = compare(pair, 1);
  ASSERT_GT(there.runs[1].prompts, 1U);
  EXPECT_EQ(back.runs[0].prompts, there.runs[1].prompts);
  EXPECT_EQ(there.runs[1].faster_prompts + back.runs[0].faster_prompts, there.runs[1].prompts);
}

TEST_F(Comparing, SaysWhatPIsAndWhenTheIntervalSaysOtherwise) {
  const QString words =
      view_.model().headerData(ComparisonModel::significance, Qt::Horizontal, Qt::ToolTipRole).toString();
  EXPECT_THAT(words.toStdString(), testing::Not(testing::HasSubstr("equally fast")));
  EXPECT_THAT(words.toStdString(), testing::HasSubstr("as likely to be faster as slower"));

  const auto run = [](double low, double high, double p) {
    RunAgainstBaseline made;
    made.ratio = simulator::Speedup{.value = 1.0, .interval = simulator::Interval{low, high}};
    made.adjusted_p_value = p;
    return made;
  };
  EXPECT_TRUE(interval_and_p_disagree(run(0.77, 1.36, 0.04)));
  EXPECT_TRUE(interval_and_p_disagree(run(1.01, 1.36, 0.2)));
  EXPECT_FALSE(interval_and_p_disagree(run(0.77, 1.36, 0.2)));
  EXPECT_FALSE(interval_and_p_disagree(run(1.10, 1.36, 0.001)));
  EXPECT_FALSE(interval_and_p_disagree(run(0.70, 0.90, 0.001)));
  EXPECT_FALSE(interval_and_p_disagree(RunAgainstBaseline{}));
  EXPECT_EQ(figure_text(simulator::FigureFormat::p_value, 0.0043).toStdString(), "0.004");
  EXPECT_EQ(figure_text(simulator::FigureFormat::p_value, 6e-7).toStdString(), "< 0.001");
}

TEST_F(Comparing, ChartsAreNeverTooLowForTheNamesOfTheirAxes) {
  compare_three();
  for (ChartPlot* plot : view_.findChildren<ChartPlot*>()) {
    ASSERT_FALSE(plot->chart().empty()) << plot->accessibleName().toStdString();
    plot->resize(plot->width(), plot->minimumHeight());
    plot->replot();
    for (const QCPAxisRect* area : plot->axisRects()) {
      const QCPAxis* axis = area->axis(QCPAxis::atLeft);
      EXPECT_GE(area->height(), QFontMetrics(axis->labelFont()).horizontalAdvance(axis->label()))
          << axis->label().toStdString();
    }
  }
}

TEST_F(Comparing, TheForestHasAllRunsWithTheFastestOnTop) {
  const AllRuns& all = view_.all();
  ASSERT_GT(all.runs.size(), CompareView::max_runs) << "more than can be compared line by line";
  const auto gain = [](const RunStanding& run) { return run.is_baseline ? 1.0 : run.ratio->value; };
  EXPECT_TRUE(std::ranges::is_sorted(all.runs, std::greater<>(), gain));
  EXPECT_EQ(std::ranges::count_if(all.runs, &RunStanding::is_baseline), 1);
  const Chart chart = forest_chart(all, view_.runs());
  ASSERT_EQ(chart.table.rows.size(), all.runs.size());
  for (std::size_t run = 0; run < all.runs.size(); ++run)
    EXPECT_EQ(chart.table.rows[run][1].toDouble(), gain(all.runs[run]));
  // The chart has the same numbers as the table above, for the runs that are in both.
  for (const RunAgainstBaseline& compared : view_.model().comparison().runs)
    for (const RunStanding& standing : all.runs)
      if (standing.run == compared.run && compared.ratio) {
        EXPECT_EQ(standing.ratio->value, compared.ratio->value);
      }
}

TEST_F(Comparing, TheBaselineStaysWhenAnotherRecordingIsClosed) {
  const RecordingPointer many = window_.state().recording();
  compare_three();
  const RecordingPointer sample = window_.state().opened().back();
  view_.set_runs({{many, 0}, {sample, 1}, {sample, 0}}, 2);
  settle();
  window_.state().close({many});
  settle();
  ASSERT_EQ(view_.runs().size(), 2U);
  for (const RunAgainstBaseline& compared : view_.model().comparison().runs)
    EXPECT_EQ(compared.is_baseline, compared.run == (ComparedRun{sample, 0}));
}

TEST_F(Comparing, RecordingsOfOneNameAreToldApart) {
  const RecordingPointer many = window_.state().recording();
  std::vector<ComparedRun> runs{{many, 0}};
  for (const char* const folder : {"a", "b"}) {
    std::filesystem::create_directory(folder_ / folder);
    const std::filesystem::path file = folder_ / folder / "run.dstrace";
    traces::make_sample_file(file, {.runs = 2, .requests_per_run = 2});
    traces::change(file, fmt::format("INSERT OR REPLACE INTO meta VALUES ('hostname', 'node-{}')", folder));
    ASSERT_EQ(open(file), QString());
    runs.push_back({window_.state().opened().back(), 0});
  }
  EXPECT_EQ(compare(runs, 0).settings.size(), 2U);
}

TEST_F(Comparing, ABaselineAloneHasNoChart) {
  AllRuns alone = view_.all();
  std::erase_if(alone.runs, [](const RunStanding& run) { return !run.is_baseline; });
  EXPECT_TRUE(forest_chart(alone, view_.runs()).empty());
  EXPECT_TRUE(category_chart(alone).empty());
}

TEST_F(Comparing, EachColumnOfTheMatrixHasItsFastestMarked) {
  const Chart chart = category_chart(view_.all());
  ASSERT_EQ(chart.panels.size(), 1U);
  for (qsizetype column = 0; column < chart.x.names.size(); ++column) {
    double best = 0.0;
    std::vector<double> marked;
    for (const ChartCell& cell : chart.panels.front().cells) {
      if (cell.column != column || !cell.speedup) continue;
      best = std::max(best, *cell.speedup);
      if (cell.is_marked) marked.push_back(*cell.speedup);
      EXPECT_EQ(cell.is_uncertain, cell.is_marked && cell.words.contains(QStringLiteral("may be chance")))
          << "the mark tells it without the pointer";
    }
    EXPECT_THAT(marked, testing::ElementsAre(best)) << chart.x.names[column].toStdString();
  }
}

TEST_F(Comparing, AClickOnAPromptReplaysIt) {
  auto& pane = view_of<ChartPane>(window_, QStringLiteral("compare-prompts"));
  window_.show_view(pane);
  settle();
  ChartPlot& plot = pane.plot();
  ASSERT_FALSE(plot.chart().empty());
  const ChartSeries& series = plot.chart().panels[0].series[0];
  EXPECT_TRUE(std::ranges::is_sorted(series.y, std::greater<>()));
  QSignalSpy asked(&view_, &CompareView::request_asked);
  // Select the first point by keyboard, and then the point beside it.
  plot.setFocus();
  QTest::keyClick(&plot, Qt::Key_Right);
  QTest::keyClick(&plot, Qt::Key_Right);
  ASSERT_TRUE(plot.place());
  EXPECT_FALSE(plot.accessibleDescription().isEmpty());
  QTest::keyClick(&plot, Qt::Key_Return);
  ASSERT_EQ(asked.size(), 1);
  const RunStanding* standing = standing_of_series(view_.all(), view_.runs(), plot.place()->series);
  ASSERT_NE(standing, nullptr);
  EXPECT_EQ(window_.state().cursor().request_index, standing->by_prompt[plot.place()->point].request);
  EXPECT_EQ(window_.state().run(), standing->run.run);
  EXPECT_EQ(window_.pages().page_of(view_of<QWidget>(window_, QStringLiteral("replay"))),
            QStringLiteral("rounds"));
  EXPECT_TRUE(view_of<QWidget>(window_, QStringLiteral("replay")).isVisible());
}

}  // namespace
}  // namespace draftscope::gui
