// SPDX-License-Identifier: GPL-3.0-or-later
// Tests models without a window: Qt's model tester checks every change, and the values are those that
// `draftscope report` prints.
#include <draftscope/simulator/analysis/figure.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <QAbstractItemModelTester>
#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <string_view>

#include "charts/table_file.h"
#include "data/of_sample.h"
#include "models/column_text.h"
#include "models/comparison_model.h"
#include "models/rounds_model.h"
#include "models/runs_model.h"
#include "report/report_json.h"

namespace draftscope::gui {
namespace {

class Models : public OfSample {
 protected:
  void SetUp() override { open({.runs = 3, .requests_per_run = 6, .max_rounds = 60}); }
};

std::vector<double> column(const QAbstractItemModel& model, int section, int role) {
  std::vector<double> values;
  for (int row = 0; row < model.rowCount(); ++row)
    values.push_back(model.index(row, section).data(role).toDouble());
  return values;
}

TEST(FigureTexts, SayThatARatioIsTooSmallToMatter) {
  const auto text = [](double value) {
    return figure_text(simulator::FigureFormat::ratio, value).toStdString();
  };
  EXPECT_EQ(text(0.0000275), "< 0.001");
  EXPECT_EQ(text(-0.0000275), "> −0.001");
  EXPECT_EQ(text(0.0), "0");
  EXPECT_EQ(text(0.312), "0.312");
  EXPECT_EQ(simulator::measured_figure("draft_cost").format, simulator::FigureFormat::ratio);
}

TEST_F(Models, OfRoundsSortByTheirRawValuesAndFilter) {
  RoundsModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.set_run(opened_, 1);
  const auto count = static_cast<int>(opened_->runs()[1].rounds.size());
  EXPECT_EQ(model.rowCount(), count);
  for (const char* key : {"round_ns", "accepted_tokens", "draft_ns"}) {
    const int section = RoundsModel::column_of(key);
    model.sort(section, Qt::DescendingOrder);
    const std::vector<double> values = column(model, section, RoundsModel::value_role);
    EXPECT_TRUE(std::is_sorted(values.rbegin(), values.rend()));
    for (int row = 0; row < model.rowCount(); ++row)
      EXPECT_EQ(model.row_of_round(model.round_of_row(row)), row);
  }
  const QString category =
      QString::fromStdString(opened_->prompt_of(opened_->request_of(opened_->runs()[1].rounds[0]))->category);
  model.set_filter(category.toUpper());
  EXPECT_GT(model.rowCount(), 0);
  EXPECT_LT(model.rowCount(), count);
  for (int row = 0; row < model.rowCount(); ++row)
    EXPECT_EQ(model.index(row, RoundsModel::column_of("category")).data().toString(), category);
  model.set_filter(QStringLiteral("nothing is called this"));
  EXPECT_EQ(model.rowCount(), 0);
  EXPECT_EQ(model.row_of_round(opened_->runs()[1].rounds[0]), -1);
  model.set_filter({});
  model.set_run(nullptr, 0);
  EXPECT_EQ(model.rowCount(), 0);
}

TEST_F(Models, OfRoundsGiveFilesNumbersAndTextsAndNothingForADash) {
  RoundsModel model;
  for (std::size_t run = 0; run < opened_->runs().size(); ++run) {
    model.set_run(opened_, run);
    const ChartTable table = raw_table(model);
    for (const char* key : {"round_ns", "request", "category", "exit_layer", "threshold"}) {
      const int section = RoundsModel::column_of(key);
      const QVariant& written = table.rows.front()[static_cast<std::size_t>(section)];
      const QString shown = model.index(0, section).data().toString();
      const bool is_text = key == std::string_view("request") || key == std::string_view("category");
      if (shown == QStringLiteral("–"))
        EXPECT_FALSE(written.isValid()) << run << key;
      else if (is_text)
        EXPECT_EQ(written, QVariant(shown)) << run << key;
      else
        EXPECT_EQ(written.typeId(), QMetaType::Double) << run << key;
    }
  }
}

TEST_F(Models, OfRoundsSortTextsByTheAlphabetAndRequestsByTheirQuestions) {
  RoundsModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.set_run(opened_, 1);
  for (const char* sorted_by : {"category", "draft_stop"}) {
    const int section = RoundsModel::column_of(sorted_by);
    for (const Qt::SortOrder order : {Qt::AscendingOrder, Qt::DescendingOrder}) {
      model.sort(section, order);
      for (int row = 1; row < model.rowCount(); ++row) {
        const QString before = model.index(row - 1, section).data().toString();
        const QString text = model.index(row, section).data().toString();
        EXPECT_TRUE(order == Qt::AscendingOrder ? before <= text : text <= before);
        // Rows with equal values stay in the order of the run.
        if (before == text) {
          EXPECT_LT(opened_->place_in_run(model.round_of_row(row - 1)),
                    opened_->place_in_run(model.round_of_row(row)));
        }
      }
    }
  }
  model.sort(RoundsModel::column_of("request"), Qt::AscendingOrder);
  const auto key = [&](int row) {
    const traces::Request& request = opened_->request_of(model.round_of_row(row));
    return std::pair(opened_->prompt_of(request)->question_id, request.repeat);
  };
  for (int row = 1; row < model.rowCount(); ++row) EXPECT_LE(key(row - 1), key(row));
}

/// Value of a figure in a run of the report's JSON; null where the enclosing object is null.
nlohmann::json printed(const nlohmann::json& run, const std::string& key) {
  const std::size_t dot = key.find('.');
  if (dot == std::string::npos) return run.at(key);
  const nlohmann::json& object = run.at(key.substr(0, dot));
  return object.is_null() ? object : object.at(key.substr(dot + 1));
}

TEST_F(Models, OfRunsShowWhatTheReportPrints) {
  RunsModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.set_recording(opened_);
  const auto measured = simulator::measure_recording(path_);
  ASSERT_TRUE(measured) << measured.error().message;
  const auto report = nlohmann::json::parse(cli::report_json(*measured, false));
  ASSERT_EQ(model.rowCount(), static_cast<int>(report.at("runs").size()));
  for (int row = 0; row < model.rowCount(); ++row) {
    const nlohmann::json& run = report.at("runs").at(static_cast<std::size_t>(row));
    EXPECT_EQ(model.index(row, RunsModel::run).data().toString().toStdString(),
              run.at("specification").get<std::string>());
    int compared = 0;
    for (const simulator::MeasuredFigure& figure : simulator::measured_figures()) {
      const int section = RunsModel::column_of(figure.key);
      if (section < 0) continue;
      const nlohmann::json value = printed(run, figure.key);
      const QVariant shown = model.index(row, section).data(RunsModel::value_role);
      if (value.is_number()) {
        EXPECT_DOUBLE_EQ(shown.toDouble(), value.get<double>()) << figure.key;
        ++compared;
      } else if (value.is_null()) {
        EXPECT_TRUE(shown.isNull()) << figure.key;
      }
    }
    EXPECT_GT(compared, 30);
  }
}

TEST_F(Models, OfRunsHaveEveryFigureOfTheCatalogueUnderItsTitle) {
  const RunsModel model;
  for (const simulator::MeasuredFigure& figure : simulator::measured_figures()) {
    const int section = RunsModel::column_of(figure.key);
    EXPECT_EQ(section < 0, figure.format == simulator::FigureFormat::list) << figure.key;
    if (section < 0) continue;
    // In the command's table this title stands beside "acceptance"; here it stands alone.
    EXPECT_EQ(model.headerData(section, Qt::Horizontal, Qt::DisplayRole).toString().toStdString(),
              figure.key == "step_acceptance" ? "accepted per step" : figure.title);
    EXPECT_FALSE(model.headerData(section, Qt::Horizontal, Qt::ToolTipRole).toString().isEmpty())
        << figure.key;
  }
  int section = 1;
  for (const std::string_view key : simulator::figure_table(simulator::FigureTable::app))
    EXPECT_EQ(RunsModel::column_of(key), section++) << key;
  EXPECT_EQ(RunsModel::shown_columns(), section);
  EXPECT_EQ(RunsModel::phases_column(), model.columnCount() - 2);
  EXPECT_EQ(RunsModel::rows_column(), model.columnCount() - 1);
}

TEST_F(Models, OfRunsShowTheRowsOfARoundAndTheSharesOfPhases) {
  RunsModel model;
  model.set_recording(opened_);
  for (int row = 0; row < model.rowCount(); ++row) {
    double rows = 0.0;
    const auto& rounds = opened_->runs()[static_cast<std::size_t>(row)].rounds;
    for (const std::uint32_t round_index : rounds) rows += opened_->round(round_index).verify_rows;
    EXPECT_DOUBLE_EQ(model.index(row, RunsModel::rows_column()).data(RunsModel::value_role).toDouble(),
                     rows / static_cast<double>(rounds.size()));
    const QModelIndex phases = model.index(row, RunsModel::phases_column());
    EXPECT_EQ(phases.data(RunsModel::value_role).toDouble(),
              static_cast<double>(model.figures(row)->throughput.wall_ns));
    EXPECT_TRUE(phases.data().toString().contains(QStringLiteral("verify ")));
  }
}

TEST_F(Models, OfRoundsHaveEveryColumnOfTheCatalogueUnderItsTitle) {
  RoundsModel model;
  model.set_run(opened_, 1);
  const auto catalogue = simulator::round_columns();
  ASSERT_EQ(model.columnCount(), static_cast<int>(catalogue.size()));
  EXPECT_EQ(RoundsModel::column_of("round"), RoundsModel::place);
  for (int section = 0; section < model.columnCount(); ++section) {
    const simulator::RoundColumn& column = catalogue[static_cast<std::size_t>(section)];
    EXPECT_EQ(RoundsModel::column_of(column.key), section) << column.key;
    EXPECT_EQ(model.headerData(section, Qt::Horizontal, Qt::DisplayRole).toString().toStdString(),
              column.title);
    EXPECT_EQ(model.headerData(section, Qt::Horizontal, Qt::ToolTipRole).toString().toStdString(),
              column.explanation);
    EXPECT_FALSE(model.index(0, section).data().toString().isEmpty()) << column.key;
  }
}

TEST_F(Models, OfComparisonsShowTheRatioToTheBaseline) {
  ComparisonModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  std::vector<ComparedRun> runs;
  for (std::size_t run = 0; run < opened_->runs().size(); ++run) runs.push_back({opened_, run});
  model.set_comparison(compare(runs, 0));
  ASSERT_EQ(model.rowCount(), 3);
  // Compared with the vanilla run of the same recording, the ratio is the speedup.
  std::vector<double> speedups;
  std::vector<double> shown;
  for (int row = 1; row < 3; ++row) {
    speedups.push_back(
        opened_->measured().figures.runs[static_cast<std::size_t>(row)].all.speedup.value().value);
    shown.push_back(model.index(row, ComparisonModel::ratio).data(ComparisonModel::value_role).toDouble());
  }
  std::ranges::sort(speedups, std::greater<>());
  EXPECT_THAT(shown, testing::Pointwise(testing::DoubleEq(), speedups)) << "the fastest first";
  model.set_comparison({});
  EXPECT_EQ(model.rowCount(), 0);
}

}  // namespace
}  // namespace draftscope::gui
