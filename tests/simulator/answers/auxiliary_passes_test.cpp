// SPDX-License-Identifier: GPL-3.0-or-later
// Auxiliary passes of strategies: on the recorded machine they have their measured time, elsewhere that of
// the other machine.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "advice/learnt.h"
#include "rounds/drafts/auxiliary_work.h"

namespace draftscope::simulator {
namespace {

// The synthetic recording verifies all layers; if DEL rests where nothing is accepted, the cost of deciding
// is visible.
constexpr const char* layerskip = "layerskip:exit=3,gamma=4,verify=all-layers";
constexpr const char* resting_del = "del:mode=repaired,verify=all-layers";

std::string del_without_prompt(const std::string& omega) {
  return "del:mode=repaired,prompt-window=0,verify=all-layers,omega=" + omega;
}

ShadowedRecording with_del(double skill = 0.7) {
  ShadowedRecording recording{.skill = skill};
  recording.strategies = {"vanilla", layerskip, resting_del, del_without_prompt("0.8")};
  recording.auxiliary_factor = 1.4;
  recording.host_us = 200.0;
  return recording;
}

/// Time from first token to end, over all requests of each run.
std::map<std::string, double> decode_ns_by_run(const traces::Recording& recording) {
  std::map<std::string, double> ns;
  for (const traces::Run& run : recording.runs)
    for (const traces::Request& request : recording.requests)
      if (request.run_id == run.id)
        ns[run.specification] += static_cast<double>(request.end_ns - request.first_token_ns);
  return ns;
}

double time_ns_of(const Answer& answer) {
  return 1e9 * answer.tokens / answer.tokens_per_second;
}

TEST(AuxiliaryPasses, CarriedToTheirOwnMachineGiveTheMeasuredTime) {
  for (const double skill : {0.05, 0.7}) {
    ShadowedRecording what = with_del(skill);
    what.with_two_models = true;
    const Learnt learnt(what);
    for (const auto& [strategy, ns] : decode_ns_by_run(learnt.recording())) {
      const Answer answer = answer_of(learnt, strategy, learnt.machine());
      EXPECT_NEAR(time_ns_of(answer) / ns, 1.0, 0.01) << strategy << ", skill " << skill;
    }
  }
}

TEST(AuxiliaryPasses, WaitsStayOnTheMachineThatHadThem) {
  ShadowedRecording what = with_del();
  const Learnt quiet(what);
  what.wait_us = 4000.0;
  const Learnt waiting(what);
  for (const auto& [strategy, ns] : decode_ns_by_run(waiting.recording())) {
    EXPECT_NEAR(time_ns_of(answer_of(waiting, strategy, waiting.machine())) / ns, 1.0, 1e-6) << strategy;
    const Answer a = answer_of(quiet, strategy, on_gpu(quiet, "H200-SXM5-141GB", "Llama-3.2-1B"));
    const Answer b = answer_of(waiting, strategy, on_gpu(waiting, "H200-SXM5-141GB", "Llama-3.2-1B"));
    EXPECT_NEAR(time_ns_of(a) / time_ns_of(b), 1.0, 0.002) << strategy;
  }
}

TEST(AuxiliaryPasses, OfRoundsThatDraftNothingAreNotFree) {
  const Learnt learnt(with_del(0.05));
  const Answer answer = answer_of(learnt, resting_del, learnt.machine());
  EXPECT_GT(answer.auxiliary, 0.1);
  EXPECT_LT(answer.speedup.min_drafted.value, 0.9);
  EXPECT_GT(answer.speedup_without_auxiliary, answer.speedup.min_drafted.value + 0.05);
}

/// The model with every time divided by `k`.
CostModel faster(CostModel model, double k) {
  for (double& value : model.values) value /= k;
  for (double& value : model.covariance) value /= k * k;
  for (MeasuredPass& pass : model.passes) pass.ns /= k;
  model.host_ratio /= k;
  return model;
}

TEST(AuxiliaryPasses, TakeATimeThatScalesWithTheMachine) {
  ShadowedRecording what = with_del();
  what.with_two_models = true;
  const Learnt learnt(what);
  constexpr double k = 3.0;
  Machine machine = learnt.machine();
  machine.costs = std::make_shared<const CostModel>(faster(learnt.what_if().costs().model, k));
  for (const std::string& strategy :
       {std::string(layerskip), std::string(resting_del), std::string(two_models)}) {
    const Answer here = answer_of(learnt, strategy, learnt.machine());
    const Answer there = answer_of(learnt, strategy, machine);
    EXPECT_NEAR(time_ns_of(here) / time_ns_of(there), k, 1e-6) << strategy;
    EXPECT_NEAR(here.o, there.o, 1e-9) << strategy;
  }
}

TEST(AuxiliaryPasses, AreTheSameWhetherTheStrategyWasRecordedOrNot) {
  ShadowedRecording without = with_del();
  without.host_us = 0.0;
  ShadowedRecording with = without;
  without.strategies = {"vanilla", layerskip};
  const Learnt recorded(with);
  const Learnt unrecorded(without);
  for (const std::string& strategy : {std::string(resting_del), del_without_prompt("0.8")}) {
    ASSERT_EQ(recorded.what_if().rounds(strategy)->source, RoundSource::recorded);
    ASSERT_EQ(unrecorded.what_if().rounds(strategy)->source, RoundSource::replayed);
    const Answer a = answer_of(recorded, strategy, on_gpu(recorded, "A100-SXM4-80GB", "Llama-2-13B"));
    const Answer b = answer_of(unrecorded, strategy, on_gpu(unrecorded, "A100-SXM4-80GB", "Llama-2-13B"));
    EXPECT_NEAR(a.o, b.o, 0.02 * a.o) << strategy;
    // The file's confidences are rounded, which occasionally moves a threshold.
    EXPECT_NEAR(a.speedup.min_drafted.value, b.speedup.min_drafted.value, 0.02) << strategy;
  }
}

TEST(AuxiliaryPasses, OfARuleThatWasNotRecordedCostAsThoseThatWere) {
  const Learnt learnt(with_del());
  const Answer recorded = answer_of(learnt, del_without_prompt("0.8"), learnt.machine());
  const Answer replayed = answer_of(learnt, del_without_prompt("0.7"), learnt.machine());
  EXPECT_NEAR(replayed.auxiliary / recorded.auxiliary, 1.0, 0.15);
}

// Heads of all layers on a verification's few rows, at 13B, read 328 MB twice; a step reads 26 GB.
TEST(AuxiliaryPasses, OfALargeModelOnAGpuAreOnePercentOfAStep) {
  ShadowedRecording without_host = with_del();
  without_host.host_us = 0.0;
  const Learnt quiet(without_host);
  const Answer answer =
      answer_of(quiet, del_without_prompt("0.5"), on_gpu(quiet, "A100-SXM4-80GB", "Llama-2-13B"));
  EXPECT_GT(answer.auxiliary, 0.005);
  EXPECT_LT(answer.auxiliary, 0.04);
}

TEST(TwoModels, AreRefusedElsewhereOnlyWhereTheDraftsShapeIsUnknown) {
  ShadowedRecording what{.strategies = {"vanilla", layerskip}, .with_two_models = true};
  const Learnt known(what);
  what.with_draft_shape = false;
  const Learnt unknown(what);
  for (const Learnt* learnt : {&known, &unknown}) {
    const Answer here = answer_of(*learnt, two_models, learnt->machine());
    EXPECT_NEAR(time_ns_of(here) / decode_ns_by_run(learnt->recording())[two_models], 1.0, 0.01);
    EXPECT_GT(here.steps_per_round, 1.0);
    EXPECT_GT(here.c, 0.2);
    EXPECT_LT(here.c, 1.0);
  }
  const Machine elsewhere = on_gpu(known, "A100-SXM4-80GB");
  const Answer there = answer_of(known, two_models, elsewhere);
  EXPECT_GT(there.c, 0.0);
  const auto refused = ask(unknown.what_if().costs().model, unknown.what_if().rounds(two_models).value(),
                           elsewhere, {.draws = 200});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find(two_models), std::string::npos) << refused.error().message;
}

struct Counted {
  AuxiliaryPasses passes;
  std::vector<PassCount> counts;

