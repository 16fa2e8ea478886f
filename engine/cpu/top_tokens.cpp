// SPDX-License-Identifier: GPL-3.0-or-later
#include "top_tokens.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace draftscope::engine::cpu {
namespace {

constexpr std::int32_t counts_per_line = 16;

bool better(const TopToken& a, const TopToken& b) {
  return a.logit > b.logit || (a.logit == b.logit && a.token < b.token);
}

/// Inserts a token into a list of at most `list.size()`, best first, that has `count` entries.
void keep_best(std::span<TopToken> list, std::int32_t& count, const TopToken& candidate) {
  const auto k = static_cast<std::int32_t>(list.size());
  if (count == k && !better(candidate, list[static_cast<std::size_t>(k - 1)])) return;
  std::int32_t place = count < k ? count++ : k - 1;
  for (; place > 0 && better(candidate, list[static_cast<std::size_t>(place - 1)]); --place)
    list[static_cast<std::size_t>(place)] = list[static_cast<std::size_t>(place - 1)];
  list[static_cast<std::size_t>(place)] = candidate;
}

}  // namespace

void TopTokens::reset(std::int32_t threads, std::int32_t rows, std::int32_t k) {
  threads_ = threads;
  rows_ = rows;
  k_ = k;
  constexpr std::size_t entries_per_line = 16;  // Entries have 12 bytes: 16 of them are three whole lines.
  stride_ = (static_cast<std::size_t>(rows) * static_cast<std::size_t>(k) + entries_per_line) /
            entries_per_line * entries_per_line;
  lists_.resize(std::max(lists_.size(), stride_ * static_cast<std::size_t>(threads)));
  const std::size_t counts = static_cast<std::size_t>(threads) * static_cast<std::size_t>(rows) *
                             static_cast<std::size_t>(counts_per_line);
  counts_.resize(std::max(counts_.size(), counts));
  std::fill_n(counts_.begin(), counts, 0);
}

std::span<TopToken> TopTokens::list(std::int32_t thread, std::int32_t row) {
  const auto k = static_cast<std::size_t>(k_);
  return {lists_.data() + static_cast<std::size_t>(thread) * stride_ + static_cast<std::size_t>(row) * k, k};
}

std::int32_t& TopTokens::count(std::int32_t thread, std::int32_t row) {
  const std::int64_t index = (static_cast<std::int64_t>(thread) * rows_ + row) * counts_per_line;
  return counts_[static_cast<std::size_t>(index)];
}

void TopTokens::offer(std::int32_t thread, std::int32_t row, std::span<const float> logits,
                      std::int32_t first_token, float maximum) {
  const std::span<TopToken> kept = list(thread, row);
  std::int32_t& kept_count = count(thread, row);
  // Later blocks have higher ids, so an equal logit cannot displace an entry.
  if (kept_count == k_ && maximum <= kept.back().logit) return;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const float logit = std::isnan(logits[i]) ? -std::numeric_limits<float>::infinity() : logits[i];
    if (kept_count == k_ && logit <= kept.back().logit) continue;
    keep_best(kept, kept_count, {first_token + static_cast<std::int32_t>(i), logit, 0.0F});
  }
}

void TopTokens::merge(std::int32_t row, std::span<TopToken> out) {
  std::int32_t merged = 0;
  for (std::int32_t thread = 0; thread < threads_; ++thread)
    for (std::int32_t i = 0; i < count(thread, row); ++i)
      keep_best(out, merged, list(thread, row)[static_cast<std::size_t>(i)]);
}

}  // namespace draftscope::engine::cpu
