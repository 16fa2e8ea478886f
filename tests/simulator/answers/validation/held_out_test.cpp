// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/gpu.h>
#include <draftscope/simulator/answers/checked_answer.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string_view>

#include "../../../temporary_folder.h"
#include "../../analysis/figures/random_recording.h"
#include "answers/validation/ask_question.h"
#include "clustered_recording.h"

namespace draftscope::simulator {
namespace {

TEST(HoldOut, KeepsWhatIsAcceptedAndNothingElse) {
  const traces::Recording all = random_recording(4).recording;
  const auto is_kept = [](const traces::Run& run, const traces::Prompt& prompt,
                          const traces::Request& request) {
    return run.id != 2 && (prompt.category == "qa" || request.repeat == 1);
  };
  const traces::Recording kept = only_requests(all, is_kept);
  const traces::Recording rest =
      only_requests(all, [&](const auto& run, const auto& prompt, const auto& request) {
        return !is_kept(run, prompt, request);
      });
  EXPECT_EQ(kept.runs.size(), all.runs.size() - 1);
  EXPECT_EQ(rest.runs.size(), all.runs.size());
  EXPECT_GT(kept.requests.size(), 0U);
  EXPECT_EQ(kept.requests.size() + rest.requests.size(), all.requests.size());
  EXPECT_EQ(kept.rounds.size() + rest.rounds.size(), all.rounds.size());
  EXPECT_EQ(kept.draft_tokens.size() + rest.draft_tokens.size(), all.draft_tokens.size());
  std::set<traces::RequestId> requests;
  for (const traces::Request& request : kept.requests) {
    EXPECT_NE(request.run_id.value(), 2);
    requests.insert(request.id);
  }
  std::set<traces::RoundId> rounds;
  for (const traces::Round& round : kept.rounds) {
    EXPECT_TRUE(requests.contains(round.request_id));
    rounds.insert(round.id);
  }
  for (const traces::DraftToken& token : kept.draft_tokens) EXPECT_TRUE(rounds.contains(token.round_id));
}

class AskHeldOut : public ::testing::Test {
 protected:
  AskHeldOut() : recording_(clustered_recording(11, {.requests = 24, .repeats = 2, .second_run = true})) {
    write_recording(recording_, folder_ / "trace.dstrace");
  }
  [[nodiscard]] std::vector<CheckedAnswer> answers(const traces::Recording& recording) {
    traces::Reader reader = traces::Reader::open(folder_ / "trace.dstrace").value();
    return ask_held_out(reader, recording, {.draws = {.draws = 200, .threads = 1}}).value();
  }
  /// The recording with every time of some requests multiplied by three.
  [[nodiscard]] traces::Recording slower(const std::function<bool(const traces::Request&)>& which) const {
    traces::Recording changed = recording_;
    std::map<traces::RequestId, std::int64_t> shift;  // [request]
    for (traces::Request& request : changed.requests) {
      if (!which(request)) continue;
      shift[request.id] = request.start_ns;
      request.first_token_ns = request.start_ns + 3 * (request.first_token_ns - request.start_ns);
      request.end_ns = request.start_ns + 3 * (request.end_ns - request.start_ns);
    }
    for (traces::Round& round : changed.rounds) {
      const auto from = shift.find(round.request_id);
      if (from == shift.end()) continue;
      round.start_ns = from->second + 3 * (round.start_ns - from->second);
      round.end_ns = from->second + 3 * (round.end_ns - from->second);
      for (std::int64_t* ns : {&round.draft_ns, &round.verify_ns, &round.accept_ns, &round.control_ns})
        *ns *= 3;
    }
    return changed;
  }
  [[nodiscard]] static const CheckedAnswer& find(const std::vector<CheckedAnswer>& answers,
                                                 std::string_view held_out, std::string_view strategy) {
    const auto found = std::find_if(answers.begin(), answers.end(), [&](const CheckedAnswer& answer) {
      return answer.held_out == held_out && answer.strategy == strategy;
    });
    EXPECT_NE(found, answers.end()) << held_out << ' ' << strategy;
    return *found;
  }
  /// Checks that the prediction for `held_out` does not depend on the times of `held_out`, whereas the
  /// measurement does.
  void expect_unseen(const std::string& held_out, const std::string& strategy, const traces::Recording& other,
                     double slower_by) {
    const auto before = answers(recording_);
    const auto after = answers(other);
    const CheckedAnswer& one = find(before, held_out, strategy);
    const CheckedAnswer& two = find(after, held_out, strategy);
    ASSERT_TRUE(one.predicted) << one.refusal;
    ASSERT_TRUE(two.predicted) << two.refusal;
    EXPECT_EQ(one.predicted->speedup.middle(), two.predicted->speedup.middle());
    EXPECT_EQ(one.predicted->target_step_ns, two.predicted->target_step_ns);
    EXPECT_EQ(one.predicted->draft_step_ns(), two.predicted->draft_step_ns());
    EXPECT_NEAR(two.measured.speedup, one.measured.speedup / slower_by, 1e-6);
    EXPECT_NEAR(two.measured.draft_step_ns, 3 * one.measured.draft_step_ns,
                1e-6 * one.measured.draft_step_ns);
  }

