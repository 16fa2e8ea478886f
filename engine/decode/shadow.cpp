// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/shadow.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace draftscope::engine {

namespace {

/// Number of tokens with a higher logit; of equals the lower id comes first.
std::int32_t rank_of(std::int32_t token, std::span<const float> logits) {
  const float own = logits[static_cast<std::size_t>(token)];
  std::int32_t rank = 0;
  for (std::size_t i = 0; i < logits.size(); ++i)
    if (logits[i] > own || (logits[i] == own && static_cast<std::int32_t>(i) < token)) ++rank;
  return rank;
}

}  // namespace

Result<void> shadow_tokens(Backend& backend, std::span<const std::int32_t> text, std::int32_t first,
                           const std::function<void(const traces::ShadowToken&)>& visit) {
  const speculation::ModelShape& shape = backend.shape();
  const auto size = static_cast<std::int32_t>(text.size());
  if (first < 1 || first > size)
    return fail("shadow tokens: first position is {}, expected 1 to {}", first, size);
  const std::int32_t width = std::min(backend.max_invariant_rows(), backend.max_rows());
  const auto d_model = static_cast<std::size_t>(shape.d_model);
  const auto vocab = static_cast<std::size_t>(shape.vocab);
  const std::size_t top = std::min<std::size_t>(vocab, 2);  // the second for the margin
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
           .wanted = {.head = true, .logits = true, .top_k = static_cast<std::int32_t>(top)}},
          heads));
      for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        const std::int32_t position = begin + static_cast<std::int32_t>(i) + 1;
        const std::span<const TopToken> best = std::span(heads.top).subspan(i * top, top);
        visit({.position = position,
               .layer = layer,
               .token = best[0].token,
               .probability = static_cast<double>(best[0].probability),
               .margin = static_cast<double>(best[0].logit) - static_cast<double>(best.back().logit),
               .true_rank = rank_of(text[static_cast<std::size_t>(position)],
                                    std::span(heads.logits).subspan(i * vocab, vocab))});
      }
    }
    begin += count;
  }
  return {};
}

}  // namespace draftscope::engine
