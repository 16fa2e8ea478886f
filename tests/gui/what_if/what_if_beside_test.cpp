// SPDX-License-Identifier: GPL-3.0-or-later
// Tests what is shown beside a prediction: measured values, pinned scenarios, all GPUs, and the boxes that
// name machines.
#include <gmock/gmock.h>

#include <QApplication>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QSlider>
#include <QTableView>
#include <QTest>

#include "charts/chart_plot.h"
#include "what_if/answer_bars.h"
#include "what_if/answer_panel.h"
#include "what_if/gpus_pane.h"
#include "what_if/pictures/picture_pane.h"
#include "what_if/questions/question_panel.h"
#include "what_if/questions/what_if_answer.h"
#include "what_if/scenarios_pane.h"
#include "what_if/what_if_view.h"
#include "what_if_window.h"
#include "window/main_window.h"

namespace draftscope::gui {
namespace {

using testing::HasSubstr;

using MeasuredBeside = WhatIfRecordings;

Question recorded_question() {
  return {.kind = StrategyKind::recorded, .recorded = "layerskip:exit=3,gamma=4"};
}

TEST_F(MeasuredBeside, StandsBesideThatVeryRunAndNothingElse) {
  const TrainedPointer trained = train(write());
  const WhatIfAnswer answer = answer_of(*trained, recorded_question());
  ASSERT_TRUE(answer.beside);
  EXPECT_EQ(answer.beside->run.strategy, "layerskip:exit=3,gamma=4");
  Question elsewhere = recorded_question();
  elsewhere.gpu = simulator::known_gpus().front().name;
  Question batch = recorded_question();
  batch.batch = 2;
  Question longer = recorded_question();
  longer.longer_context = 64;
  Question other{.kind = StrategyKind::fixed_length, .exit = 2, .gamma = 3};
  for (const Question& question : {elsewhere, batch, longer, other})
    EXPECT_FALSE(answer_of(*trained, question).beside);
}

TEST_F(MeasuredBeside, EveryGpuHasTheAnswerThatItHasAlone) {
  const TrainedPointer trained = train(write());
  Question question{.kind = StrategyKind::fixed_length, .exit = 3, .gamma = 4};
  question.model = "Llama-3-70B";
  const std::vector<GpuAnswer> all = on_all_gpus(*trained, question);
  ASSERT_EQ(all.size(), simulator::known_gpus().size());
  bool is_refused = false;
  double last = 1e9;
  for (const GpuAnswer& of : all) {
    question.gpu = of.gpu;
    const WhatIfAnswer alone = answer_of(*trained, question);
    EXPECT_EQ(of.refusal, alone.refusal) << of.gpu;
    // GPUs without an answer come last.
    EXPECT_TRUE(!is_refused || !of.refusal.empty());
    is_refused = !of.refusal.empty();
    if (is_refused) continue;
    EXPECT_LE(of.speedup, last);
    last = of.speedup;
    EXPECT_DOUBLE_EQ(of.tokens_per_second, alone.prediction.rate.lower());
    EXPECT_NEAR(of.tokens_per_second / of.vanilla_tokens_per_second, of.speedup, 1e-6);
    EXPECT_NE(of.fits(), std::optional(false)) << "what does not fit has no answer: " << of.gpu;
  }
  EXPECT_TRUE(is_refused) << "this model is too large for some";
  int asked = 0;
  EXPECT_TRUE(on_all_gpus(*trained, question, [&] { return ++asked < 3; }).empty());
  EXPECT_EQ(asked, 3);
}

class BesidePage : public WhatIfWindow<WhatIfView> {
 protected:
  void SetUp() override {
    WhatIfWindow::SetUp();
    open(write());
    raise();
    wait_until_settled();
  }
  void click(const char* words) { button(words).click(); }
};

TEST_F(BesidePage, TheAxesStayWhileTheSlidersMove) {
  auto& bars = *page().findChild<AnswerBars*>();
  const auto scale_limit = [&] { return page().panes().front().pane->plot().chart().scale_limit; };
  (void)bars.grab();
  EXPECT_THAT(page().answer_panel().beside_text().toStdString(), HasSubstr("Measured"));
  const auto ends = bars.ends();
  const double limit = scale_limit();
  EXPECT_GT(ends[1], 0.0);
  EXPECT_GE(limit, 1.0);
  control<QComboBox>("Strategy")->setCurrentIndex(0);
  for (const int gamma : {2, 3, 5}) {
    control<QSlider>("Draft length, slider")->setValue(gamma);
    wait_until_settled();
    (void)bars.grab();
    EXPECT_EQ(page().answer_panel().beside_text(), QString()) << "this was not recorded";
    EXPECT_EQ(bars.ends(), ends);
    EXPECT_EQ(scale_limit(), limit);
  }
  control<QComboBox>("GPU")->setCurrentIndex(3);
  wait_until_settled();
  EXPECT_GE(scale_limit(), limit) << "it only grows";
}

TEST_F(BesidePage, ScenariosStandSideBySideAndLeadBack) {
  ScenariosPane& scenarios = page().scenarios();
  const Question first = page().question().question();
  click("Pin it");
  control<QComboBox>("GPU")->setCurrentIndex(3);
  wait_until_settled();
  click("Pin it");
  control<QSlider>("Requests decoded together, slider")->setValue(2);
  wait_until_settled();
  ASSERT_EQ(scenarios.pinned().size(), 2U);
  EXPECT_EQ(scenarios.pinned()[0].name, QStringLiteral("A"));
  EXPECT_EQ(scenarios.pinned()[1].name, QStringLiteral("B"));
  auto* table = scenarios.findChild<QTableView*>();
  ASSERT_EQ(table->model()->rowCount(), 3) << "A, B and what is asked now";
  EXPECT_EQ(table->model()->index(0, 3).data(Qt::UserRole).toDouble(),
            scenarios.pinned()[0].answer->prediction.speedup.min_drafted.value);
  window_.show_view(scenarios);
  table->selectRow(0);
  table->setFocus();
  QTest::keyClick(table, Qt::Key_Return);
  wait_until_settled();
  EXPECT_EQ(page().answer()->question, first);
  click("Unpin it");
  EXPECT_EQ(scenarios.pinned().size(), 1U);
  EXPECT_EQ(scenarios.pinned()[0].name, QStringLiteral("B"));
  click("Pin it");
  EXPECT_EQ(scenarios.pinned()[0].name, QStringLiteral("A")) << "the free letter";
}

TEST_F(BesidePage, AGpuOfTheListCanBeChosen) {
  GpusPane& gpus = page().gpus();
  QSignalSpy answered(&gpus, &GpusPane::answered);
  window_.show_view(gpus);
  (void)gpus.grab();
  ASSERT_TRUE(answered.count() > 0 || answered.wait(patience_ms));
  ASSERT_FALSE(gpus.answers().empty());
  auto* table = gpus.findChild<QTableView*>();
  table->selectRow(1);
  table->setFocus();
  QTest::keyClick(table, Qt::Key_Return);
  wait_until_settled();
  EXPECT_EQ(page().answer()->question.gpu, gpus.answers()[1].gpu);
}

TEST_F(BesidePage, BoxesFindWhatIsTyped) {
  auto* gpu = control<QComboBox>("GPU");
  const std::string wanted = simulator::known_gpus().back().name;
  gpu->setFocus();
  gpu->lineEdit()->setText(QString::fromStdString(wanted).toLower());
  QTest::keyClick(gpu->lineEdit(), Qt::Key_Return);
  wait_until_settled();
  EXPECT_EQ(page().answer()->question.gpu, wanted);
  gpu->lineEdit()->setText(QStringLiteral("no such thing"));
  QTest::keyClick(gpu->lineEdit(), Qt::Key_Return);
  EXPECT_EQ(gpu->currentText().toStdString(), wanted) << "what was chosen stays";
  EXPECT_EQ(page().question().question().gpu, wanted);
}

TEST_F(BesidePage, ABoxNamesTheRecordedProcessorShortlyAndItsTipNamesItWhole) {
  open(std::filesystem::path(DRAFTSCOPE_SOURCE_DIR) / "traces/samples/early-exit.dstrace");
  raise();
  wait_until_settled();
  auto* gpu = control<QComboBox>("GPU");
  EXPECT_EQ(gpu->currentText(), QStringLiteral("Intel Xeon (recorded)"));
  EXPECT_EQ(gpu->lineEdit()->cursorPosition(), 0) << "a name that is cut shows its beginning";
  for (const int place : {3, 0}) gpu->setCurrentIndex(place);
  EXPECT_EQ(gpu->toolTip(), QStringLiteral("Intel(R) Xeon(R) Processor"));
}

TEST_F(BesidePage, HostAndDraftCostAreAsked) {
  control<QComboBox>("GPU")->setCurrentIndex(3);
  auto* host = control<QComboBox>("What the engine takes beside passes");
  host->setCurrentIndex(host->findText(QStringLiteral("serving")));
  auto* cost = control<QComboBox>("Cost of a draft step");
  cost->setCurrentIndex(cost->count() - 1);
  control<QDoubleSpinBox>("Cost of a draft step, as a share of a vanilla step")->setValue(0.25);
  wait_until_settled();
  const Question& asked = page().answer()->question;
  EXPECT_EQ(asked.host, "serving");
  EXPECT_EQ(asked.draft_cost, "0.25");
  EXPECT_THAT(command_line_of(asked, "x"), HasSubstr("--host 'serving' --draft-cost '0.25'"));
  cost->setCurrentIndex(1);
  wait_until_settled();
  EXPECT_EQ(page().answer()->question.draft_cost, "free");
  const std::filesystem::path profile =
      write_text("host.json", R"({"name": "mine", "min_us": 10, "max_us": 30})");
  page().question().open_host_file(QString::fromStdString(profile.string()));
  EXPECT_TRUE(
      QTest::qWaitFor([&] { return page().question().question().host == profile.string(); }, patience_ms));
  EXPECT_TRUE(host->currentText().contains(QStringLiteral("host.json")));
  wait_until_settled();
  EXPECT_EQ(page().answer()->refusal, "");
}

}  // namespace
}  // namespace draftscope::gui
