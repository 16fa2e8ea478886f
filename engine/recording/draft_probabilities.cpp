// SPDX-License-Identifier: GPL-3.0-or-later
#include "recording/draft_probabilities.h"

#include <draftscope/base/to_size.h>

#include <algorithm>

namespace draftscope::engine {

Result<std::vector<double>> target_probabilities(Backend& backend, std::span<const std::int32_t> text,
                                                 const DrawnChain& chain, const SamplingOptions& sampling) {
  const auto length = static_cast<std::int32_t>(chain.tokens.size());
  const auto vocab = static_cast<std::size_t>(backend.shape().vocab);
  std::vector<double> probabilities;
  std::vector<Row> rows;
  Outputs outputs;
  Distribution distribution;
  const auto input = [&](std::int32_t i) {
    return i == 0 ? text[static_cast<std::size_t>(chain.root_position)]
                  : chain.tokens[static_cast<std::size_t>(i - 1)];
  };
  for (std::int32_t done = 0; done < length;) {
    const std::int32_t count = std::min(backend.max_invariant_rows(), length - done);
    const std::int32_t first = chain.root_position + done;
    rows.clear();
    for (std::int32_t i = done; i < done + count; ++i)
      rows.push_back({.token = input(i), .hidden = -1, .position = chain.root_position + i});
    DRAFTSCOPE_TRY(backend.forward({.rows = rows,
                                    .committed = first,
                                    .first_row = first,
                                    .layers = {0, backend.shape().n_layers},
                                    .wanted = {.head = true, .logits = true, .top_k = 1}},
                                   outputs));
    for (std::int32_t i = 0; i < count; ++i) {
      const auto row = static_cast<std::size_t>(i);
      if (!has_distribution(outputs.top[row])) return probabilities;
      warp(std::span(outputs.logits).subspan(row * vocab, vocab), sampling, distribution);
      probabilities.push_back(distribution.probability(chain.tokens[to_size(done + i)]));
    }
    done += count;
  }
  return probabilities;
}

}  // namespace draftscope::engine
