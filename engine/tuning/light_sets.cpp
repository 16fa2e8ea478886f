// SPDX-License-Identifier: GPL-3.0-or-later
#include "tuning/light_sets.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace draftscope::engine {

namespace {

/// Shares of all sublayers that light sets skip.
constexpr std::array<double, 3> shares{0.01, 0.05, 0.10};

void skip_sublayer(std::int32_t sublayer, speculation::SublayerMask& mask) {
  if (sublayer < mask.n_layers())
    mask.skip_attention(sublayer);
  else
    mask.skip_mlp(sublayer - mask.n_layers());
}

}  // namespace

std::vector<speculation::SublayerMask> single_sublayers(std::int32_t n_layers) {
  std::vector<speculation::SublayerMask> sets(2 * static_cast<std::size_t>(n_layers),
                                              speculation::SublayerMask(n_layers));
  for (std::size_t i = 0; i < sets.size(); ++i) skip_sublayer(static_cast<std::int32_t>(i), sets[i]);
  return sets;
}

std::vector<speculation::SublayerMask> light_sets(std::span<const double> agreements) {
  const auto sublayers = static_cast<std::int32_t>(agreements.size());
  const std::int32_t n_layers = sublayers / 2;
  std::vector<std::int32_t> both(agreements.size());
  std::iota(both.begin(), both.end(), 0);
  std::stable_sort(both.begin(), both.end(), [&](std::int32_t a, std::int32_t b) {
    return agreements[static_cast<std::size_t>(a)] > agreements[static_cast<std::size_t>(b)];
  });
  std::vector<std::int32_t> attentions;
  std::copy_if(both.begin(), both.end(), std::back_inserter(attentions),
               [&](std::int32_t sublayer) { return sublayer < n_layers; });
  std::vector<speculation::SublayerMask> sets{speculation::SublayerMask(n_layers)};
  for (const double share : shares)
    for (const auto* ranked : {&attentions, &both}) {
      const auto count = static_cast<std::size_t>(std::max(1L, std::lround(share * sublayers)));
      speculation::SublayerMask set(n_layers);
      for (std::size_t i = 0; i < std::min(count, ranked->size()); ++i) skip_sublayer((*ranked)[i], set);
      if (std::find(sets.begin(), sets.end(), set) == sets.end()) sets.push_back(set);
    }
  return sets;
}

}  // namespace draftscope::engine
