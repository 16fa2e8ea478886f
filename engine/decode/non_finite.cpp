// SPDX-License-Identifier: GPL-3.0-or-later
#include "decode/non_finite.h"

#include <draftscope/base/to_size.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace draftscope::engine {

namespace {

std::string_view name_of(float value) {
  if (std::isnan(value)) return "nan";
  return value > 0.0F ? "inf" : "-inf";
}

/// Runs the tokens again, with as many per pass as are batch-invariant, and checks every layer boundary.
class SecondLook {
 public:
  explicit SecondLook(Backend& backend)
      : backend_(backend), boundaries_(to_size(backend.shape().n_layers) + 1) {
    std::iota(boundaries_.begin(), boundaries_.end(), 0);
  }

  Result<void> run(const NonFiniteRow& row) {
    const auto count = static_cast<std::int32_t>(row.tokens.size());
    const std::int32_t width = std::min(backend_.max_invariant_rows(), backend_.max_rows());
    for (std::int32_t begin = 0; begin < count; begin += width)
      DRAFTSCOPE_TRY(pass(row.tokens.subspan(to_size(begin), to_size(std::min(width, count - begin))),
                          row.first + begin, begin + width >= count));
    return {};
  }

  /// Logits of the last token.
  [[nodiscard]] std::span<const float> logits() const { return outputs_.logits; }
  /// Text of the origin: "; layer 3 is the first whose output …"
  [[nodiscard]] std::string origin() const {
    const std::int32_t n_layers = backend_.shape().n_layers;
    std::string text = fmt::format("; layer {} is the first whose output is not finite", boundary_ - 1);
    if (boundary_ == 0) text = "; the embedding is not finite";
    if (boundary_ > n_layers)
      text = "; every layer's output is finite, the final norm's or the head's is not";
    const auto weight = backend_.non_finite_weight(boundary_ - 1);
    if (!weight) return text;
    return fmt::format("{} ({})", text, weight->empty() ? "its weights are finite" : *weight);
  }

 private:
  Result<void> pass(std::span<const std::int32_t> tokens, std::int32_t first, bool is_last) {
    rows_.clear();
    for (std::size_t i = 0; i < tokens.size(); ++i)
      rows_.push_back({.token = tokens[i], .hidden = -1, .position = first + static_cast<std::int32_t>(i)});
    Wanted wanted{.hidden_after = boundaries_};
    if (is_last) {
      wanted.head_from = static_cast<std::int32_t>(tokens.size()) - 1;
      wanted.head = wanted.logits = true;
    }
    DRAFTSCOPE_TRY(backend_.forward({.rows = rows_,
                                     .committed = first,
                                     .first_row = first,
                                     .layers = {0, backend_.shape().n_layers},
                                     .wanted = wanted},
                                    outputs_));
    const std::span<const float> states(outputs_.hidden);
    const std::size_t values = states.size() / boundaries_.size();
    for (std::int32_t boundary = 0; boundary < boundary_ && to_size(boundary) < boundaries_.size();
         ++boundary)
      if (const auto state = states.subspan(to_size(boundary) * values, values);
          std::any_of(state.begin(), state.end(), [](float value) { return !std::isfinite(value); }))
        boundary_ = boundary;
    return {};
  }

  Backend& backend_;
  std::vector<std::int32_t> boundaries_;
  std::vector<Row> rows_;
  Outputs outputs_;
  // First boundary that is not finite for any token; one after the last = all are finite.
  std::int32_t boundary_ = backend_.shape().n_layers + 1;
};

}  // namespace

std::string non_finite_logits(std::span<const float> logits) {
  const auto is_undefined = [](float value) {
    return std::isnan(value) || (std::isinf(value) && value > 0.0F);
  };
  std::size_t count = 0;
  std::size_t first = 0;
  for (std::size_t i = logits.size(); i-- > 0;)
    if (is_undefined(logits[i])) {
      ++count;
      first = i;
    }
  if (count == 0) {
    if (std::any_of(logits.begin(), logits.end(), [](float value) { return std::isfinite(value); }))
      return {};
    count = logits.size();
  }
  return fmt::format("{} of {} are not finite, first {} at token {}", count, logits.size(),
                     name_of(logits[first]), first);
}

Error non_finite(Backend& backend, const NonFiniteRow& row) {
  const auto position = row.first + static_cast<std::int32_t>(row.tokens.size()) - 1;
  const std::string where =
      fmt::format("logits of position {} ({})", position,
                  row.row < 0 ? "prefill" : fmt::format("verification, row {}", row.row));
  SecondLook look(backend);
  const Result<void> done = look.run(row);
  const std::string found = done ? non_finite_logits(look.logits()) : "";
  // A pass of another width may round an overflowing number to a finite one.
  if (found.empty()) return {fmt::format("{}: found a NaN or an infinity, expected finite numbers", where)};
  return {fmt::format("{}: {}, expected finite numbers{}", where, found, look.origin())};
}

}  // namespace draftscope::engine
