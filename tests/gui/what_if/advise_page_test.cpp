// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the page of advice: the command line's answer, the settings around it, and where a row leads.
#include <draftscope/engine/tuning/policy.h>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <QApplication>
#include <QComboBox>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "advise/advice_text.h"
#include "advise/advise_view.h"
#include "what_if/questions/question_panel.h"
#include "what_if/questions/what_if_answer.h"
#include "what_if/what_if_view.h"
#include "what_if_window.h"
#include "window/main_window.h"
#include "window/view_pages.h"

namespace draftscope::gui {
namespace {

using AdviceReports = WhatIfRecordings;

TEST_F(AdviceReports, SayWhatTheCommandLineSays) {
  const auto path = write({.skill = 1.1});
  const auto report = advice_of(*train(path), {});
  ASSERT_TRUE(report) << report.error().message;
  const cli::CommandResult printed = cli::run_command({"advise", path.string(), "--json", "-q"});
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  const nlohmann::json said = nlohmann::json::parse(printed.out);
  const nlohmann::json& advice = said["advice"][0];
  EXPECT_EQ(advice["strategy"], report->advice.strategy);
  EXPECT_EQ(advice["verdict"], std::string(verdict_name(report->advice.verdict)));
  EXPECT_EQ(advice["considered"], report->advice.considered);
  EXPECT_EQ(advice["fastest"]["strategy"], report->advice.fastest);
  EXPECT_NEAR(advice["fastest"]["speedup"], report->advice.speedup, 1e-9);
  // The program accepts the command that the page shows.
  const std::string line = command_line_of(report->question, path.string());
  EXPECT_EQ(line, "draftscope advise '" + path.string() + "'");
}

TEST_F(AdviceReports, ListEachSettingOnceWithItsOwnAnswerAndTheFastestOnTop) {
  const TrainedPointer trained = train(write({.skill = 1.1}));
  const auto report = advice_of(*trained, {});
  ASSERT_TRUE(report) << report.error().message;
  std::set<std::string> names;
  double last = 1e9;
  for (const ListedSetting& listed : report->settings) {
    EXPECT_TRUE(names.insert(listed.asked.strategy).second) << listed.asked.strategy;
    if (!listed.asked.refusal.empty()) continue;
    EXPECT_LE(listed.asked.speedup, last);
    last = listed.asked.speedup;
    EXPECT_NEAR(1.0 + listed.relative, listed.asked.speedup / report->advice.speedup, 1e-12);
    // The what-if page gives the same answer to the question that the row leads to.
    const WhatIfAnswer answer = answer_of(*trained, question_about(*report, listed));
    ASSERT_EQ(answer.refusal, "") << listed.asked.strategy;
    EXPECT_EQ(answer.prediction.strategy, listed.asked.strategy);
    EXPECT_EQ(answer.prediction.speedup.lower(), listed.asked.speedup) << listed.asked.strategy;
  }
  EXPECT_TRUE(names.contains(report->advice.fastest));
  for (const std::string& recorded : trained->strategies()) EXPECT_TRUE(names.contains(recorded)) << recorded;
  for (const simulator::Neighbour& neighbour : report->advice.neighbours)
    EXPECT_TRUE(names.contains(neighbour.strategy));
}

TEST_F(AdviceReports, CurvesMeetTheSettingsThatTheyGoThrough) {
  const TrainedPointer trained = train(write({.skill = 1.1}));
  const auto report = advice_of(*trained, {.curves_of = "layerskip:exit=3,gamma=4"});
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->lengths.points.size(), static_cast<std::size_t>(longest_on_curve));
  ASSERT_EQ(report->thresholds.points.size(), 21U);
  EXPECT_EQ(report->lengths.of.exit, 3);
  // Every confidence is at least 0, so the threshold 0 stops no draft.
  const AskedSetting& unstopped = report->thresholds.points.front().asked;
  const AskedSetting& fixed = report->lengths.points[3].asked;
  EXPECT_NEAR(unstopped.mean_accepted_length, fixed.mean_accepted_length, 1e-9);
  EXPECT_NEAR(unstopped.speedup, fixed.speedup, 1e-9);
  for (const CurvePoint& point : report->lengths.points)
    EXPECT_LE(point.asked.mean_accepted_length, point.at + 1.0);
  for (const SettingCurve* curve : {&report->lengths, &report->thresholds}) {
    EXPECT_TRUE(std::ranges::is_sorted(curve->points, {}, &CurvePoint::at));
    const Chart chart = curve == &report->lengths ? length_chart(*curve) : threshold_chart(*curve);
    ASSERT_EQ(chart.panels.size(), 3U);
    EXPECT_EQ(chart.table.rows.size(), curve->points.size());
    for (const ChartPanel& panel : chart.panels)
      EXPECT_EQ(panel.series.front().x.size(), curve->points.size());
  }
}

TEST_F(AdviceReports, ConsiderWhatIsAskedForAlone) {
  const auto path = write({.skill = 1.1});
  const TrainedPointer trained = train(path);
  const auto exits = advice_of(*trained, {.considered = Considered::early_exits});
  ASSERT_TRUE(exits);
  EXPECT_TRUE(exits->advice.setting);
  EXPECT_THAT(advice_sentence(*exits).toStdString(), testing::HasSubstr("of early exits alone"));
  EXPECT_THAT(command_line_of(exits->question, "x"), testing::EndsWith(" --consider early-exits"));
  const cli::CommandResult printed =
      cli::run_command({"advise", path.string(), "--json", "-q", "--consider", "early-exits"});
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  const nlohmann::json said = nlohmann::json::parse(printed.out)["advice"][0];
  EXPECT_EQ(said["among"], "early-exits");
  EXPECT_EQ(said["fastest"]["strategy"], exits->advice.fastest);
  EXPECT_EQ(said["reason"], exits->advice.reason);
  const auto recorded = advice_of(*trained, {.considered = Considered::recorded_runs});
  ASSERT_TRUE(recorded);
  EXPECT_THAT(trained->strategies(), testing::Contains(recorded->advice.fastest));
  const auto besides = advice_of(*trained, {.strategies = {"layerskip:exit=2,gamma=40"}});
  ASSERT_TRUE(besides);
  const auto all = advice_of(*trained, {});
  EXPECT_EQ(besides->advice.considered, all->advice.considered + 1);
  EXPECT_THAT(command_line_of(besides->question, "x"),
              testing::HasSubstr("--strategy 'layerskip:exit=2,gamma=40'"));
  EXPECT_THAT(advice_of(*trained, {.strategies = {"nonsense"}}).error().message,
              testing::HasSubstr("nonsense"));
}

/// Numbers that stand in the sentence, the table and the facts at once.
void expect_one_number_for_each_thing(const AdviceReport& report) {
  const simulator::Advice& advice = report.advice;
  const auto row_of = [&](const std::string& strategy) {
    const auto found = std::ranges::find(report.settings, strategy,
                                         [](const ListedSetting& of) { return of.asked.strategy; });
    EXPECT_NE(found, report.settings.end()) << strategy;
    return found;
  };
  constexpr double exact = 1e-9;
  const auto fastest = row_of(advice.fastest);
  EXPECT_NEAR(fastest->asked.speedup, advice.speedup, exact);
  EXPECT_EQ(fastest->asked.interval_95.has_value(), advice.interval_95.has_value());
  if (advice.interval_95) {
    EXPECT_NEAR(fastest->asked.interval_95->low, advice.interval_95->low, exact);
    EXPECT_NEAR(fastest->asked.interval_95->high, advice.interval_95->high, exact);
    EXPECT_LE(advice.held_out.speedup.value, advice.interval_95->high);
  }
  EXPECT_NEAR(fastest->asked.mean_accepted_length, advice.answer.mean_accepted_length, exact);
  EXPECT_NEAR(fastest->asked.acceptance_rate, advice.answer.acceptance_rate, exact);
  if (advice.runner_up) {
    EXPECT_LE(advice.runner_up->speedup, advice.speedup + exact);
    EXPECT_NEAR(row_of(advice.runner_up->strategy)->asked.speedup, advice.runner_up->speedup, exact);
  }
  for (const simulator::Neighbour& neighbour : advice.neighbours)
    EXPECT_NEAR(row_of(neighbour.strategy)->relative, neighbour.relative, exact) << neighbour.strategy;
  for (const simulator::RankedCandidate& ranked : advice.ranking) {
    const auto row = std::ranges::find(report.settings, ranked.strategy,
                                       [](const ListedSetting& of) { return of.asked.strategy; });
    if (row == report.settings.end() || !row->asked.refusal.empty()) continue;
    EXPECT_NEAR(row->asked.speedup, ranked.speedup, exact) << ranked.strategy;
    EXPECT_LE(row->asked.speedup, advice.speedup + exact) << ranked.strategy;
    EXPECT_FALSE(row->is_outside) << ranked.strategy;
  }
  EXPECT_TRUE(std::ranges::is_partitioned(report.settings, std::not_fn(&ListedSetting::is_outside)));
}

TEST_F(AdviceReports, HaveOneNumberForEachThing) {
  const std::filesystem::path samples = std::filesystem::path(DRAFTSCOPE_SOURCE_DIR) / "traces/samples";
  for (const std::filesystem::path& file :
       {samples / "early-exit.dstrace", samples / "h200-smollm2-graph.dstrace", write({.skill = 1.1})}) {
    const TrainedPointer trained = train(file);
    for (const Question& machine :
         {Question{},
          Question{.gpu = "RTX 4090", .model = "Llama-3-8B", .weights = simulator::WeightType::fp8}})
      for (const Considered considered : simulator::all_considered) {
        SCOPED_TRACE(
            fmt::format("{} {} {}", file.filename().string(), machine.gpu, considered_name(considered)));
        const auto report = advice_of(*trained, {.machine = machine, .considered = considered});
        if (report) expect_one_number_for_each_thing(*report);
      }
  }
}

TEST_F(AdviceReports, AreStoppedWhenToldToAndTellHowFarTheyAre) {
  const TrainedPointer trained = train(write({.skill = 1.1}));
  std::vector<int> told;
  ASSERT_TRUE(advice_of(*trained, {}, [&](int thousandths) {
    told.push_back(thousandths);
    return true;
  }));
  EXPECT_TRUE(std::ranges::is_sorted(told));
  EXPECT_EQ(told.back(), 1000);
  for (const int stop : {100, 850, 950}) {
    int last = 0;
    const auto stopped = advice_of(*trained, {}, [&](int thousandths) {
      last = thousandths;
      return thousandths < stop;
    });
    ASSERT_FALSE(stopped) << stop;
    EXPECT_GE(last, stop);
    EXPECT_LT(last, 1000);
  }
}

TEST_F(AdviceReports, RefuseInOneLine) {
  const auto imported = advice_of(*train(import_answers({})), {});
  ASSERT_FALSE(imported);
  EXPECT_THAT(imported.error().message, testing::HasSubstr("imported"));
  const auto alone = advice_of(*train(write({.strategies = {"vanilla"}}, "alone.dstrace")),
                               {.considered = Considered::recorded_runs});
  ASSERT_FALSE(alone);
  EXPECT_EQ(alone.error().message.find('\n'), std::string::npos);
}

class AdvisePage : public WhatIfWindow<AdviseView> {};

TEST_F(AdvisePage, AdvisesWhenItIsSeenAndLearnsOnceForBothPages) {
  auto& what_if = *window_.findChild<WhatIfView*>();
  QSignalSpy trained(&what_if.worker(), &WhatIfWorker::trained_on);
  open(write({.skill = 1.1}));
  EXPECT_EQ(page().report(), nullptr);
  raise();
  wait_until_settled();
  ASSERT_NE(page().report(), nullptr);
  EXPECT_TRUE(page().sentence().contains(QString::fromStdString(page().report()->advice.strategy)));
  EXPECT_EQ(page().findChild<QTableView*>()->model()->rowCount(),
            static_cast<int>(page().report()->settings.size()));
  EXPECT_EQ(what_if.answer(), nullptr) << "nobody asked that page";
  window_.show_view(what_if);
  EXPECT_TRUE(
      QTest::qWaitFor([&] { return what_if.is_settled() && what_if.answer() != nullptr; }, patience_ms));
  EXPECT_EQ(trained.size(), 1);
}

TEST_F(AdvisePage, ARowLeadsToWhatIfWithThatSetting) {
  show(write({.skill = 1.1}));
  auto& what_if = *window_.findChild<WhatIfView*>();
  auto* table = page().findChild<QTableView*>();
  for (int row = 0; row < table->model()->rowCount(); row += 3) {
    window_.show_view(page());
    table->selectRow(row);
    const std::string strategy = table->model()->index(row, 0).data().toString().toStdString();
    table->setFocus();
    QTest::keyClick(table, Qt::Key_Return);
    EXPECT_TRUE(what_if.isVisible());
    EXPECT_TRUE(
        QTest::qWaitFor([&] { return what_if.is_settled() && what_if.answer() != nullptr; }, patience_ms));
    EXPECT_EQ(what_if.answer()->prediction.strategy, strategy);
  }
}

TEST_F(AdvisePage, SaysWhyThereIsNoCurve) {
  show(std::filesystem::path(DRAFTSCOPE_SOURCE_DIR) / "traces/samples/h200-smollm2-graph.dstrace");
  ASSERT_NE(page().report(), nullptr);
  EXPECT_TRUE(is_said(page(), "No curve: no early exit was considered."));
}

TEST_F(AdvisePage, KnowsTheRecordedGpuAndLearnsAnewForAnother) {
  show(std::filesystem::path(DRAFTSCOPE_SOURCE_DIR) / "traces/samples/h200-smollm2-graph.dstrace");
  auto* recorded = control<QComboBox>("The GPU of the recording");
  ASSERT_NE(recorded, nullptr);
  EXPECT_TRUE(recorded->isVisible());
  EXPECT_TRUE(recorded->currentText().contains(QStringLiteral("H200-SXM5-141GB")));
  AdviceQuestion question = page().question();
  EXPECT_EQ(question.machine.recorded_gpu, "");
  question.machine.recorded_gpu = "A100-SXM4-80GB";
  question.machine.batch = 2;
  page().set_question(question);
  wait_until_settled();
  ASSERT_NE(page().report(), nullptr);
  EXPECT_TRUE(page().report()->question.machine == question.machine);
  EXPECT_EQ(window_.findChild<WhatIfView*>()->worker().trained()->recorded_gpu(), "A100-SXM4-80GB");
}

TEST_F(AdvisePage, AsksAnewForAnotherMachineAndCanBeStopped) {
  show(write({.prompts = 40, .tokens = 200, .skill = 1.1}));
  AdviceQuestion question = page().question();
  question.machine.batch = 64;
  page().set_question(question);
  EXPECT_EQ(page().report(), nullptr) << "nothing old beside a new question";
  button("Cancel").click();
  EXPECT_TRUE(page().is_settled());
  EXPECT_TRUE(page().sentence().contains(QStringLiteral("stopped")));
  button("Advise").click();
  wait_until_settled();
  ASSERT_NE(page().report(), nullptr);
  EXPECT_EQ(page().report()->question.machine.batch, 64) << "the choices stay";
  EXPECT_EQ(page().report()->machine.scenario.batch, 64);
}

TEST_F(AdvisePage, WritesAPolicyThatTheEngineAccepts) {
  open(write({.skill = 1.1}));
  raise();
  EXPECT_FALSE(page().write_policy(QStringLiteral("early.json")));
  wait_until_settled();
  ASSERT_EQ(page().report()->advice.verdict, simulator::Verdict::speculate);
  const std::filesystem::path file = folder_ / "policy.json";
  ASSERT_TRUE(page().write_policy(QString::fromStdString(file.string())));
  const auto policy = engine::read_policy(file);
  ASSERT_TRUE(policy) << policy.error().message;
  EXPECT_EQ(policy->strategy, page().report()->advice.strategy);
}

TEST_F(AdvisePage, SaysInALineWhatToRecordInstead) {
  show(write({.strategies = {"layerskip:exit=3,gamma=4"}}, "alone.dstrace"));
  EXPECT_TRUE(page().sentence().contains(QStringLiteral("--strategy vanilla")));
  EXPECT_FALSE(button("Write policy…").isEnabled());
  show(import_answers({}));
  EXPECT_TRUE(page().sentence().contains(QStringLiteral("imported")));
}

}  // namespace
}  // namespace draftscope::gui
