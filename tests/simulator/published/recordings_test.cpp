// SPDX-License-Identifier: GPL-3.0-or-later
// Recordings built with a published row's inputs must show the published row's result.

#include <draftscope/simulator/analysis/figures.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "published.h"

namespace draftscope::simulator {
namespace {

constexpr std::int64_t target_step_ns = 1'000'000;
constexpr std::int32_t rounds = 2000;

/// Spreads `total` over the rounds as evenly as integers allow; returns the share of round `i`.
std::int32_t share(double total, std::int32_t i) {
  const auto up_to = [&](std::int32_t n) {
    return static_cast<std::int64_t>(std::floor(total * n / rounds));
  };
  return static_cast<std::int32_t>(up_to(i + 1) - up_to(i));
}

/// A vanilla run and a drafting run whose rounds take a time that follows from c only.
traces::Recording recording_with(double mean_accepted_length, double drafted_per_round, double c,
                                 std::int32_t n_layers, std::int32_t exit_layer) {
  traces::Recording recording;
  recording.prompts.push_back({1, 1, "", 0, "prompt", {1}});
  recording.runs = {{1, "vanilla", "vanilla", "{}", true}, {2, "layerskip", "layerskip", "{}", false}};
  recording.meta["model_shape"] = "{\"n_layers\":" + std::to_string(n_layers) + "}";
  std::int64_t now = 1;
  for (const int run : {1, 2}) {
    traces::Request request;
    request.id = traces::RequestId::from(run);
    request.run_id = traces::RunId::from(run);
    request.prompt_id = 1;
    request.start_ns = now;
    request.first_token_ns = ++now;
    request.tokens = {1, 2, 3};
    for (std::int32_t i = 0; i < rounds; ++i) {
      traces::Round round;
      round.id = traces::RoundId::from(run * rounds + i);
      round.request_id = traces::RequestId::from(run);
      round.index = i;
      round.start_ns = now;
      if (run == 2) {
        round.exit_layer = exit_layer;
        round.drafted = round.tree_depth = share(drafted_per_round * rounds, i);
        round.accepted = share((mean_accepted_length - 1.0) * rounds, i);
        round.draft_ns = static_cast<std::int64_t>(round.drafted * c * target_step_ns);
      }
      round.emitted = round.accepted + 1;
      round.verify_ns = target_step_ns;
      round.end_ns = now += round.draft_ns + round.verify_ns;
      recording.rounds.push_back(round);
    }
    request.end_ns = now;
    recording.requests.push_back(request);
  }
  return recording;
}

TEST(PublishedRows, LayerSkipsTokensPerLoadedLayerMatchDelsTables) {
  const std::vector<FixedLengthCell> cells = fixed_length_cells(published_rows());
  ASSERT_EQ(cells.size(), 24U);
  for (const FixedLengthCell& cell : cells) {
    const traces::Recording recording =
        recording_with(cell.mean_accepted_length, cell.gamma, 0.1, cell.n_layers, cell.exit_layer);
    const Figures figures = measure(recording).runs[1].all;
    EXPECT_NEAR(*figures.layers.etpl, cell.layers_speedup() / cell.n_layers, 1e-4)
        << cell.model << ' ' << cell.task;
    // The identity is: tokens per round = eTPL · (γ·E + L).
    EXPECT_NEAR(*figures.acceptance.mean_accepted_length,
                *figures.layers.etpl_pooled * (cell.gamma * cell.exit_layer + cell.n_layers), 1e-9);
  }
}

TEST(PublishedRows, VanillaLoadsEveryLayerForEveryToken) {
  const traces::Recording recording = recording_with(2.0, 2.0, 0.5, 32, 8);
  EXPECT_NEAR(*measure(recording).runs[0].all.layers.etpl, 1.0 / 32, 1e-12);
}

TEST(PublishedRows, TheClosedFormGivesSwiftsExpectedSpeedups) {
  int cells = 0;
  for (const PublishedRow& row : published_rows()) {
    if (!is_swifts(row) || !row.expected_speedup) continue;
    ++cells;
    const double acceptance_rate = row.acceptance_rate.value();
    const double c = 1.0 - row.skip_ratio.value();
    const double drafted_per_round = (*row.mean_accepted_length - 1.0) / acceptance_rate;
    const Figures figures =
        measure(recording_with(*row.mean_accepted_length, drafted_per_round, c, 40, 1)).runs[1].all;
    EXPECT_NEAR(*figures.cost.c, c, 1e-6);
    EXPECT_NEAR(*figures.cost.v, 1.0, 1e-9);
    EXPECT_NEAR(*figures.acceptance.acceptance_rate, acceptance_rate, 1e-3);
    EXPECT_NEAR(*figures.cost.closed_form_speedup, *row.expected_speedup, 0.006)
        << row.model << ' ' << row.task;
  }
  EXPECT_EQ(cells, 9);
}

}  // namespace
}  // namespace draftscope::simulator
