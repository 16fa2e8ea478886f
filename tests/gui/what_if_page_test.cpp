// SPDX-License-Identifier: GPL-3.0-or-later
// The what-if page in the real window, without a display: learning when it is seen, sliders, pictures,
// policy.
#include <draftscope/engine/policy.h>
#include <gmock/gmock.h>

#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QDockWidget>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QSlider>
#include <QSpinBox>
#include <QTableView>
#include <QTest>

#include "../cli/trace_files.h"
#include "views/picture_export.h"
#include "what_if/answer_panel.h"
#include "what_if/picture_pane.h"
#include "what_if/question_panel.h"
#include "what_if/what_if_picture.h"
#include "what_if/what_if_view.h"
#include "what_if_recordings.h"
#include "window/main_window.h"

namespace draftscope::gui {
namespace {

using testing::HasSubstr;

constexpr int patience_ms = 60'000;

class WhatIfPage : public WhatIfRecordings {
 protected:
  void SetUp() override {
    window_.resize(1400, 900);
    window_.show();
  }

  void open(const std::filesystem::path& path) {
    QSignalSpy finished(&window_.loader(), &RecordingLoader::finished);
    window_.open(QString::fromStdString(path.string()));
    ASSERT_TRUE(finished.wait(patience_ms));
    QApplication::processEvents();
  }
  void raise() {
    for (const NamedView& named : window_.views())
      if (named.name == u"what-if") named.dock->raise();
    QApplication::processEvents();
  }
  void wait_until_settled() {
    EXPECT_TRUE(QTest::qWaitFor([&] { return page().is_settled(); }, patience_ms));
  }
  [[nodiscard]] WhatIfView& page() { return *window_.findChild<WhatIfView*>(); }

  /// By the name that a screen reader says.
  template <typename Widget>
  [[nodiscard]] Widget* control(const char* name) {
    for (Widget* widget : page().findChildren<Widget*>())
      if (widget->accessibleName() == QLatin1String(name)) return widget;
    ADD_FAILURE() << name;
    return nullptr;
  }
  [[nodiscard]] PicturePane& pane(const QString& name) {
    for (const WhatIfView::NamedPane& named : page().panes())
      if (named.name == name) return *named.pane;
    throw std::runtime_error(name.toStdString());
  }
  [[nodiscard]] double speedup() { return page().reply()->answer.speedup.least_drafted.total.value; }

