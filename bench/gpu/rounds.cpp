// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds.h"

#include <draftscope/base/clock.h>

#include "prompts.h"

namespace draftscope::bench {

RoundTime time_round(engine::Backend& backend, std::int32_t context, std::int32_t exit, std::int32_t gamma) {
  const auto mask = speculation::SublayerMask::early_exit(backend.shape().n_layers, exit);
  const engine::ChainRound round{.root = 1,
                                 .root_position = context,
                                 .draft_length = gamma,
                                 .mask = &mask,
                                 .layers = {0, exit},
                                 .threshold = -1.0,
                                 .stops = {}};
  engine::ChainRoundOutputs outputs;
  const std::int64_t start_ns = now_ns();
  expect(backend.chain_round(round, outputs));
  const std::int64_t end_ns = now_ns();
  return {static_cast<double>(end_ns - start_ns) * 1e-9, static_cast<double>(outputs.verify_ns) * 1e-9};
}

RoundFit fit_rounds(std::span<const std::int32_t> gammas, std::span<const double> draft_seconds) {
  double mean_gamma = 0.0, mean_seconds = 0.0;
  const auto count = static_cast<double>(gammas.size());
  for (std::size_t i = 0; i < gammas.size(); ++i) {
    mean_gamma += gammas[i] / count;
    mean_seconds += draft_seconds[i] / count;
  }
  double covariance = 0.0, variance = 0.0;
  for (std::size_t i = 0; i < gammas.size(); ++i) {
    covariance += (gammas[i] - mean_gamma) * (draft_seconds[i] - mean_seconds);
    variance += (gammas[i] - mean_gamma) * (gammas[i] - mean_gamma);
  }
  const double step = covariance / variance;
  return {step, mean_seconds - step * mean_gamma};
}

}  // namespace draftscope::bench
