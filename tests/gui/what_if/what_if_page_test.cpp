// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the what-if page in the real window, without a display: it trains when first shown, and has sliders,
// pictures and a policy.
#include <draftscope/engine/tuning/policy.h>
#include <gmock/gmock.h>

#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QFile>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QSlider>
#include <QSpinBox>
#include <QTest>
#include <QThreadPool>

#include "../cli/trace_files.h"
#include "charts/chart_plot.h"
#include "charts/figure_file.h"
#include "charts/table_file.h"
#include "what_if/answer_panel.h"
#include "what_if/pictures/picture_pane.h"
#include "what_if/questions/question_panel.h"
#include "what_if/what_if_view.h"
#include "what_if_window.h"
#include "window/main_window.h"

namespace draftscope::gui {
namespace {

using testing::HasSubstr;

class WhatIfPage : public WhatIfWindow<WhatIfView> {
 protected:
  [[nodiscard]] PicturePane& pane(const QString& name) {
    for (const WhatIfView::AnswerPane& named : page().panes())
      if (named.pane->objectName() == QStringLiteral("what-if-") + name) return *named.pane;
    throw std::runtime_error(name.toStdString());
  }
  [[nodiscard]] double speedup() { return page().answer()->prediction.speedup.min_drafted.value; }
};

TEST_F(WhatIfPage, LearnsWhenItIsSeenAndNotBefore) {
  QSignalSpy trained(&page().worker(), &WhatIfWorker::trained_on);
  open(write());
  window_.state().set_run(1);
  EXPECT_FALSE(page().worker().is_training());
  EXPECT_TRUE(trained.isEmpty());
  raise();
  wait_until_settled();
  EXPECT_EQ(trained.size(), 1);
  ASSERT_NE(page().answer(), nullptr);
  EXPECT_EQ(page().answer()->question.kind, StrategyKind::recorded);
  EXPECT_EQ(page().answer()->question.recorded, "layerskip:exit=3,gamma=4") << "the run that is shown";
  EXPECT_EQ(control<QSpinBox>("Exit layer")->value(), 3);
  EXPECT_EQ(control<QSpinBox>("Draft length")->value(), 4);
  for (const WhatIfView::AnswerPane& named : page().panes()) {
    EXPECT_FALSE(named.pane->is_stale()) << named.pane->objectName().toStdString();
    EXPECT_EQ(named.pane->message(), QString()) << named.pane->objectName().toStdString();
    EXPECT_GT(named.pane->plot().chart().table.rows.size(), 3U) << named.pane->objectName().toStdString();
  }
}

TEST_F(WhatIfPage, AnAnswerLooksTheSameWhateverWasAnsweredBefore) {
  show(write());
  const auto picture = [](AnswerPanel& panel) {
    panel.resize(900, 520);
    QImage before;
    // Layouts take several turns of the event loop to settle.
    for (QImage now = panel.grab().toImage(); now != before; now = panel.grab().toImage()) {
      before = now;
      QApplication::processEvents();
    }
    return before;
  };
  AnswerPanel used;
  Question asked = page().answer()->question;
  for (const double threshold : {0.0, 0.3, 0.8, 0.85, 0.0}) {
    if (threshold == 0.0)
      asked = page().worker().trained()->first_question({});
    else
      asked.kind = StrategyKind::threshold;
    asked.threshold = threshold;
    const auto answer = std::make_shared<const WhatIfAnswer>(answer_of(*page().worker().trained(), asked));
    const std::string command = command_line_of(asked, "run.dstrace");
    used.forget();
    used.set_answer(answer, command);
    AnswerPanel fresh;
    fresh.set_answer(answer, command);
    EXPECT_EQ(picture(used), picture(fresh)) << command;
    const auto* notes = used.findChild<QPlainTextEdit*>();
    EXPECT_EQ(notes->toPlainText(), fresh.findChild<QPlainTextEdit*>()->toPlainText()) << command;
    EXPECT_THAT(notes->toPlainText().toStdString(), testing::EndsWith(command));
  }
}

TEST_F(WhatIfPage, SlidersMoveTheAnswer) {
  open(write());
  window_.state().set_run(1);
  raise();
  wait_until_settled();
  auto* strategy = control<QComboBox>("Strategy");
  strategy->setCurrentIndex(0);
  wait_until_settled();
  EXPECT_EQ(page().answer()->question.kind, StrategyKind::fixed_length);
  const double before = speedup();
  control<QSlider>("Exit layer, slider")->setValue(6);
  EXPECT_EQ(control<QSpinBox>("Exit layer")->value(), 6);
  wait_until_settled();
  EXPECT_EQ(page().answer()->question.exit, 6);
  EXPECT_NE(speedup(), before);
  EXPECT_EQ(page().answer_panel().numbers().index(1, 1).data(Qt::UserRole).toDouble(), speedup());
  // The keyboard works as well.
  auto* gamma = control<QSlider>("Draft length, slider");
  gamma->setFocus();
  QTest::keyClick(gamma, Qt::Key_Right);
  wait_until_settled();
  EXPECT_EQ(page().answer()->question.gamma, 5);
  auto* gpu = control<QComboBox>("GPU");
  gpu->setCurrentIndex(gpu->count() - 1);
  wait_until_settled();
  EXPECT_EQ(page().answer()->machine.name, gpu->currentText().toStdString());
  EXPECT_EQ(page().answer()->refusal, "");
  auto* model = control<QComboBox>("Model");
  model->setCurrentIndex(model->findText(QStringLiteral("Llama-3.2-1B")));
  wait_until_settled();
  EXPECT_EQ(page().answer()->prediction.status, simulator::AnswerStatus::approximate);
  control<QSlider>("Requests decoded together, slider")->setValue(3);
  wait_until_settled();
  EXPECT_EQ(page().answer()->question.batch, 8);
  control<QSlider>("Rows of context beside the recorded ones, slider")->setValue(2);
  wait_until_settled();
  EXPECT_EQ(page().answer()->question.longer_context, 128);
  strategy->setCurrentIndex(1);
  wait_until_settled();
  const double lenient = speedup();
  control<QSlider>("Confidence threshold, slider")->setValue(95);
  wait_until_settled();
  EXPECT_DOUBLE_EQ(page().answer()->question.threshold, 0.95);
  EXPECT_NE(speedup(), lenient);
  button("As recorded").click();
  wait_until_settled();
  EXPECT_EQ(page().answer()->question.recorded, "layerskip:exit=3,gamma=4");
  EXPECT_EQ(page().answer()->machine.name, "as recorded");
}

TEST_F(WhatIfPage, TheNewestQuestionWinsAndThoseInBetweenAreDropped) {
  show(write({.prompts = 40, .tokens = 200}));
  control<QComboBox>("Strategy")->setCurrentIndex(0);
  wait_until_settled();
  QSignalSpy answered(&page().worker(), &WhatIfWorker::answered);
  Question last;
  constexpr int moves = 40;
  for (int move = 0; move < moves; ++move) {
    Question question = page().question().question();
    question.exit = 1 + move % 7;
    question.gamma = 1 + move % 13;
    page().question().change_question(question);
    last = question;
    EXPECT_TRUE(pane(QStringLiteral("ladder")).is_stale());
  }
  wait_until_settled();
  EXPECT_LT(answered.size(), moves);
  EXPECT_EQ(page().answer()->question, last);
  EXPECT_FALSE(pane(QStringLiteral("ladder")).is_stale());
  EXPECT_FALSE(pane(QStringLiteral("waterfall")).is_stale());
}

TEST_F(WhatIfPage, TheMapOfAnotherMachineIsStaleUntilItIsMade) {
  show(write());
  PicturePane& map = pane(QStringLiteral("heat-map"));
  control<QComboBox>("Strategy")->setCurrentIndex(0);
  control<QSlider>("Exit layer, slider")->setValue(2);
  EXPECT_FALSE(map.is_stale()) << "another of its cells";
  const QVariant before = map.plot().chart().table.rows[5][4];
  control<QComboBox>("GPU")->setCurrentIndex(3);
  EXPECT_TRUE(map.is_stale());
  wait_until_settled();
  EXPECT_FALSE(map.is_stale());
  EXPECT_NE(map.plot().chart().table.rows[5][4], before);
}

TEST_F(WhatIfPage, ACellOfTheMapCanBeChosen) {
  open(write());
  window_.state().set_run(1);
  raise();
  wait_until_settled();
  ChartPlot* plot = &pane(QStringLiteral("heat-map")).plot();
  // The keyboard begins at the current setting.
  QTest::keyClick(plot, Qt::Key_Up);
  QTest::keyClick(plot, Qt::Key_Up);
  QTest::keyClick(plot, Qt::Key_Return);
  wait_until_settled();
  EXPECT_EQ(page().answer()->question.kind, StrategyKind::fixed_length);
  EXPECT_EQ(page().answer()->question.exit, 3);
  EXPECT_EQ(page().answer()->question.gamma, 5);
  QTest::mouseClick(plot, Qt::LeftButton, Qt::NoModifier, plot->rect().center());
  wait_until_settled();
  EXPECT_NE(page().answer()->question.exit, 3);
}

TEST_F(WhatIfPage, WritesAPolicyThatTheEngineAccepts) {
  open(write());
  window_.state().set_run(1);
  raise();
  wait_until_settled();
  control<QComboBox>("Strategy")->setCurrentIndex(0);
  control<QSlider>("Draft length, slider")->setValue(7);
  wait_until_settled();
  const std::filesystem::path file = folder_ / "policy.json";
  const auto written = page().write_policy(QString::fromStdString(file.string()));
  ASSERT_TRUE(written) << written.error().message;
  const auto policy = engine::read_policy(file);
  ASSERT_TRUE(policy) << policy.error().message;
  EXPECT_EQ(policy->strategy, "layerskip:exit=3,gamma=7,verify=all-layers");
  EXPECT_TRUE(policy->finished);
  EXPECT_FALSE(page().write_policy(QString::fromStdString((folder_ / "nowhere" / "policy.json").string())));
}

TEST_F(WhatIfPage, NumbersOfEveryPictureComeOutAsCsvAndThePictureAsFile) {
  show(write());
  for (const WhatIfView::AnswerPane& named : page().panes()) {
    const QString csv =
        QString::fromStdString((folder_ / (named.pane->objectName().toStdString() + ".csv")).string());
    ASSERT_TRUE(write_table(named.pane->plot().chart().table, csv));
    EXPECT_GT(std::filesystem::file_size(csv.toStdString()), 100U);
    for (const char* ending : {".png", ".svg", ".pdf"}) {
      const std::filesystem::path picture = folder_ / (named.pane->objectName().toStdString() + ending);
      ASSERT_TRUE(write_picture(*named.pane, QString::fromStdString(picture.string())));
      EXPECT_GT(std::filesystem::file_size(picture), 500U);
      if (picture.extension() == ".svg") {
        QFile file(picture);
        ASSERT_TRUE(file.open(QIODevice::ReadOnly));
        EXPECT_THAT(file.readAll().toStdString(), HasSubstr("<text"))
            << "a file has texts, not their picture";
      }
    }
  }
}

TEST_F(WhatIfPage, CanBeStoppedWhileItLearnsAndStartedAgain) {
  open(write({.prompts = 60, .tokens = 300}));
  page().start();
  EXPECT_TRUE(page().worker().is_training());
  page().worker().cancel();
  EXPECT_FALSE(page().worker().is_training());
  EXPECT_THAT(page().answer_panel().message().toStdString(), HasSubstr("stopped"));
  QTest::qWait(50);
  EXPECT_EQ(page().answer(), nullptr);
  button("Learn from the recording").click();
  wait_until_settled();
  EXPECT_NE(page().answer(), nullptr);
}

TEST_F(WhatIfPage, KeepsAQuestionThatIsAskedWhileItLearns) {
  show(std::filesystem::path(DRAFTSCOPE_SOURCE_DIR) / "traces/samples/h200-smollm2-graph.dstrace");
  Question asked = page().question().question();
  asked.recorded_gpu = "A100-SXM4-80GB";
  page().question().change_question(asked);
  ASSERT_TRUE(page().worker().is_training());
  asked.batch = 2;
  // A pinned scenario that is chosen changes the question so.
  page().question().change_question(asked);
  page().worker().cancel();
  asked.batch = 4;
  page().question().change_question(asked);
  EXPECT_EQ(page().answer(), nullptr);
  button("Learn from the recording").click();
  wait_until_settled();
  ASSERT_NE(page().answer(), nullptr);
  EXPECT_TRUE(page().answer()->question == asked);
}

TEST_F(WhatIfPage, SaysWhatToRecordWhereThereIsNoAnswer) {
  show(write({.with_shadow = false}));
  ASSERT_NE(page().answer(), nullptr);
  EXPECT_EQ(page().answer()->refusal, "") << "a recorded run";
  EXPECT_THAT(pane(QStringLiteral("waterfall")).message().toStdString(), HasSubstr("shadow"));
  control<QComboBox>("Strategy")->setCurrentIndex(0);
  control<QSlider>("Exit layer, slider")->setValue(2);
  wait_until_settled();
  EXPECT_THAT(page().answer_panel().message().toStdString(), HasSubstr("record"));
  EXPECT_EQ(page().answer_panel().numbers().rowCount(), 0) << "no numbers beside a refusal";
  EXPECT_THAT(pane(QStringLiteral("ladder")).message().toStdString(), HasSubstr("record"));
  EXPECT_FALSE(page().write_policy(QString::fromStdString((folder_ / "policy.json").string())));

  show(write({.strategies = {"layerskip:exit=3,gamma=4"}}, "alone.dstrace"));
  EXPECT_THAT(page().answer_panel().message().toStdString(), HasSubstr("--strategy vanilla"));
  EXPECT_FALSE(page().question().isEnabled());
}

TEST_F(WhatIfPage, AsksImportedAnswersOnceTheirMachineAndModelAreChosen) {
  show(import_answers({}));
  const auto message = [&] { return page().answer_panel().message().toStdString(); };
  EXPECT_THAT(message(), testing::AllOf(HasSubstr("choose a GPU"), HasSubstr("and a model")));
  EXPECT_THAT(pane(QStringLiteral("heat-map")).message().toStdString(), HasSubstr("choose"));
  auto* gpu = control<QComboBox>("GPU");
  auto* model = control<QComboBox>("Model");
  EXPECT_EQ(gpu->currentText().toStdString(), "choose a GPU");
  EXPECT_EQ(model->currentText().toStdString(), "choose a model");
  gpu->setCurrentIndex(4);
  wait_until_settled();
  EXPECT_THAT(message(), testing::AllOf(HasSubstr("choose a model"), testing::Not(HasSubstr("GPU"))));
  EXPECT_EQ(page().answer_panel().numbers().rowCount(), 0);
  model->setCurrentIndex(model->findText(QStringLiteral("Llama-2-7B")));
  wait_until_settled();
  EXPECT_EQ(message(), "");
  EXPECT_EQ(page().answer()->machine.name, gpu->currentText().toStdString());
  EXPECT_EQ(page().answer()->prediction.status, simulator::AnswerStatus::approximate);
  EXPECT_EQ(control<QSlider>("Exit layer, slider")->maximum(), 31);
  for (const char* name : {"heat-map", "ladder", "roofline"}) {
    EXPECT_EQ(pane(QString::fromUtf8(name)).message(), QString()) << name;
    EXPECT_GT(pane(QString::fromUtf8(name)).plot().chart().table.rows.size(), 3U) << name;
  }
  EXPECT_THAT(pane(QStringLiteral("waterfall")).message().toStdString(), HasSubstr("shadow"));
  control<QSlider>("Exit layer, slider")->setValue(25);
  page().question().open_model_file(QString::fromStdString(config_file().string()));
  EXPECT_TRUE(QTest::qWaitFor([&] { return page().question().question().exit == 11; }, patience_ms))
      << "the deepest exit of the shallower model";
  wait_until_settled();
  EXPECT_EQ(control<QSlider>("Exit layer, slider")->maximum(), 11);
  EXPECT_EQ(page().answer()->refusal, "");
}

TEST_F(WhatIfPage, AsksMachinesThatFilesDescribe) {
  show(write());
  QuestionPanel& panel = page().question();
  panel.open_machine_file(QString::fromStdString(calibration_file().string()));
  EXPECT_TRUE(QTest::qWaitFor([&] { return panel.question().machine_file != nullptr; }, patience_ms));
  wait_until_settled();
  auto* gpu = control<QComboBox>("GPU");
  EXPECT_THAT(page().answer()->machine.name, testing::EndsWith("(calibrated)"));
  EXPECT_EQ(gpu->currentText().toStdString(), page().answer()->machine.name);
  panel.open_machine_file(QString::fromStdString(specification_file().string()));
  EXPECT_TRUE(QTest::qWaitFor([&] { return panel.question().machine_file->gpu.has_value(); }, patience_ms));
  wait_until_settled();
  EXPECT_EQ(page().answer()->machine.name, "Card");
  // Both machines stay in the list.
  gpu->setCurrentIndex(1);
  wait_until_settled();
  EXPECT_THAT(page().answer()->machine.name, testing::EndsWith("(calibrated)"));
  gpu->setCurrentIndex(0);
  wait_until_settled();
  EXPECT_EQ(page().answer()->machine.name, "as recorded");
  auto* words = control<QLabel>("Progress");
  panel.open_machine_file(QString::fromStdString((folder_ / "missing.json").string()));
  EXPECT_TRUE(
      QTest::qWaitFor([&] { return words->text().contains(QStringLiteral("missing.json")); }, patience_ms));
  EXPECT_EQ(page().answer()->machine.name, "as recorded") << "what was chosen stays";
}

TEST_F(WhatIfPage, DropsAFileThatIsReadForARecordingThatHasGone) {
  show(write());
  QuestionPanel& panel = page().question();
  const QSignalSpy changed(&panel, &QuestionPanel::changed);
  panel.open_machine_file(QString::fromStdString(calibration_file().string()));
  panel.forget_recording();
  ASSERT_TRUE(QThreadPool::globalInstance()->waitForDone(patience_ms));
  QApplication::processEvents();
  EXPECT_TRUE(changed.isEmpty());
  EXPECT_EQ(panel.question().machine_file, nullptr);
}

TEST_F(WhatIfPage, AsksForWeightsAndForGpusThatShareTheModel) {
  show(write());
  auto* gpu = control<QComboBox>("GPU");
  gpu->setCurrentIndex(gpu->count() - 1);
  auto* model = control<QComboBox>("Model");
  model->setCurrentIndex(model->findText(QStringLiteral("Llama-3-8B")));
  wait_until_settled();
  const double alone = page().answer()->prediction.vanilla_tokens_per_second;
  control<QSlider>("GPUs that share the model, slider")->setValue(1);
  wait_until_settled();
  EXPECT_EQ(page().answer()->refusal, "");
  EXPECT_EQ(page().answer()->machine.scenario.tensor_parallel, 2);
  const double shared = page().answer()->prediction.vanilla_tokens_per_second;
  EXPECT_GT(shared, alone);
  auto* weights = control<QComboBox>("Number type of the weights");
  weights->setCurrentIndex(weights->findText(QStringLiteral("fp8")));
  wait_until_settled();
  EXPECT_EQ(page().answer()->machine.scenario.weights, simulator::WeightType::fp8);
  EXPECT_GT(page().answer()->prediction.vanilla_tokens_per_second, shared);
  control<QSpinBox>("GPUs that share the model")->setValue(3);
  wait_until_settled();
  EXPECT_THAT(page().answer_panel().message().toStdString(), HasSubstr("tensor_parallel is 3"));
}

TEST_F(WhatIfPage, PicturesCanBeStoppedAndMadeAfterAll) {
  open(write({.prompts = 60, .tokens = 300}));
  raise();
  EXPECT_TRUE(QTest::qWaitFor([&] { return page().worker().is_drawing(); }, patience_ms));
  page().worker().cancel();
  EXPECT_FALSE(page().worker().is_drawing());
  EXPECT_TRUE(page().is_settled());
  EXPECT_NE(page().answer(), nullptr) << "the answer is there already";
  PicturePane& waterfall = pane(QStringLiteral("waterfall"));
  EXPECT_THAT(waterfall.message().toStdString(), HasSubstr("Stopped"));
  QTest::qWait(200);
  EXPECT_THAT(waterfall.message().toStdString(), HasSubstr("Stopped")) << "nothing comes late";
  EXPECT_FALSE(button("Make the pictures").isHidden());
  button("Make the pictures").click();
  wait_until_settled();
  for (const WhatIfView::AnswerPane& named : page().panes())
    EXPECT_EQ(named.pane->message(), QString()) << named.pane->objectName().toStdString();
}

TEST_F(WhatIfPage, PicturesOfAClosedRecordingAreStopped) {
  open(write({.prompts = 60, .tokens = 300}));
  raise();
  EXPECT_TRUE(QTest::qWaitFor([&] { return page().worker().is_drawing(); }, patience_ms));
  QSignalSpy waterfalls(&page().worker(), &WhatIfWorker::waterfall_made);
  window_.state().show(nullptr);
  EXPECT_FALSE(page().worker().is_drawing());
  EXPECT_EQ(page().worker().trained(), nullptr);
  QTest::qWait(200);
  EXPECT_TRUE(waterfalls.isEmpty());
}

TEST_F(WhatIfPage, TrainsAnewOnAnotherRecording) {
  show(write());
  const double before = speedup();
  show(write({.skill = 0.6, .seed = 21}, "other.dstrace"));
  ASSERT_NE(page().answer(), nullptr);
  EXPECT_NE(speedup(), before);
}

}  // namespace
}  // namespace draftscope::gui
