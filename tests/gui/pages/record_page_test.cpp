// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the page with the real command and a shipped model: recording, stopping, killing, full disks, and
// missing things.
#include <draftscope/simulator/analysis/measured_recording.h>
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <QComboBox>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <QTextEdit>
#include <csignal>

#include "named_widget.h"
#include "record/command_process.h"
#include "record/form/problem_label.h"
#include "record/live_panel.h"
#include "record/record_page.h"
#include "sample.h"

namespace draftscope::gui {
namespace {

using testing::HasSubstr;

constexpr int longest_wait_ms = 60000;

class Recording : public testing::Test {
 protected:
  Recording() {
    page_.resize(1280, 760);
    page_.set_command(QStringLiteral(DRAFTSCOPE_PROGRAM));
    page_.show();
  }

  [[nodiscard]] RecordPlan short_plan() const {
    return {.model = DRAFTSCOPE_SOURCE_DIR "/models/demo-plain",
            .prompts = DRAFTSCOPE_SOURCE_DIR "/traces/prompts/demo.jsonl",
            .strategies = {"vanilla", "layerskip:exit=4,gamma=2"},
            .output = output_.string(),
            .max_tokens = 8,
            .repeats = 1,
            .limit = 2,
            .warmup = 0,
            .threads = 1};
  }
  /// A plan too long to wait for.
  [[nodiscard]] RecordPlan long_plan() const {
    RecordPlan plan = short_plan();
    plan.limit = 0;
    plan.repeats = 1000;
    return plan;
  }

  void set_plan(const RecordPlan& plan) {
    page_.set_plan(plan);
    ASSERT_TRUE(QTest::qWaitFor([&] { return page_.is_settled(); }, longest_wait_ms));
  }

  void start(const RecordPlan& plan) {
    set_plan(plan);
    ASSERT_TRUE(page_.problems().empty()) << page_.problems().begin()->second;
    page_.start();
    ASSERT_TRUE(page_.recorder().is_running());
  }

  void wait_for_figures() {
    ASSERT_TRUE(QTest::qWaitFor(
        [&] {
          const auto& runs = page_.live().runs();
          return runs.size() == 2 && runs[1].tokens_per_second.has_value();
        },
        longest_wait_ms));
  }

  void wait_for_end() {
    if (ended_.isEmpty()) {
      ASSERT_TRUE(ended_.wait(longest_wait_ms));
    }
  }

  /// Installs a command that lists models as the real one does, and records as these shell lines say.
  void set_recorder(const std::string& lines) {
    const auto program = folder_ / "recorder";
    traces::write_file(program, std::string("#!/bin/sh\n[ \"$1\" = record ] || exec ") + DRAFTSCOPE_PROGRAM +
                                    " \"$@\"\n" + lines + "\n");
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    page_.set_command(QString::fromStdString(program.string()));
  }

  /// Whether a visible label has these words.
  [[nodiscard]] bool is_said(const char* words) const { return gui::is_said(page_, words); }

  /// The visible lines that report problems.
  [[nodiscard]] std::string problem_lines() const {
    std::string lines;
    for (const ProblemLabel* label : page_.findChildren<ProblemLabel*>())
      if (label->isVisible() && label->is_problem()) lines += label->text().toStdString() + '\n';
    return lines;
  }

  [[nodiscard]] QPushButton* button(const char* words) const {
    for (QPushButton* button : page_.findChildren<QPushButton*>())
      if (button->isVisible() && button->text().remove(u'&') == QString::fromUtf8(words)) return button;
    return nullptr;
  }

  void expect_valid(bool is_closed) const {
    auto reader = traces::Reader::open(output_);
    ASSERT_TRUE(reader) << reader.error().message;
    const auto violations = reader->validate();
    ASSERT_TRUE(violations);
    if (is_closed) {
      EXPECT_TRUE(violations->empty()) << violations->front().rule;
    }
    const auto recording = reader->recording();
    ASSERT_TRUE(recording) << recording.error().message;
    EXPECT_EQ(recording->closed_cleanly, is_closed);
    EXPECT_EQ(recording->runs.size(), 2U);
    EXPECT_FALSE(recording->rounds.empty());
  }

