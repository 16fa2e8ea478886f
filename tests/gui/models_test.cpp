// SPDX-License-Identifier: GPL-3.0-or-later
// Models without a window: Qt's own tester watches every change, and what they show is what `draftscope
// report` prints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <QAbstractItemModelTester>
#include <nlohmann/json.hpp>

#include "models/comparison_model.h"
#include "models/rounds_model.h"
#include "models/runs_model.h"
#include "report/report_json.h"
#include "sample.h"

namespace draftscope::gui {
namespace {

class Models : public testing::Test {
 protected:
  void SetUp() override {
    traces::make_sample_file(folder_ / "sample.dstrace",
                             {.runs = 3, .requests_per_run = 6, .max_rounds = 60});
    auto opened = OpenedRecording::open(folder_ / "sample.dstrace");
    ASSERT_TRUE(opened) << opened.error().message;
    opened_ = *opened;
  }

  traces::TestFolder folder_;
  RecordingPointer opened_;
};

std::vector<double> column(const QAbstractItemModel& model, int section, int role) {
  std::vector<double> values;
  for (int row = 0; row < model.rowCount(); ++row)
    values.push_back(model.index(row, section).data(role).toDouble());
  return values;
}

TEST_F(Models, OfRoundsSortByTheirRawValuesAndFilter) {
  RoundsModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.set_run(opened_, 1);
  const auto count = static_cast<int>(opened_->runs()[1].rounds.size());
  EXPECT_EQ(model.rowCount(), count);
  for (const int section : {RoundsModel::duration, RoundsModel::accepted, RoundsModel::draft_time}) {
    model.sort(section, Qt::DescendingOrder);
    const std::vector<double> values = column(model, section, RoundsModel::sort_role);
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
    EXPECT_EQ(model.index(row, RoundsModel::category).data().toString(), category);
  model.set_filter(QStringLiteral("nothing is called this"));
  EXPECT_EQ(model.rowCount(), 0);
  EXPECT_EQ(model.row_of_round(opened_->runs()[1].rounds[0]), -1);
  model.set_filter({});
  model.set_run(nullptr, 0);
  EXPECT_EQ(model.rowCount(), 0);
}

TEST_F(Models, OfRoundsSortTextsByTheAlphabetAndRequestsByTheirQuestions) {
  RoundsModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.set_run(opened_, 1);
  for (const int section : {RoundsModel::category, RoundsModel::stop}) {
    for (const Qt::SortOrder order : {Qt::AscendingOrder, Qt::DescendingOrder}) {
      model.sort(section, order);
      for (int row = 1; row < model.rowCount(); ++row) {
        const QString before = model.index(row - 1, section).data().toString();
        const QString text = model.index(row, section).data().toString();
        EXPECT_TRUE(order == Qt::AscendingOrder ? before <= text : text <= before);
        // Equal ones stay in the order of the run.
        if (before == text) {
          EXPECT_LT(opened_->place_in_run(model.round_of_row(row - 1)),
                    opened_->place_in_run(model.round_of_row(row)));
        }
      }
    }
  }
  model.sort(RoundsModel::request, Qt::AscendingOrder);
  const auto key = [&](int row) {
    const traces::Request& request = opened_->request_of(model.round_of_row(row));
    return std::pair(opened_->prompt_of(request)->question_id, request.repeat);
  };
  for (int row = 1; row < model.rowCount(); ++row) EXPECT_LE(key(row - 1), key(row));
}

TEST_F(Models, OfRunsShowWhatTheReportPrints) {
  RunsModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.set_recording(opened_);
  const auto measured = simulator::measure_recording(folder_ / "sample.dstrace");
  ASSERT_TRUE(measured) << measured.error().message;
  const auto report = nlohmann::json::parse(cli::report_json(*measured, false));
  ASSERT_EQ(model.rowCount(), static_cast<int>(report.at("runs").size()));
  for (int row = 0; row < model.rowCount(); ++row) {
    const nlohmann::json& run = report.at("runs").at(static_cast<std::size_t>(row));
    EXPECT_EQ(model.index(row, RunsModel::run).data().toString().toStdString(), run.at("specification"));
    const auto expect_same = [&](int section, const nlohmann::json& value) {
      const QVariant shown = model.index(row, section).data(RunsModel::value_role);
      EXPECT_EQ(shown.isNull(), value.is_null()) << section;
      if (!value.is_null()) {
        EXPECT_DOUBLE_EQ(shown.toDouble(), value.get<double>()) << section;
      }
    };
    expect_same(RunsModel::requests, run.at("requests"));
    expect_same(RunsModel::tokens, run.at("output_tokens"));
    expect_same(RunsModel::tokens_per_second, run.at("tokens_per_second"));
    expect_same(RunsModel::mean_accepted_length, run.at("mean_accepted_length"));
    expect_same(RunsModel::acceptance_rate, run.at("acceptance_rate"));
    expect_same(RunsModel::draft_cost, run.at("draft_cost_coefficient"));
    const QVariant tpt = model.index(row, RunsModel::tpt).data(RunsModel::value_role);
    if (!tpt.isNull()) {
      const auto figure = [&](int section) {
        return model.index(row, section).data(RunsModel::value_role).toDouble();
      };
      const double round = figure(RunsModel::steps_per_round) * figure(RunsModel::draft_cost) +
                           figure(RunsModel::verify_cost) + figure(RunsModel::overhead_cost);
      EXPECT_NEAR(tpt.toDouble() * round, figure(RunsModel::mean_accepted_length), 1e-9);
    }
    if (run.at("speedup").is_object()) expect_same(RunsModel::speedup, run.at("speedup").at("value"));
  }
}

TEST_F(Models, OfComparisonsShowTheRatioToTheBaseline) {
  ComparisonModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  std::vector<ComparedRun> runs;
  for (std::size_t run = 0; run < opened_->runs().size(); ++run) runs.push_back({opened_, run});
  model.set_comparison(compare(runs, 0));
  ASSERT_EQ(model.rowCount(), 3);
  // Against the vanilla run of the same recording the ratio is the speedup.
  for (int row = 1; row < 3; ++row) {
    const auto& speedup = opened_->measured().figures.runs[static_cast<std::size_t>(row)].all.speedup;
    const QVariant shown = model.index(row, ComparisonModel::ratio).data(ComparisonModel::value_role);
    ASSERT_EQ(shown.isNull(), !speedup);
    if (speedup) {
      EXPECT_DOUBLE_EQ(shown.toDouble(), speedup->value);
    }
  }
  model.set_comparison({});
  EXPECT_EQ(model.rowCount(), 0);
}

}  // namespace
}  // namespace draftscope::gui