  MainWindow window_{Memory::none};
};

TEST_F(WhatIfPage, LearnsWhenItIsSeenAndNotBefore) {
  QSignalSpy learnt(&page().asker(), &WhatIfAsker::learnt_from);
  open(write());
  EXPECT_FALSE(page().asker().is_learning());
  EXPECT_TRUE(learnt.isEmpty());
  raise();
  wait_until_settled();
  EXPECT_EQ(learnt.size(), 1);
  ASSERT_NE(page().reply(), nullptr);
  EXPECT_EQ(page().reply()->question.kind, StrategyKind::recorded);
  EXPECT_EQ(page().reply()->question.recorded, "layerskip:exit=3,gamma=4") << "the run that is shown";
  EXPECT_EQ(control<QSpinBox>("Exit layer")->value(), 3);
  EXPECT_EQ(control<QSpinBox>("Draft length")->value(), 4);
  for (const WhatIfView::NamedPane& named : page().panes()) {
    EXPECT_FALSE(named.pane->picture().is_stale()) << named.name.toStdString();
    EXPECT_EQ(named.pane->picture().message(), QString()) << named.name.toStdString();
    EXPECT_GT(named.pane->numbers().rowCount(), 3) << named.name.toStdString();
  }
}

TEST_F(WhatIfPage, SlidersMoveTheAnswer) {
  open(write());
  raise();
  wait_until_settled();
  auto* strategy = control<QComboBox>("Strategy");
  strategy->setCurrentIndex(0);
  wait_until_settled();
  EXPECT_EQ(page().reply()->question.kind, StrategyKind::fixed_length);
  const double before = speedup();
  control<QSlider>("Exit layer, slider")->setValue(6);
  EXPECT_EQ(control<QSpinBox>("Exit layer")->value(), 6);
  wait_until_settled();
  EXPECT_EQ(page().reply()->question.exit, 6);
  EXPECT_NE(speedup(), before);
  EXPECT_EQ(page().answer().numbers().index(1, 1).data(Qt::UserRole).toDouble(), speedup());
  // The keyboard does as well.
  auto* gamma = control<QSlider>("Draft length, slider");
  gamma->setFocus();
  QTest::keyClick(gamma, Qt::Key_Right);
  wait_until_settled();
  EXPECT_EQ(page().reply()->question.gamma, 5);
  auto* gpu = control<QComboBox>("GPU");
  gpu->setCurrentIndex(gpu->count() - 1);
  wait_until_settled();
  EXPECT_EQ(page().reply()->machine.name, gpu->currentText().toStdString());
  EXPECT_EQ(page().reply()->refusal, "");
  auto* model = control<QComboBox>("Model");
  model->setCurrentIndex(model->findText(QStringLiteral("Llama-3.2-1B")));
  wait_until_settled();
  EXPECT_EQ(page().reply()->answer.status, simulator::AnswerStatus::approximate);
  control<QSlider>("Requests decoded together, slider")->setValue(3);
  wait_until_settled();
  EXPECT_EQ(page().reply()->question.batch, 8);
  control<QSlider>("Rows of context beside the recorded ones, slider")->setValue(2);
  wait_until_settled();
  EXPECT_EQ(page().reply()->question.longer_context, 128);
  strategy->setCurrentIndex(1);
  wait_until_settled();
  const double lenient = speedup();
  control<QSlider>("Confidence threshold, slider")->setValue(95);
  wait_until_settled();
  EXPECT_DOUBLE_EQ(page().reply()->question.threshold, 0.95);
  EXPECT_NE(speedup(), lenient);
  for (QPushButton* button : page().findChildren<QPushButton*>())
    if (button->text() == QStringLiteral("As recor&ded")) button->click();
  wait_until_settled();
  EXPECT_EQ(page().reply()->question.recorded, "layerskip:exit=3,gamma=4");
  EXPECT_EQ(page().reply()->machine.name, "as recorded");
}

TEST_F(WhatIfPage, TheNewestQuestionWinsAndThoseInBetweenAreDropped) {
  open(write({.prompts = 40, .tokens = 200}));
  raise();
  wait_until_settled();
  control<QComboBox>("Strategy")->setCurrentIndex(0);
  wait_until_settled();
  QSignalSpy answered(&page().asker(), &WhatIfAsker::answered);
  Question last;
  constexpr int moves = 40;
  for (int move = 0; move < moves; ++move) {
    Question question = page().question().question();
    question.exit = 1 + move % 7;
    question.gamma = 1 + move % 13;
    page().question().change_question(question);
    last = question;
    EXPECT_TRUE(pane(QStringLiteral("ladder")).picture().is_stale());
  }
  wait_until_settled();
  EXPECT_LT(answered.size(), moves);
  EXPECT_EQ(page().reply()->question, last);
  EXPECT_FALSE(pane(QStringLiteral("ladder")).picture().is_stale());
  EXPECT_FALSE(pane(QStringLiteral("waterfall")).picture().is_stale());
}

TEST_F(WhatIfPage, TheMapOfAnotherMachineIsStaleUntilItIsMade) {
  open(write());
  raise();
  wait_until_settled();
  PicturePane& map = pane(QStringLiteral("heat-map"));
  control<QComboBox>("Strategy")->setCurrentIndex(0);
  control<QSlider>("Exit layer, slider")->setValue(2);
  EXPECT_FALSE(map.picture().is_stale()) << "another of its cells";
  const QVariant before = map.numbers().index(5, 4).data(Qt::UserRole);
  control<QComboBox>("GPU")->setCurrentIndex(3);
  EXPECT_TRUE(map.picture().is_stale());
  wait_until_settled();
  EXPECT_FALSE(map.picture().is_stale());
  EXPECT_NE(map.numbers().index(5, 4).data(Qt::UserRole), before);
}

TEST_F(WhatIfPage, ACellOfTheMapCanBeChosen) {
  open(write());
  raise();
  wait_until_settled();
  auto* plot = pane(QStringLiteral("heat-map")).findChild<WhatIfPicture*>();
  ASSERT_NE(plot, nullptr);
  QTest::keyClick(plot, Qt::Key_Up);
  wait_until_settled();
  EXPECT_EQ(page().reply()->question.kind, StrategyKind::fixed_length);
  EXPECT_EQ(page().reply()->question.exit, 3);
  EXPECT_EQ(page().reply()->question.gamma, 5);
  QTest::mouseClick(plot, Qt::LeftButton, Qt::NoModifier, plot->rect().center());
  wait_until_settled();
  EXPECT_NE(page().reply()->question.exit, 3);
}

TEST_F(WhatIfPage, WritesAPolicyThatTheEngineAccepts) {
  open(write());
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
  EXPECT_EQ(policy->strategy, "layerskip:exit=3,gamma=7");
  EXPECT_TRUE(policy->finished);
  EXPECT_FALSE(page().write_policy(QString::fromStdString((folder_ / "nowhere" / "policy.json").string())));
}

TEST_F(WhatIfPage, NumbersOfEveryPictureComeOutAsCsvAndThePictureAsFile) {
  open(write());
  raise();
  wait_until_settled();
  for (const WhatIfView::NamedPane& named : page().panes()) {
    auto* table = named.pane->findChild<QTableView*>();
    ASSERT_NE(table, nullptr);
    const QString csv = QString::fromStdString((folder_ / (named.name.toStdString() + ".csv")).string());
    ASSERT_TRUE(write_csv(*table->model(), csv));
    EXPECT_GT(std::filesystem::file_size(csv.toStdString()), 100U);
    for (const char* ending : {".png", ".svg", ".pdf"}) {
      const std::filesystem::path picture = folder_ / (named.name.toStdString() + ending);
      ASSERT_TRUE(write_picture(*named.pane, QString::fromStdString(picture.string())));
      EXPECT_GT(std::filesystem::file_size(picture), 500U);
    }
  }
}

TEST_F(WhatIfPage, CanBeStoppedWhileItLearnsAndStartedAgain) {
  open(write({.prompts = 60, .tokens = 300}));
  page().start();
  EXPECT_TRUE(page().asker().is_learning());
  page().asker().cancel();
  EXPECT_FALSE(page().asker().is_learning());
  EXPECT_THAT(page().answer().message().toStdString(), HasSubstr("stopped"));
  QTest::qWait(50);
  EXPECT_EQ(page().reply(), nullptr);
  for (QPushButton* button : page().findChildren<QPushButton*>())
    if (button->text() == QStringLiteral("Lear&n from the recording")) button->click();
  wait_until_settled();
  EXPECT_NE(page().reply(), nullptr);
}

TEST_F(WhatIfPage, SaysWhatToRecordWhereThereIsNoAnswer) {
  open(write({.with_shadow = false}));
  raise();
  wait_until_settled();
  ASSERT_NE(page().reply(), nullptr);
  EXPECT_EQ(page().reply()->refusal, "") << "a recorded run";
  EXPECT_THAT(pane(QStringLiteral("waterfall")).picture().message().toStdString(), HasSubstr("shadow"));
  control<QComboBox>("Strategy")->setCurrentIndex(0);
  control<QSlider>("Exit layer, slider")->setValue(2);
  wait_until_settled();
  EXPECT_THAT(page().answer().message().toStdString(), HasSubstr("record"));
  EXPECT_EQ(page().answer().numbers().rowCount(), 0) << "no numbers beside a refusal";
  EXPECT_THAT(pane(QStringLiteral("ladder")).picture().message().toStdString(), HasSubstr("record"));
  EXPECT_FALSE(page().write_policy(QString::fromStdString((folder_ / "policy.json").string())));

  open(write({.strategies = {"layerskip:exit=3,gamma=4"}}, "alone.dstrace"));
  raise();
  wait_until_settled();
  EXPECT_THAT(page().answer().message().toStdString(), HasSubstr("--strategy vanilla"));
  EXPECT_FALSE(page().question().isEnabled());

  const std::string corpus = std::string(DRAFTSCOPE_SOURCE_DIR) + "/tests/fuzz/import/corpus/spec_bench/";
  const std::filesystem::path imported = folder_ / "imported.dstrace";
  ASSERT_EQ(cli::run_command({"import", corpus + "layerskip_exit=2,gamma=4.jsonl", "--baseline",
                              corpus + "vanilla.jsonl", "-q", "-o", imported.string()})
                .exit_code,
            0);
  open(imported);
  raise();
  wait_until_settled();
  EXPECT_THAT(page().answer().message().toStdString(), HasSubstr("imported"));
  EXPECT_EQ(page().reply(), nullptr);
}

TEST_F(WhatIfPage, AnotherRecordingIsLearntFromAnew) {
  open(write());
  raise();
  wait_until_settled();
  const double before = speedup();
  open(write({.skill = 0.6, .seed = 21}, "other.dstrace"));
  raise();
  wait_until_settled();
  ASSERT_NE(page().reply(), nullptr);
  EXPECT_NE(speedup(), before);
}

}  // namespace
}  // namespace draftscope::gui
