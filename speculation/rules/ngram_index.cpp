// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/rules/ngram_index.h>

#include <algorithm>
#include <bit>

namespace draftscope::speculation {

void NgramIndex::begin(std::size_t tokens) {
  first_.clear();
  previous_.clear();
  first_.reserve(tokens);
  previous_.reserve(tokens);
  slots_.assign(std::bit_ceil(2 * tokens + 2), -1);
  used_ = 0;
}

std::size_t NgramIndex::slot_of(std::span<const std::int32_t> text, std::size_t last) const {
  const auto size = static_cast<std::size_t>(size_);
  const auto ngram = text.subspan(last + 1 - size, size);
  std::uint64_t hash = 0;
  for (const std::int32_t token : ngram) {
    hash = (hash ^ static_cast<std::uint32_t>(token)) * 0x9E3779B97F4A7C15ULL;
    hash ^= hash >> 32U;
  }
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  while (slots_[slot] >= 0 &&
         !std::equal(ngram.begin(), ngram.end(),
                     text.begin() + static_cast<std::ptrdiff_t>(slots_[slot]) + 1 - size_))
    slot = (slot + 1) & mask;
  return slot;
}

void NgramIndex::grow(std::span<const std::int32_t> text, std::size_t slots) {
  std::vector<std::int32_t> old(slots, -1);
  std::swap(old, slots_);
  for (const std::int32_t position : old)
    if (position >= 0) slots_[slot_of(text, static_cast<std::size_t>(position))] = position;
}

void NgramIndex::extend(std::span<const std::int32_t> text) {
  for (std::size_t last = first_.size(); last < text.size(); ++last) {
    const auto position = static_cast<std::int32_t>(last);
    first_.push_back(position);
    previous_.push_back(-1);
    if (position + 1 < size_) continue;
    if (2 * (used_ + 1) > slots_.size()) grow(text, std::max<std::size_t>(2 * slots_.size(), 4));
    std::int32_t& latest = slots_[slot_of(text, last)];
    if (latest >= 0) {
      first_[last] = first_[static_cast<std::size_t>(latest)];
      previous_[last] = latest;
    } else {
      ++used_;
    }
    latest = position;
  }
}

std::int32_t NgramIndex::behind_leftmost() const {
  if (first_.empty() || previous_.back() < 0) return -1;
  return first_.back() + 1;
}

std::int32_t NgramIndex::behind_latest(std::int32_t last) const {
  if (previous_.empty()) return -1;
  std::int32_t at = previous_.back();
  while (at >= 0 && at >= last) at = previous_[static_cast<std::size_t>(at)];
  return at < 0 ? -1 : at + 1;
}

}  // namespace draftscope::speculation
