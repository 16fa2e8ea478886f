// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/rules/prompt_lookup.h>

#include <algorithm>

namespace draftscope::speculation {

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

/// The place in a text of `tokens` where the continuation starts.
std::optional<std::int32_t> PromptLookup::continuation(std::int32_t tokens) const {
  const std::int32_t last = options_.is_published ? tokens - options_.length : tokens - 1;
  if (options_.match == Match::longest) {
    const auto match = automaton_.longest(last);
    if (!match || match->length < options_.min_ngram) return std::nullopt;
    return match->behind;
  }
  for (const NgramIndex& index : indices_) {
    // The public code's guard against the text's end matching itself.
    const std::int32_t guarded = options_.is_published ? std::min(last, tokens - index.size() - 1) : last;
    const std::int32_t start =
        options_.match == Match::leftmost ? index.behind_leftmost() : index.behind_latest(guarded);
    if (start >= 0 && start <= guarded) return start;
  }
  return std::nullopt;
}

}  // namespace draftscope::speculation
