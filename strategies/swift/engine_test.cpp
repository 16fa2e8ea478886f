// SPDX-License-Identifier: GPL-3.0-or-later
// SWIFT's search during decoding: its scores are compared with the masked model's own greedy choices. It must
// end at the right time, continue from request to request, and not change the text.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "decoded.h"
#include "kept_decode.h"
#include "small_model.h"
#include "strategies/swift/engine.h"
#include "strategies/swift/rule.h"

namespace draftscope::engine {
namespace {

/// Fills the backend's cache with the target's K/V of a text, by passes of no more rows than are invariant.
void keep_text(Backend& backend, std::span<const std::int32_t> text) {
  const auto most = static_cast<std::size_t>(backend.max_invariant_rows());
  for (std::size_t first = 0; first < text.size(); first += most)
    (void)run_target(backend, text.subspan(first, std::min(most, text.size() - first)),
                     static_cast<std::int32_t>(first));
}

/// The masked model's choice after text[position], with the K/V of the backend's rows before it.
std::int32_t choice_at(Backend& backend, const speculation::SublayerMask& mask,
                       std::span<const std::int32_t> text, std::int32_t position) {
  const Row row{.token = text[static_cast<std::size_t>(position)], .hidden = -1, .position = position};
  Outputs outputs;
  const auto done = backend.forward({.rows = std::span(&row, 1),
                                     .committed = position,
                                     .first_row = position,
                                     .mask = &mask,
                                     .layers = {0, backend.shape().n_layers},
                                     .wanted = {.head = true, .top_k = 1}},
                                    outputs);
  EXPECT_TRUE(done) << done.error().message;
  return outputs.top[0].token;
}

/// Whether the masked model ranks each of text[from + 1 …] first, token by token after the target's K/V.
std::string direct_hits(const Checkpoint& checkpoint, const speculation::SublayerMask& mask,
                        std::span<const std::int32_t> text, std::int32_t from, std::int32_t window) {
  const auto backend = cpu_backend(checkpoint, 1, 200);
  keep_text(*backend, text.first(static_cast<std::size_t>(from)));
  std::string hits;
  for (std::int32_t position = from; position < from + window; ++position) {
    const std::int32_t choice = choice_at(*backend, mask, text, position);
    hits += choice == text[static_cast<std::size_t>(position) + 1] ? '1' : '0';
  }
  return hits;
}

double share_of(const std::string& hits) {
  return static_cast<double>(std::ranges::count(hits, '1')) / static_cast<double>(hits.size());
}

TEST(Matchness, OfALongWindowBeginsEachPassWithTheTargetsKv) {
  std::mt19937 random(5);
  for (const std::int32_t window : {65, 140}) {
    const Checkpoint checkpoint = small_model({.n_layers = 4, .seed = random()});
    speculation::SublayerMask mask(4);
    mask.skip_attention(1);
    mask.skip_mlp(2);
    std::vector<std::int32_t> text = random_tokens(random, 200, 40);
    const auto from = static_cast<std::int32_t>(1 + random() % 20);
    std::string expected;
    for (std::int32_t first = from; first < from + window; first += speculation::swift_pass_rows) {
      const std::int32_t end = std::min(first + speculation::swift_pass_rows, from + window);
      const auto other = cpu_backend(checkpoint, 1, 200);
      keep_text(*other, std::span(text).first(static_cast<std::size_t>(first)));
      // Every other token is the masked model's own choice, because a random text hardly ever matches.
      for (std::int32_t position = first; position < end; ++position) {
        const std::int32_t choice = choice_at(*other, mask, text, position);
        if (position % 2 == 0) text[static_cast<std::size_t>(position) + 1] = choice;
      }
      expected += direct_hits(checkpoint, mask, text, first, end - first);
    }
    const auto backend = cpu_backend(checkpoint, 1, 300);
    keep_text(*backend, text);
    Probe probe(*backend, 199);
    std::vector<Row> rows;
    Outputs outputs;
    std::string hits;
    const auto found = matchness(probe, mask, text, from, window, rows, outputs, hits);
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_TRUE(found->has_value());
    EXPECT_EQ(hits, expected);
    EXPECT_DOUBLE_EQ(**found, share_of(expected));
    EXPECT_LT(share_of(expected), 0.9);
  }
}

TEST(Matchness, IsNothingWithoutRoomForTheWindow) {
  std::mt19937 random(2);
  const Checkpoint checkpoint = small_model({.n_layers = 3});
  const auto backend = cpu_backend(checkpoint, 1, 50);
  const auto text = random_tokens(random, 40, 40);
  (void)run_target(*backend, text, 0);
  std::vector<Row> rows;
  Outputs outputs;
  for (const std::int32_t window : {11, 12}) {
    Probe probe(*backend, 39);
    std::string hits;
    const auto found = matchness(probe, speculation::SublayerMask(3), text, 5, window, rows, outputs, hits);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->has_value(), window == 11);
  }
}

/// The search as published, derived from the scores alone.
struct Ending {
  double max_score;
  std::int32_t max_tolerance, max_iterations;
  double best = 0.0;
  std::int32_t tolerance = 0, iterations = 0;
  std::string reason;