  [[nodiscard]] std::int64_t of(AuxiliaryPassKind kind, bool rows) const {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < counts.size(); ++i)
      if (passes.kinds()[i].kind == kind) sum += counts[i].passes * (rows ? passes.kinds()[i].rows : 1);
    return sum;
  }
};

AuxiliaryWork work_of(const char* strategy, std::int32_t n_layers) {
  return AuxiliaryWork::of(speculation::parse_strategy(strategy, n_layers).value(), {.n_layers = n_layers})
      .value();
}

TEST(AuxiliaryWork, OfDelIsEveryLayersHeadOnThePositionsThatCount) {
  Counted counted;
  const AuxiliaryWork del = work_of("del", 12);
  del.after_prefill(100, true, counted.passes, counted.counts);
  EXPECT_EQ(counted.of(AuxiliaryPassKind::window, true), 32);
  EXPECT_EQ(counted.of(AuxiliaryPassKind::heads, true), 11 * 32);
  del.after_round({.index = 0, .prompt_tokens = 100, .root_position = 100, .accepted = 3}, counted.passes,
                  counted.counts);
  EXPECT_EQ(counted.of(AuxiliaryPassKind::heads, true), 11 * (32 + 4));
}

TEST(AuxiliaryWork, OfDelAsInTheCodeReadsThePromptWithTheFirstRound) {
  Counted counted;
  const AuxiliaryWork del = work_of("del:mode=code", 12);
  del.after_prefill(20, true, counted.passes, counted.counts);
  EXPECT_EQ(counted.of(AuxiliaryPassKind::window, true), 20);
  EXPECT_EQ(counted.of(AuxiliaryPassKind::heads, true), 0);
  del.after_round({.index = 0, .prompt_tokens = 20, .root_position = 20, .accepted = 0}, counted.passes,
                  counted.counts);
  EXPECT_EQ(counted.of(AuxiliaryPassKind::heads, true), 11 * 21);
}