  test::TemporaryFolder folder_;
  traces::Recording recording_;
};

TEST_F(AskHeldOut, AsksEveryRepeatRunAndCategory) {
  const auto found = answers(recording_);
  std::map<QuestionKind, int> kinds;
  for (const CheckedAnswer& answer : found) {
    ++kinds[answer.kind];
    ASSERT_TRUE(answer.predicted) << answer.refusal;
    // Costs and texts come from one population, so that no kind can have a large error.
    EXPECT_LT(std::abs(*answer.error()), 0.15) << answer.held_out << ' ' << answer.strategy;
  }
  EXPECT_EQ(kinds[QuestionKind::recorded_again], 4);  // There are two repeats of two runs.
  EXPECT_EQ(kinds[QuestionKind::unseen_length], 2);
  EXPECT_EQ(kinds[QuestionKind::unseen_task], 4);
  EXPECT_EQ(found.size(), 10U);
}

TEST_F(AskHeldOut, TellsTheRoundsOfAnotherRepeatExactly) {
  const auto found = answers(recording_);
  for (const CheckedAnswer& answer : found) {
    const bool again = answer.kind == QuestionKind::recorded_again;
    EXPECT_EQ(answer.rounds.match, again ? RoundMatch::exact : RoundMatch::not_compared);
    EXPECT_EQ(answer.rounds.requests, again ? 24 : 0);
  }
  // One round less in the last repeat must be reported, with its place.
  traces::Recording changed = recording_;
  const auto last =
      std::find_if(changed.rounds.rbegin(), changed.rounds.rend(),
                   [&](const traces::Round& round) { return round.request_id.value() % 3 == 2; });
  const std::int64_t rounds =
      std::count_if(changed.rounds.begin(), changed.rounds.end(),
                    [&](const auto& round) { return round.request_id == last->request_id; });
  changed.rounds.erase(std::next(last).base());
  const auto after = answers(changed);
  const CheckedAnswer& different = find(after, "repeat 1", "layerskip:exit=3,gamma=4");
  EXPECT_EQ(different.rounds.match, RoundMatch::differs);
  EXPECT_EQ(different.rounds.first_difference,
            fmt::format("question 123 turn 0 repeat 1: {} rounds, predicted {}", rounds - 1, rounds));
}

TEST_F(AskHeldOut, NeverLearnsFromTheRunThatItIsAskedAbout) {
  expect_unseen("run", "layerskip:exit=3,gamma=4",
                slower([](const traces::Request& request) { return request.run_id == 2; }), 3.0);
}

TEST_F(AskHeldOut, NeverLearnsFromTheCategoryThatItIsAskedAbout) {
  expect_unseen("category odd", "layerskip:exit=3,gamma=4",
                slower([](const traces::Request& request) { return request.prompt_id.value() % 2 == 0; }),
                1.0);
}

TEST_F(AskHeldOut, NeverLearnsFromTheRepeatThatItIsAskedAbout) {
  expect_unseen("repeat 0", "layerskip:exit=3,gamma=2",
                slower([](const traces::Request& request) { return request.repeat == 0; }), 1.0);
}

TEST_F(AskHeldOut, AcrossRecordingsNamesTheFarthestDifference) {
  traces::Reader reader = traces::Reader::open(folder_ / "trace.dstrace").value();
  const auto kind_of = [&](const traces::Recording& target) {
    const auto found = ask_across(reader, recording_, target, {.draws = {.draws = 200, .threads = 1}});
    EXPECT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->size(), 2U);
    EXPECT_TRUE(found->front().predicted) << found->front().refusal;
    return found->front().kind;
  };
  EXPECT_EQ(kind_of(recording_), QuestionKind::recorded_again);
  traces::Recording other = recording_;
  other.prompts[0].text = "another prompt";
  EXPECT_EQ(kind_of(other), QuestionKind::unseen_task);
  other.meta["model_shape"] =
      R"({"n_layers":12,"d_model":512,"n_heads":8,"n_kv_heads":4,"head_dim":64,"d_ff":3072,"vocab":8192})";
  EXPECT_EQ(kind_of(other), QuestionKind::unseen_shape);
  other.meta["threads"] = "64";
  EXPECT_EQ(kind_of(other), QuestionKind::unseen_machine);
  other.meta["device"] = "cuda";
  other.meta["processor"] = "NVIDIA H100 80GB HBM3";
  EXPECT_EQ(kind_of(other), QuestionKind::unseen_machine);
  // Exit 3 of a model twice as deep is no exit that was recorded, and there are no shadow tokens.
  traces::Recording deeper = other;
  deeper.meta["model_shape"] =
      R"({"n_layers":24,"d_model":512,"n_heads":8,"n_kv_heads":4,"head_dim":64,"d_ff":3072,"vocab":8192})";
  const auto refused = ask_across(reader, recording_, deeper, {.draws = {.draws = 200, .threads = 1}});
  ASSERT_TRUE(refused) << refused.error().message;
  EXPECT_FALSE(refused->front().predicted);
  EXPECT_NE(refused->front().refusal.find("exit=2"), std::string::npos) << refused->front().refusal;
  other.meta["processor"] = "NVIDIA Unheard-of";
  EXPECT_NE(ask_across(reader, recording_, other).error().message.find("Unheard-of"), std::string::npos);
}

TEST(RecordedGpu, IsFoundByTheDriversName) {
  const std::map<std::string, std::string> names{{"NVIDIA H200", "H200-SXM5-141GB"},
                                                 {"NVIDIA H100 80GB HBM3", "H100-SXM5-80GB"},
                                                 {"NVIDIA H100 PCIe", "H100-PCIe-80GB"},
                                                 {"NVIDIA A100-SXM4-80GB", "A100-SXM4-80GB"},
                                                 {"NVIDIA A100-PCIE-40GB", "A100-PCIe-40GB"},
                                                 {"NVIDIA GeForce RTX 4090", "RTX 4090"},
                                                 {"NVIDIA L40S", "L40S"},
                                                 {"Tesla T4", "T4"},
                                                 {"L4", "L4"}};
  for (const auto& [driver, table] : names) {
    const auto found = find_gpu_of_driver(driver);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->name, table) << driver;
  }
  EXPECT_EQ(recorded_gpu_name({{"device", "cuda"}, {"processor", "NVIDIA H200"}}), "NVIDIA H200");
  EXPECT_EQ(recorded_gpu_name({{"device", "NVIDIA L4"}, {"processor", "a CPU"}}), "NVIDIA L4");
  EXPECT_TRUE(is_gpu_recording({{"device", "cuda"}}));
  EXPECT_FALSE(is_gpu_recording({{"device", "cpu"}}));
  EXPECT_FALSE(is_gpu_recording({}));
}

TEST_F(AskHeldOut, NeedsABaselineAndARun) {
  traces::Reader reader = traces::Reader::open(folder_ / "trace.dstrace").value();
  const auto only_runs = [&](traces::RunId first, traces::RunId last) {
    return only_requests(recording_, [=](const auto& run, const auto&, const auto&) {
      return run.id >= first && run.id <= last;
    });
  };
  EXPECT_NE(ask_held_out(reader, only_runs(2, 3)).error().message.find("no vanilla run"), std::string::npos);
  EXPECT_NE(ask_held_out(reader, only_runs(1, 1)).error().message.find("no run but vanilla"),
            std::string::npos);
  recording_.meta["imported_from"] = "answers.jsonl";
  EXPECT_NE(ask_held_out(reader, recording_).error().message.find("is imported, expected a recording"),
            std::string::npos);
}

}  // namespace
}  // namespace draftscope::simulator