  traces::TestFolder folder_;
  std::filesystem::path output_ = folder_ / "new.dstrace";
  RecordPage page_;
  QSignalSpy ended_{&page_, &RecordPage::ended};
  QSignalSpy recorded_{&page_, &RecordPage::recorded};
};

TEST_F(Recording, RunsTheCommandAndTheRecordingOpens) {
  start(short_plan());
  EXPECT_EQ(button("Record"), nullptr);
  wait_for_end();
  EXPECT_EQ(problem_lines(), "");
  ASSERT_EQ(recorded_.count(), 1);
  EXPECT_EQ(recorded_.front().front().toString().toStdString(), output_.string());
  expect_valid(true);
  const auto& runs = page_.live().runs();
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_TRUE(runs[0].is_baseline);
  EXPECT_EQ(runs[0].requests, 2);
  EXPECT_GT(*runs[1].tokens_per_second, 0.0);
  EXPECT_GT(runs[1].speedup->value, 0.0);
  EXPECT_TRUE(runs[1].acceptance_rate.has_value());
  // The final table has the figures of the recording.
  auto reader = traces::Reader::open(output_);
  const auto measured = simulator::read_measured(*reader);
  ASSERT_TRUE(measured);
  EXPECT_EQ(runs[1].tokens_per_second, measured->figures.runs[1].all.throughput.tokens_per_second);
  EXPECT_EQ(runs[1].acceptance_rate, measured->figures.runs[1].all.acceptance.acceptance_rate);
  EXPECT_EQ(runs[1].speedup->value, measured->figures.runs[1].all.speedup->value);
}

TEST_F(Recording, StopClosesItAndWhatThereIsOpens) {
  start(long_plan());
  wait_for_figures();
  button("Stop")->click();
  wait_for_end();
  EXPECT_EQ(problem_lines(), "");
  EXPECT_EQ(recorded_.count(), 1);
  expect_valid(true);
  // The next recording gets another name.
  button("Back to the settings")->click();
  EXPECT_THAT(problem_lines(), HasSubstr("new.dstrace"));
}

TEST_F(Recording, OneThatIsKilledIsSaidAndWhatItLeftIsOffered) {
  start(long_plan());
  wait_for_figures();
  ::kill(static_cast<pid_t>(page_.recorder().process_id()), SIGKILL);
  wait_for_end();
  EXPECT_THAT(problem_lines(), HasSubstr("signal 9"));
  EXPECT_EQ(recorded_.count(), 0);
  expect_valid(false);
  ASSERT_NE(button("Open the recording"), nullptr);
  button("Open the recording")->click();
  EXPECT_EQ(recorded_.count(), 1);
}

TEST_F(Recording, AFullDiskIsSaidInTheRecordersWords) {
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{rlim_t{200} << 10U, before.rlim_max};
  set_plan(long_plan());
  ::setrlimit(RLIMIT_FSIZE, &small);
  page_.start();
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  wait_for_end();
  EXPECT_THAT(problem_lines(), HasSubstr("new.dstrace"));
  EXPECT_EQ(recorded_.count(), 0);
}

TEST_F(Recording, OneWhoseFileIsDeletedEndsInOneLine) {
  start(long_plan());
  wait_for_figures();
  std::filesystem::remove(output_);
  wait_for_end();
  EXPECT_THAT(problem_lines(), HasSubstr("new.dstrace"));
  EXPECT_EQ(recorded_.count(), 0);
  EXPECT_EQ(button("Open the recording"), nullptr);
}

TEST_F(Recording, AnEarlierFileOfThatNameIsNotTakenForTheRecording) {
  traces::make_sample_file(output_);
  RecordPlan plan = short_plan();
  plan.overwrite = true;
  // The form can't know this option, and the command refuses it.
  plan.further = {"--no-such-option"};
  start(plan);
  wait_for_end();
  EXPECT_THAT(problem_lines(), HasSubstr("--no-such-option"));
  EXPECT_EQ(recorded_.count(), 0);
  EXPECT_EQ(button("Open the recording"), nullptr);
  EXPECT_TRUE(page_.live().runs().empty());
}

TEST_F(Recording, OneThatEndsWithoutARecordingIsSaid) {
  set_recorder("exit 0");
  start(short_plan());
  wait_for_end();
  EXPECT_TRUE(is_said("ended without a recording"));
  EXPECT_THAT(problem_lines(), HasSubstr("new.dstrace: found no recording"));
  EXPECT_EQ(recorded_.count(), 0);
  EXPECT_EQ(button("Open the recording"), nullptr);
  EXPECT_NE(button("Back to the settings"), nullptr);
}

TEST_F(Recording, OneThatEndsWithSomethingElseIsSaid) {
  set_recorder("echo this is no recording > '" + output_.string() + "'");
  start(short_plan());
  wait_for_end();
  EXPECT_TRUE(is_said("ended without a recording"));
  EXPECT_EQ(recorded_.count(), 0);
}

TEST_F(Recording, ARefusalIsSaidInItsLastLineWhateverElseItSays) {
  // Print progress, binary data and a line without end before the line that counts.
  set_recorder(
      "head -c 300000 /dev/zero; head -c 9000 /dev/zero | tr '\\0' x; echo; echo warming up;"
      "echo 'draftscope: prompts: found nothing, expected something' >&2; exit 3");
  start(short_plan());
  wait_for_end();
  EXPECT_EQ(problem_lines(), "✕ prompts: found nothing, expected something\n");
  EXPECT_EQ(recorded_.count(), 0);
  // The settings are still there, and the next recording succeeds.
  button("Back to the settings")->click();
  page_.set_command(QStringLiteral(DRAFTSCOPE_PROGRAM));
  ended_.clear();
  start(short_plan());
  wait_for_end();
  EXPECT_EQ(recorded_.count(), 1);
}

TEST_F(Recording, OneThatSaysAndWritesNothingIsStoppedAndThenEnded) {
  set_recorder("trap '' INT; while :; do sleep 0.05; done");
  start(short_plan());
  QTest::qWait(300);
  button("Stop")->click();
  QTest::qWait(300);
  ASSERT_TRUE(page_.recorder().is_running()) << "it does not listen";
  button("End now")->click();
  wait_for_end();
  EXPECT_TRUE(is_said("Stopped before anything was recorded"));
  EXPECT_EQ(problem_lines(), "");
  EXPECT_EQ(recorded_.count(), 0);
}

TEST_F(Recording, OneThatCanNoLongerBeStartedIsSaid) {
  set_recorder("exit 0");
  set_plan(short_plan());
  ASSERT_TRUE(page_.problems().empty());
  // The command still existed when the model was checked.
  std::filesystem::remove(folder_ / "recorder");
  page_.start();
  wait_for_end();
  EXPECT_THAT(problem_lines(), HasSubstr("recorder: can't be started"));
  EXPECT_EQ(recorded_.count(), 0);
}

TEST_F(Recording, WithoutTheCommandNothingStarts) {
  page_.set_command(QString());
  set_plan(short_plan());
  EXPECT_THAT(problem_lines(), HasSubstr("PATH"));
  page_.start();
  EXPECT_FALSE(page_.recorder().is_running());
  page_.set_command(QStringLiteral("/nowhere/draftscope"));
  ASSERT_TRUE(QTest::qWaitFor([&] { return page_.is_settled(); }, longest_wait_ms));
  EXPECT_THAT(problem_lines(), HasSubstr("/nowhere/draftscope"));
  EXPECT_FALSE(button("Record")->isEnabled());
}

TEST_F(Recording, WhatIsNoModelOrNoPromptsIsSaidAtItsField) {
  for (const char* model : {"/nowhere", "/tmp", "synthetic:NoSuchModel"}) {
    RecordPlan plan = short_plan();
    plan.model = model;
    set_plan(plan);
    ASSERT_TRUE(page_.problems().contains(PlanField::model)) << model;
    EXPECT_EQ(page_.problems().size(), 1U) << model;
    EXPECT_EQ(page_.problems().at(PlanField::model).find('\n'), std::string::npos);
    EXPECT_FALSE(button("Record")->isEnabled());
  }
  RecordPlan plan = short_plan();
  plan.prompts = DRAFTSCOPE_SOURCE_DIR "/README.md";
  set_plan(plan);
  EXPECT_THAT(problem_lines(), HasSubstr("README.md:1"));
}

TEST_F(Recording, TheCommandLineFillsTheFormAndFollowsIt) {
  set_plan(short_plan());
  auto* line = &named_widget<QLineEdit>(page_, "Command line");
  EXPECT_EQ(line->text().toStdString(), command_line_of(short_plan()));
  RecordPlan other = short_plan();
  other.strategies = {"vanilla", "swift:ratio=0.5"};
  other.level = "ops";
  other.further = {"--temperature", "0.5"};
  line->setText(QString::fromStdString(command_line_of(other)));
  QTest::keyClick(line, Qt::Key_Return);
  EXPECT_EQ(page_.plan(), other);
  line->setText(QStringLiteral("draftscope record --repeats none"));
  QTest::keyClick(line, Qt::Key_Return);
  EXPECT_THAT(problem_lines(), HasSubstr("--repeats"));
  EXPECT_EQ(page_.plan(), other);
}

TEST_F(Recording, OffersTheDevicesThatTheCommandNames) {
  // A command that finds two GPUs, whatever this machine has.
  set_recorder("exit 0");
  const auto program = folder_ / "recorder";
  traces::write_file(program,
                     std::string("#!/bin/sh\n") + DRAFTSCOPE_PROGRAM + " \"$@\" | sed -e " +
                         R"('s/"gpus": *\[[^]]*\]/"gpus":[{"device":"cuda:0","name":"Planted"}]/' )" +
                         R"(-e 's/"gpus_problem": *"[^"]*"/"gpus_problem":null/')" + "\n");
  auto* device = &named_widget<QComboBox>(page_, "Device");
  auto* traced = &named_widget<QComboBox>(page_, "Device trace");
  set_plan(short_plan());
  EXPECT_TRUE(page_.problems().empty());
  ASSERT_EQ(device->count(), 2);
  EXPECT_EQ(device->itemText(1), QStringLiteral("cuda:0: Planted"));
  EXPECT_FALSE(traced->isEnabled()) << "only a GPU is traced";
  RecordPlan plan = short_plan();
  plan.device = "cuda:0";
  plan.device_trace = "operations";
  plan.threads = 0;
  set_plan(plan);
  EXPECT_TRUE(traced->isEnabled());
  EXPECT_TRUE(page_.problems().empty());
  EXPECT_EQ(page_.plan(), plan);
}

TEST_F(Recording, GoesWithThePage) {
  qint64 process_id = 0;
  {
    RecordPage page;
    page.set_command(QStringLiteral(DRAFTSCOPE_PROGRAM));
    page.set_plan(long_plan());
    ASSERT_TRUE(QTest::qWaitFor([&] { return page.is_settled(); }, longest_wait_ms));
    page.start();
    process_id = page.recorder().process_id();
    ASSERT_GT(process_id, 0);
    ASSERT_TRUE(QTest::qWaitFor([&] { return std::filesystem::exists(output_); }, longest_wait_ms));
  }
  EXPECT_EQ(::kill(static_cast<pid_t>(process_id), 0), -1);
  auto reader = traces::Reader::open(output_);
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_TRUE(reader->recording()->closed_cleanly);
}

}  // namespace
}  // namespace draftscope::gui
