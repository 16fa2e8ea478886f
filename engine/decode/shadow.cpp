// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/shadow.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

namespace draftscope::engine {

namespace {

ShadowToken read_logits(std::span<const float> logits, std::int32_t true_token) {
  ShadowToken shadow;
  const auto best = std::max_element(logits.begin(), logits.end());
  shadow.token = static_cast<std::int32_t>(best - logits.begin());
  const float own = logits[static_cast<std::size_t>(true_token)];
  float second = -std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const auto token = static_cast<std::int32_t>(i);
    if (token != shadow.token) second = std::max(second, logits[i]);
    if (logits[i] > own || (logits[i] == own && token < true_token)) ++shadow.true_rank;
  }
  shadow.margin = logits.size() > 1 ? static_cast<double>(*best) - static_cast<double>(second) : 0.0;
  return shadow;
}

}  // namespace

Result<void> shadow_tokens(Backend& backend, std::span<const std::int32_t> text, std::int32_t first,
                           const std::function<void(const ShadowToken&)>& visit) {
  const ModelShape& shape = backend.shape();
  const auto size = static_cast<std::int32_t>(text.size());
  if (first < 1 || first > size)
    return fail("shadow tokens: first position is {}, expected 1 to {}", first, size);
  const std::int32_t width = std::min(backend.max_invariant_rows(), backend.max_rows());
  const auto d_model = static_cast<std::size_t>(shape.d_model);
  const auto vocab = static_cast<std::size_t>(shape.vocab);
  std::vector<std::int32_t> boundaries(static_cast<std::size_t>(shape.n_layers));
  std::iota(boundaries.begin(), boundaries.end(), 1);
  std::vector<Row> rows;
  Outputs states;
  Outputs heads;
  // Row p predicts the token at p + 1. Its K/V is written over with the same bits.
  for (std::int32_t begin = first - 1; begin < size - 1;) {
    const std::int32_t count = std::min(width, size - 1 - begin);
    rows.clear();
    for (std::int32_t p = begin; p < begin + count; ++p)
      rows.push_back({.token = text[static_cast<std::size_t>(p)], .hidden = -1, .position = p});
    DRAFTSCOPE_TRY(backend.forward({.rows = rows,
                                    .committed = begin,
                                    .first_row = begin,
                                    .layers = {0, shape.n_layers},
                                    .wanted = {.hidden_after = boundaries}},
                                   states));
    rows.clear();
    for (std::int32_t i = 0; i < count; ++i) rows.push_back({.token = -1, .hidden = i, .position = 0});
    for (std::int32_t layer = 1; layer <= shape.n_layers; ++layer) {
      const std::size_t values = static_cast<std::size_t>(count) * d_model;
      DRAFTSCOPE_TRY(backend.forward(
          {.rows = rows,
           .hidden = std::span(states.hidden).subspan(static_cast<std::size_t>(layer - 1) * values, values),
           .layers = {shape.n_layers, shape.n_layers},
           .wanted = {.head = true, .logits = true, .top_k = 1}},
          heads));
      for (std::int32_t i = 0; i < count; ++i) {
        const std::int32_t position = begin + i + 1;
        ShadowToken shadow =
            read_logits(std::span(heads.logits).subspan(static_cast<std::size_t>(i) * vocab, vocab),
                        text[static_cast<std::size_t>(position)]);
        shadow.position = position;
        shadow.layer = layer;
        // As a draft would have compared it.
        shadow.probability = static_cast<double>(heads.top[static_cast<std::size_t>(i)].probability);
        visit(shadow);
      }
    }
    begin += count;
  }
  return {};
}

}  // namespace draftscope::engine