TEST(AuxiliaryWork, OfSwiftIsACandidateOnItsWindow) {
  Counted counted;
  const AuxiliaryWork swift = work_of("swift:ratio=0.5,window=16", 12);
  swift.after_prefill(20, true, counted.passes, counted.counts);
  EXPECT_TRUE(counted.counts.empty());
  swift.after_round({.index = 7, .prompt_tokens = 20, .root_position = 50, .accepted = 2}, counted.passes,
                    counted.counts);
  ASSERT_EQ(counted.passes.kinds().size(), 1U);
  EXPECT_EQ(counted.passes.kinds()[0].rows, 16);
  EXPECT_EQ(counted.passes.kinds()[0].attention + counted.passes.kinds()[0].mlp, 24 - 10);
  EXPECT_EQ(counted.counts[0].context, 50 + 2 + 1 - 16);
  Counted first;
  work_of("swift:window=16,scored-on=first", 12)
      .after_round({.index = 7, .prompt_tokens = 20, .root_position = 50, .accepted = 2}, first.passes,
                   first.counts);
  EXPECT_EQ(first.counts[0].context, 20);
}

TEST(AuxiliaryWork, OfDelWithFewExitsIsTheirHeads) {
  Counted counted;
  work_of("del:exits=3+5", 12)
      .after_round({.index = 0, .prompt_tokens = 100, .root_position = 100, .accepted = 3}, counted.passes,
                   counted.counts);
  EXPECT_EQ(counted.of(AuxiliaryPassKind::heads, true), 2 * 4);
}

