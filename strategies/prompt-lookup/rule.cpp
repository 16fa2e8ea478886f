// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/prompt-lookup/rule.h"

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

using Match = LookupOptions::Match;

PromptLookup::PromptLookup(const LookupOptions& options, std::int32_t vocab)
    : options_(options), no_match_(std::min(100, vocab - 1)) {
  if (options.match != Match::longest)
    for (std::int32_t size = options.ngram; size >= options.min_ngram; --size) indices_.emplace_back(size);
  guesses_.reserve(static_cast<std::size_t>(options.length));
}

void PromptLookup::begin_request(std::size_t tokens, std::span<const std::int32_t> end_tokens) {
  end_tokens_.assign(end_tokens.begin(), end_tokens.end());
  for (NgramIndex& index : indices_) index.begin(tokens);
  if (options_.match == Match::longest) automaton_.begin(tokens);
}

void PromptLookup::extend(std::span<const std::int32_t> text) {
  for (NgramIndex& index : indices_) index.extend(text);
  if (options_.match == Match::longest) automaton_.extend(text);
}

std::span<const std::int32_t> PromptLookup::guess(std::span<const std::int32_t> text) {
  extend(text);
  guesses_.clear();
  const auto start = continuation(static_cast<std::int32_t>(text.size()));
  if (!start) {
    if (options_.is_published) guesses_.push_back(no_match_);
    return guesses_;
  }
  for (const std::int32_t token : text.subspan(static_cast<std::size_t>(*start))) {
    if (static_cast<std::int32_t>(guesses_.size()) == options_.length) break;
    if (!options_.is_published &&
        std::find(end_tokens_.begin(), end_tokens_.end(), token) != end_tokens_.end())
      break;
    guesses_.push_back(token);
  }
  return guesses_;
}

/// The place in a text of `tokens` tokens where the continuation starts.
std::optional<std::int32_t> PromptLookup::continuation(std::int32_t tokens) const {
  const std::int32_t last = options_.is_published ? tokens - options_.length : tokens - 1;
  if (options_.match == Match::longest) {
    const auto match = automaton_.longest(last);
    if (!match || match->length < options_.min_ngram) return std::nullopt;
    return match->behind;
  }
  for (const NgramIndex& index : indices_) {
    // The public code prevents the text's end from matching itself.
    const std::int32_t guarded = options_.is_published ? std::min(last, tokens - index.size() - 1) : last;
    const std::int32_t start =
        options_.match == Match::leftmost ? index.behind_leftmost() : index.behind_latest(guarded);
    if (start >= 0 && start <= guarded) return start;
  }
  return std::nullopt;
}

LookupOptions lookup_options(const StrategySpecification& prompt_lookup) {
  const std::string& match = prompt_lookup.text("match");
  return {.ngram = prompt_lookup.integer("ngram"),
          .min_ngram = prompt_lookup.integer("smallest-ngram"),
          .length = prompt_lookup.integer("length"),
          .match = match == "leftmost" ? Match::leftmost
                   : match == "latest" ? Match::latest
                                       : Match::longest,
          .is_published = prompt_lookup.text("reading") == "published"};
}

}  // namespace draftscope::speculation
