// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/lookahead/rule.h"

#include <algorithm>
#include <numeric>

namespace draftscope::speculation {

NgramPool::NgramPool(std::int32_t vocab, std::int32_t length, std::int32_t capacity)
    : length_(static_cast<std::size_t>(length)),
      capacity_(static_cast<std::size_t>(capacity)),
      place_(static_cast<std::size_t>(vocab), -1) {}

void NgramPool::clear() {
  for (const std::int32_t token : tokens_) place_[static_cast<std::size_t>(token)] = -1;
  tokens_.clear();
  counts_.clear();
  continuations_.clear();
}

void NgramPool::add(std::int32_t token, std::span<const std::int32_t> continuation) {
  std::int32_t& place = place_[static_cast<std::size_t>(token)];
  if (place < 0) {
    place = static_cast<std::int32_t>(tokens_.size());
    tokens_.push_back(token);
    counts_.push_back(0);
    continuations_.resize(continuations_.size() + capacity_ * length_);
  }
  std::int32_t& count = counts_[static_cast<std::size_t>(place)];
  const auto first = continuations_.begin() +
                     static_cast<std::ptrdiff_t>(static_cast<std::size_t>(place) * capacity_ * length_);
  const auto step = static_cast<std::ptrdiff_t>(length_);
  std::int32_t at = 0;
  while (at < count && !std::equal(continuation.begin(), continuation.end(), first + at * step)) ++at;
  if (at == static_cast<std::int32_t>(capacity_)) at = 0;
  // Continuation `at` leaves its place (if it exists), and those after it move up.
  std::copy(first + std::min(at + 1, count) * step, first + count * step, first + at * step);
  if (at == count) ++count;
  std::copy(continuation.begin(), continuation.end(), first + (count - 1) * step);
}

std::int32_t NgramPool::count(std::int32_t token) const {
  const std::int32_t place = place_[static_cast<std::size_t>(token)];
  return place < 0 ? 0 : counts_[static_cast<std::size_t>(place)];
}

std::span<const std::int32_t> NgramPool::continuation(std::int32_t token, std::int32_t index) const {
  const auto place = static_cast<std::size_t>(place_[static_cast<std::size_t>(token)]);
  return std::span(continuations_)
      .subspan((place * capacity_ + static_cast<std::size_t>(index)) * length_, length_);
}

void add_continuation(std::span<const std::int32_t> continuation, std::vector<TextGuess>& tree) {
  std::int32_t parent = -1;
  for (const std::int32_t token : continuation) {
    const auto same = std::find_if(tree.begin(), tree.end(), [&](const TextGuess& guess) {
      return guess.parent == parent && guess.token == token;
    });
    const auto index = static_cast<std::int32_t>(same - tree.begin());
    if (same == tree.end()) tree.push_back({token, parent});
    parent = index;
  }
}

LevelSizes::LevelSizes(std::int32_t columns, std::int32_t ngram)
    : levels_(static_cast<std::size_t>(ngram) - 1), sizes_{columns + ngram - 3} {}

void LevelSizes::add_level() {
  const std::int32_t added = sizes_.size() == 1 ? sizes_.back() : sizes_.back() - 1;
  for (std::int32_t& size : sizes_) --size;
  sizes_.push_back(added);
}

std::int32_t LevelSizes::rows() const {
  return std::accumulate(sizes_.begin(), sizes_.end(), 0);
}

}  // namespace draftscope::speculation