TEST(AuxiliaryWork, OfClaspThatCarriesItsSetIsDoneOnce) {
  Counted counted;
  work_of("clasp:skip=2,carry-set=yes", 5).after_prefill(20, false, counted.passes, counted.counts);
  EXPECT_TRUE(counted.counts.empty());
}

TEST(AuxiliaryWork, OfClaspIsAPassALayerOverTheStatesThatMatter) {
  Counted counted;
  const AuxiliaryWork clasp = work_of("clasp:skip=2", 5);
  clasp.after_prefill(20, true, counted.passes, counted.counts);
  EXPECT_EQ(counted.of(AuxiliaryPassKind::anchor, false), 1);
  // These are layers 2 to 5: the third and fourth have j = 1 and 2, the last only j = 2.
  EXPECT_EQ(counted.of(AuxiliaryPassKind::layer, false), 4);
  EXPECT_EQ(counted.of(AuxiliaryPassKind::layer, true), 1 + 2 + 2 + 1);
}

TEST(AuxiliaryWork, OfKnapSpecIsAPassASublayerOverEveryTimeThatCanBeSaved) {
  // With four layers whose MLPs weigh three times their attentions, the budget is 8.
  const speculation::ModelShape shape{
      .n_layers = 4, .d_model = 8, .n_heads = 2, .n_kv_heads = 2, .head_dim = 4, .d_ff = 32, .vocab = 16};
  AuxiliaryPasses passes;
  std::vector<PassCount> counts;
  const auto work = AuxiliaryWork::of(speculation::parse_strategy("knapspec:window=2", 4).value(), shape);
  ASSERT_TRUE(work);
  work->after_prefill(20, true, passes, counts);
  std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> rows;  // [attentions, MLPs of a pass]
  std::int64_t head_rows = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const AuxiliaryPass& pass = passes.kinds()[i];
    EXPECT_EQ(pass.kind, AuxiliaryPassKind::knapsack);
    rows[{pass.attention, pass.mlp}] += counts[i].passes * pass.rows;
    head_rows += pass.has_head ? counts[i].passes * pass.rows : 0;
  }
  // Before the attentions of layers 1 to 3 these times are saved: {0}, {0,1,3,4}, {0 … 8}; before the MLPs
  // {0,1}, {0,1,2,3,4,5}, {0 … 8}.
  EXPECT_EQ((rows[{1, 0}]), 2 * (1 + 4 + 9));
  EXPECT_EQ((rows[{0, 1}]), 2 * (2 + 6 + 9));
  EXPECT_EQ((rows[{1, 1}]), 2) << "the first layer";
  EXPECT_EQ((rows[{4, 0}]), 2) << "times of attentions, twice";
  EXPECT_EQ((rows[{0, 4}]), 2);
  EXPECT_EQ(head_rows, 2 * 9);
}

TEST(AuxiliaryWork, OfConfLayersIsItsWindowThroughAllLayersButTheLast) {
  Counted counted;
  const AuxiliaryWork work = work_of("conflayers:window=16", 12);
  work.after_prefill(40, true, counted.passes, counted.counts);
  EXPECT_TRUE(counted.counts.empty());
  work.after_round({.index = 7, .prompt_tokens = 20, .root_position = 50, .accepted = 2}, counted.passes,
                   counted.counts);
  ASSERT_EQ(counted.counts.size(), 1U);
  EXPECT_EQ(counted.passes.kinds()[0], (AuxiliaryPass{AuxiliaryPassKind::confidences, 16, 11, 11, false}));
  EXPECT_EQ(counted.counts[0].context, 50 + 2 + 1 - 16);
}

TEST(AuxiliaryWork, IsNothingOfStrategiesThatDecideByWhatTheySaw) {
  for (const char* strategy : {"vanilla", "layerskip:exit=3", "fs:exit=3", "dv:exit=3", "prompt-lookup"})
    EXPECT_FALSE(AuxiliaryWork::of(speculation::parse_strategy(strategy, 8).value(), {.n_layers = 8}))
        << strategy;
}

}  // namespace
}  // namespace draftscope::simulator
