// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/search.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "search_state.h"
#include "strategies/swift/rule.h"

namespace draftscope::engine {
namespace {

template <typename T>
Result<void> check(const char* option, T value, T least, T most) {
  if (value >= least && value <= most) return {};  // The comparison is false for NaN.
  return fail("search option {} is {}, expected from {} to {}", option, value, least, most);
}

}  // namespace

speculation::SublayerMask swift_initial_set(std::int32_t n_layers) {
  speculation::SublayerMask mask(std::max(n_layers, 0));
  for (std::int32_t layer = 1; layer < n_layers - 1; layer += 2) mask.skip_attention(layer).skip_mlp(layer);
  return mask;
}

SearchOptions swift_search(std::int32_t n_layers, double skip_ratio) {
  SearchOptions options;
  options.n_layers = n_layers;
  options.skipped_sublayers = skip_ratio >= 0.0 && skip_ratio <= 1.0
                                  ? speculation::swift_skipped_sublayers(n_layers, skip_ratio)
                                  : -1;
  options.initial_set = swift_initial_set(n_layers);
  options.max_score = 0.95;
  options.max_tolerance = 300;
  return options;
}

SearchOptions draft_verify_search(std::int32_t n_layers) {
  SearchOptions options;
  options.n_layers = n_layers;
  options.protect_ends = false;
  options.gp_interval = 1;
  options.kappa = 2.576;
  options.initial_set = speculation::SublayerMask(std::max(n_layers, 0));
  return options;
}

std::vector<speculation::SublayerMask> draft_verify_probes(std::int32_t n_layers) {
  speculation::SublayerMask half(n_layers);
  speculation::SublayerMask published(n_layers);
  for (std::int32_t layer = 0; layer < n_layers; ++layer) {
    if (layer % 2 == 1) half.skip_attention(layer);
    // The k-th of 24 (10) in 40 is where the running share reaches the next whole number.
    if ((layer + 1) * 24 / 40 > layer * 24 / 40) published.skip_attention(layer);
    if ((layer + 1) * 10 / 40 > layer * 10 / 40) published.skip_mlp(layer);
  }
  std::vector<speculation::SublayerMask> probes;
  for (speculation::SublayerMask& probe :
       std::vector{half, published, swift_initial_set(n_layers),
                   speculation::SublayerMask::early_exit(n_layers, n_layers - n_layers / 3)})
    if (std::find(probes.begin(), probes.end(), probe) == probes.end()) probes.push_back(probe);
  return probes;
}

Result<void> check_options(const SearchOptions& options) {
  constexpr std::int32_t many = std::numeric_limits<std::int32_t>::max();
  constexpr double huge = std::numeric_limits<double>::max();
  const std::int32_t ends = options.protect_ends ? 2 : 0;
  DRAFTSCOPE_TRY(check("n_layers", options.n_layers, ends + 1, 4096));
  if (options.skipped_sublayers)
    DRAFTSCOPE_TRY(check("skipped_sublayers", *options.skipped_sublayers, 0, 2 * (options.n_layers - ends)));
  DRAFTSCOPE_TRY(check("gp_interval", options.gp_interval, 0, many));
  DRAFTSCOPE_TRY(check("refit_interval", options.refit_interval, 1, many));
  DRAFTSCOPE_TRY(check("kappa", options.kappa, 0.0, 1e3));
  DRAFTSCOPE_TRY(check("noise", options.noise, 1e-6, 1e3));
  DRAFTSCOPE_TRY(check("random_points", options.random_points, 1, 10'000'000));
  DRAFTSCOPE_TRY(check("random_starts", options.random_starts, 0, 10'000));
  if (options.initial_set.n_layers() != options.n_layers)
    return fail("search option initial_set has {} layers, expected n_layers = {}",
                options.initial_set.n_layers(), options.n_layers);
  DRAFTSCOPE_TRY(check("initial_score", options.initial_score, -huge, huge));
  if (options.max_score) DRAFTSCOPE_TRY(check("max_score", *options.max_score, -huge, huge));
  DRAFTSCOPE_TRY(check("max_iterations", options.max_iterations, 0, many));
  if (options.max_tolerance) DRAFTSCOPE_TRY(check("max_tolerance", *options.max_tolerance, 1, many));
  return {};
}

}  // namespace draftscope::engine
