// SPDX-License-Identifier: GPL-3.0-or-later
#include "decode/shadow.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "decode/non_finite.h"

namespace draftscope::engine {

namespace {

/// Rank of a token: the number of tokens with a higher logit; ties go to the lower id.
std::int32_t rank_of(std::int32_t token, std::span<const float> logits) {
  const float own = logits[static_cast<std::size_t>(token)];
  std::int32_t rank = 0;
  for (std::size_t i = 0; i < logits.size(); ++i)
    if (logits[i] > own || (logits[i] == own && static_cast<std::int32_t>(i) < token)) ++rank;
  return rank;
}

using Visit = std::function<void(const traces::ShadowToken&)>;

/// Runs passes over parts of a text; the states after every layer go through the head one layer at a time.
class ShadowPasses {
 public:
  ShadowPasses(Backend& backend, std::span<const std::int32_t> text)
      : backend_(backend), shape_(backend.shape()), text_(text) {
    boundaries_.resize(static_cast<std::size_t>(shape_.n_layers));
    std::iota(boundaries_.begin(), boundaries_.end(), 1);
  }

  /// Runs rows [begin, begin + count); row p predicts the token at p + 1.
  Result<void> run(std::int32_t begin, std::int32_t count, const Visit& visit) {
    // The pass overwrites K/V with the same bits.
    rows_.clear();
    for (std::int32_t p = begin; p < begin + count; ++p)
      rows_.push_back({.token = text_[static_cast<std::size_t>(p)], .hidden = -1, .position = p});
    DRAFTSCOPE_TRY(backend_.forward({.rows = rows_,
                                     .committed = begin,
                                     .first_row = begin,
                                     .layers = {0, shape_.n_layers},
                                     .wanted = {.hidden_after = boundaries_}},
                                    states_));
    rows_.clear();
    for (std::int32_t i = 0; i < count; ++i) rows_.push_back({.token = -1, .hidden = i, .position = 0});
    for (std::int32_t layer = 1; layer <= shape_.n_layers; ++layer)
      DRAFTSCOPE_TRY(predict(layer, begin, visit));
    return {};
  }

 private:
  /// Reports predictions of one layer for all current rows, of which `begin` is the first.
  Result<void> predict(std::int32_t layer, std::int32_t begin, const Visit& visit) {
    const auto vocab = static_cast<std::size_t>(shape_.vocab);
    const std::size_t top = std::min<std::size_t>(vocab, 2);  // The second token gives the margin.
    const std::size_t values = rows_.size() * static_cast<std::size_t>(shape_.d_model);
    DRAFTSCOPE_TRY(backend_.forward(
        {.rows = rows_,
         .hidden = std::span(states_.hidden).subspan(static_cast<std::size_t>(layer - 1) * values, values),
         .layers = {shape_.n_layers, shape_.n_layers},
         .wanted = {.head = true, .logits = true, .top_k = static_cast<std::int32_t>(top)}},
        heads_));
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const std::int32_t position = begin + static_cast<std::int32_t>(i) + 1;
      const std::span<const TopToken> best = std::span(heads_.top).subspan(i * top, top);
      const std::span<const float> logits = std::span(heads_.logits).subspan(i * vocab, vocab);
      if (!has_distribution(best[0]))
        return fail("logits of position {} (shadow token of layer {}): {}, expected finite numbers",
                    position - 1, layer, non_finite_logits(logits));
      visit({.position = position,
             .layer = layer,
             .token = best[0].token,
             .probability = static_cast<double>(best[0].probability),
             .margin = static_cast<double>(best[0].logit) - static_cast<double>(best.back().logit),
             .true_rank = rank_of(text_[static_cast<std::size_t>(position)], logits)});
    }
    return {};
  }

  Backend& backend_;
  const speculation::ModelShape& shape_;
  std::span<const std::int32_t> text_;
  std::vector<std::int32_t> boundaries_;
  std::vector<Row> rows_;
  Outputs states_;
  Outputs heads_;
};

}  // namespace

Result<void> shadow_tokens(Backend& backend, std::span<const std::int32_t> text, std::int32_t first,
                           const std::function<void(const traces::ShadowToken&)>& visit) {
  const auto size = static_cast<std::int32_t>(text.size());
  if (first < 1 || first > size)
    return fail("shadow tokens: first position is {}, expected 1 to {}", first, size);
  const std::int32_t width = std::min(backend.max_invariant_rows(), backend.max_rows());
  ShadowPasses passes(backend, text);
  for (std::int32_t begin = first - 1; begin < size - 1;) {
    const std::int32_t count = std::min(width, size - 1 - begin);
    DRAFTSCOPE_TRY(passes.run(begin, count, visit));
    begin += count;
  }
  return {};
}

}  // namespace draftscope::engine