  bool take(double score) {
    const bool better = score > best;
    if (better) {
      best = score;
      tolerance = 0;
      if (score > max_score && reason.empty()) reason = "score";
    } else {
      ++tolerance;
    }
    ++iterations;
    if (reason.empty() && tolerance >= max_tolerance) reason = "tolerance";
    if (reason.empty() && iterations >= max_iterations) reason = "iterations";
    return better;
  }
};

speculation::SublayerMask mask_of(const nlohmann::json& detail, std::int32_t n_layers) {
  speculation::SublayerMask mask(n_layers);
  for (const auto& layer : detail["skipped_attention"]) mask.skip_attention(layer.get<std::int32_t>());
  for (const auto& layer : detail["skipped_mlp"]) mask.skip_mlp(layer.get<std::int32_t>());
  return mask;
}

struct Case {
  const char* reason;
  double max_score;
  std::int32_t max_tolerance, max_iterations;
  const char* scored_on = "first";
};

class SwiftSearch : public testing::TestWithParam<Case> {};

TEST_P(SwiftSearch, ScoresAdoptsAndEndsAsPublishedOverRequests) {
  const Case& chosen = GetParam();
  std::mt19937 random(3);
  constexpr std::int32_t n_layers = 8;
  constexpr std::int32_t window = 6;
  const Checkpoint checkpoint = small_model({.n_layers = n_layers, .redundancy = 0.3, .seed = 5});
  const auto strategy = expect_strategy(
      fmt::format("swift:window={},max-score={},max-tolerance={},max-iterations={},gp-interval=5,gamma=4,"
                  "scored-on={}",
                  window, chosen.max_score, chosen.max_tolerance, chosen.max_iterations, chosen.scored_on),
      checkpoint.shape);
  const auto backend = cpu_backend(checkpoint, 1, 200);
  Ending ending{chosen.max_score, chosen.max_tolerance, chosen.max_iterations};
  speculation::SublayerMask best = swift_initial_set(n_layers);
  std::int32_t adopted = 0;
  std::int32_t requests = 0;
  for (; requests < 5; ++requests) {
    const auto prompt = random_tokens(random, 10, 40);
    KeptDecode kept(prompt);
    expect_decoded(*backend, *strategy, {.prompt = prompt, .max_new_tokens = 60}, kept);
    std::size_t next = 0;
    std::int32_t emitted = 1;
    for (std::size_t round = 0; round < kept.rounds.size(); ++round) {
      if (kept.rounds[round].round.drafted > 0) {
        EXPECT_EQ(kept.rounds[round].layer_set.skipped, best.packed());
      }
      emitted += kept.rounds[round].emitted;
      const bool due = ending.reason.empty() && emitted > window + 1 && round + 1 < kept.rounds.size();
      const bool taken =
          next < kept.taken.size() && kept.taken[next].round == static_cast<std::int32_t>(round);
      ASSERT_EQ(taken, due) << round;
      if (!taken) continue;
      if (ending.iterations == 0) {
        const KeptDecision& phase = kept.taken[next++];
        EXPECT_EQ(phase.kind, "phase");
        EXPECT_EQ(phase.detail["from"], "accumulation");
        EXPECT_EQ(phase.detail["tokens"], emitted);
        ASSERT_LT(next, kept.taken.size());
      }
      const KeptDecision& decision = kept.taken[next++];
      const speculation::SublayerMask mask = mask_of(decision.detail, n_layers);
      EXPECT_TRUE(mask.runs_attention(0) && mask.runs_mlp(0));
      EXPECT_TRUE(mask.runs_attention(n_layers - 1) && mask.runs_mlp(n_layers - 1));
      EXPECT_EQ(decision.kind, "layer set");
      EXPECT_EQ(decision.detail["phase"], "search");
      // The latest tokens are those before the next round's root, and the root.
      const std::int32_t from = std::string_view(chosen.scored_on) == "first"
                                    ? static_cast<std::int32_t>(prompt.size())
                                    : kept.rounds[round + 1].round.root_position - window;
      EXPECT_EQ(decision.detail["scored_from"], from);
      const std::string hits = direct_hits(checkpoint, mask, kept.text, from, window);
      EXPECT_EQ(decision.detail["hits"], hits);
      EXPECT_DOUBLE_EQ(decision.score, share_of(hits));
      EXPECT_EQ(decision.detail["best_before"], ending.best);
      const bool better = ending.take(decision.score);
      EXPECT_EQ(decision.adopted, better);
      if (better) best = mask;
      adopted += static_cast<std::int32_t>(better);
      EXPECT_EQ(decision.detail["iteration"], ending.iterations);
      EXPECT_EQ(decision.detail["tolerance"], ending.tolerance);
      EXPECT_EQ(decision.detail["stopped"], !ending.reason.empty());
      if (ending.reason.empty()) continue;
      ASSERT_LT(next, kept.taken.size());
      const KeptDecision& phase = kept.taken[next++];
      EXPECT_EQ(phase.kind, "phase");
      EXPECT_EQ(phase.detail["from"], "search");
      EXPECT_EQ(phase.detail["to"], "plain");
      EXPECT_EQ(phase.detail["because"], "max-" + ending.reason);
      EXPECT_EQ(phase.detail["candidates"], ending.iterations);
    }
    EXPECT_EQ(next, kept.taken.size());
    if (testing::Test::HasFailure()) FAIL() << "request " << requests;
  }
  EXPECT_EQ(ending.reason, chosen.reason);
  EXPECT_GT(adopted, 0);
}

INSTANTIATE_TEST_SUITE_P(Ends, SwiftSearch,
                         testing::Values(Case{"score", 0.4, 1000, 1000}, Case{"tolerance", 1.0, 25, 1000},
                                         Case{"iterations", 1.0, 1000, 60}, Case{"", 1.0, 1000, 1000},
                                         Case{"tolerance", 1.0, 25, 1000, "latest"}),
                         [](const auto& parameter) {
                           const std::string reason = parameter.param.reason;
                           return (reason.empty() ? "not" : reason) + "_on_" + parameter.param.scored_on;
                         });

}  // namespace
}  // namespace draftscope::engine
