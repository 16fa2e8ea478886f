// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/suffix-decoding/rule.h"

#include <algorithm>
#include <cmath>

namespace draftscope::speculation {

namespace {

/// Separates outputs where a text ended; no text contains it.
constexpr std::int32_t separator = -1;

}  // namespace

SuffixDecoding::SuffixDecoding(const SuffixOptions& options) : options_(options) {
  guesses_.reserve(static_cast<std::size_t>(options.length));
  tried_.reserve(static_cast<std::size_t>(options.length));
  remembered_.begin(0, options.depth + 1);
  // Open paths exclude each other, which bounds the number of them that can have the least probability.
  constexpr double most = 4096.0;
  candidates_.reserve(static_cast<std::size_t>(1.0 / std::max(options.min_probability, 1.0 / most)) + 1);
}

void SuffixDecoding::begin_request(std::span<const std::int32_t> prompt, std::size_t tokens,
                                   std::span<const std::int32_t> end_tokens) {
  if (options_.across_requests) remember_output();
  end_tokens_.assign(end_tokens.begin(), end_tokens.end());
  text_.clear();
  text_.reserve(tokens);
  // A string is counted together with its next token.
  own_.begin(tokens, options_.depth + 1);
  in_memory_ = {};
  prompt_tokens_ = prompt.size();
  extend(prompt);
}

/// Adds the output to the memory. When the memory is full, its older half is dropped, so that each token is
/// indexed again at most once.
void SuffixDecoding::remember_output() {
  if (text_.size() <= prompt_tokens_) return;
  const auto output = std::span<const std::int32_t>(text_).subspan(prompt_tokens_);
  memory_.insert(memory_.end(), output.begin(), output.end());
  memory_.push_back(separator);
  if (memory_.size() > options_.memory) {
    const auto half = static_cast<std::ptrdiff_t>(options_.memory / 2);
    memory_.erase(memory_.begin(), memory_.end() - half);
    remembered_.begin(options_.memory, options_.depth + 1);
  }
  remembered_.extend(memory_);
}

void SuffixDecoding::extend(std::span<const std::int32_t> text) {
  if (text.size() > text_.size()) append(text.subspan(text_.size()));
}

void SuffixDecoding::append(std::span<const std::int32_t> tokens) {
  for (const std::int32_t token : tokens) {
    text_.push_back(token);
    if (!memory_.empty()) follow_memory(token);
  }
  own_.extend(text_);
}

void SuffixDecoding::follow_memory(std::int32_t token) {
  for (;;) {
    const Place next = remembered_.next(in_memory_.place, token, options_.depth);
    if (next > 0) {
      in_memory_ = {next, std::min(in_memory_.length + 1, options_.depth)};
      return;
    }
    if (in_memory_.place == 0) return;
    const Place shorter = remembered_.shorter(in_memory_.place);
    in_memory_ = {shorter, remembered_.length(shorter)};
  }
}

std::span<const TextGuess> SuffixDecoding::guess(std::span<const std::int32_t> text) {
  extend(text);
  guesses_.clear();
  best_score_ = 0.0;
  matched_tokens_ = 0;
  const Place end = own_.end(options_.depth);
  look_through(own_, {end, std::min(own_.length(end), options_.depth)});
  if (!memory_.empty()) look_through(remembered_, in_memory_);
  return guesses_;
}

/// Keeps the best continuation of the end and of its own ends. Ends at the same places have the same
/// continuations, and the longest may have most tokens, so only that one is tried.
void SuffixDecoding::look_through(const SuffixAutomaton& index, End end) {
  while (end.place > 0) {
    const double allowed = std::floor(options_.alpha * static_cast<double>(end.length) + 1e-6);
    const auto budget = static_cast<std::int32_t>(std::min(allowed, static_cast<double>(options_.length)));
    const double score =
        options_.is_tree ? continue_tree(index, end.place, budget) : continue_chain(index, end.place, budget);
    if (score > best_score_) {
      std::swap(guesses_, tried_);
      best_score_ = score;
      matched_tokens_ = end.length;
    }
    const Place shorter = index.shorter(end.place);
    end = {shorter, index.length(shorter)};
  }
}

double SuffixDecoding::continue_chain(const SuffixAutomaton& index, Place place, std::int32_t budget) {
  tried_.clear();
  double probability = 1.0;
  double score = 0.0;
  for (std::int32_t i = 0; i < budget; ++i) {
    const auto next = index.likeliest(place);
    if (!next || ends_text(next->token)) break;
    probability *= static_cast<double>(index.count(next->place)) / static_cast<double>(index.count(place));
    if (probability < options_.min_probability) break;
    tried_.push_back({next->token, i - 1, probability});
    score += probability;
    place = index.cut(next->place, options_.depth);
  }
  return score;
}

double SuffixDecoding::continue_tree(const SuffixAutomaton& index, Place place, std::int32_t budget) {
  const auto before = [](const Candidate& a, const Candidate& b) {
    return a.probability != b.probability ? a.probability < b.probability : a.order > b.order;
  };
  tried_.clear();
  candidates_.clear();
  order_ = 0;
  double score = 0.0;
  if (budget > 0) add_candidates(index, place, -1, 1.0);
  while (static_cast<std::int32_t>(tried_.size()) < budget && !candidates_.empty()) {
    const auto first = std::max_element(candidates_.begin(), candidates_.end(), before);
    const Candidate taken = *first;
    *first = candidates_.back();
    candidates_.pop_back();
    tried_.push_back(taken.guess);
    score += taken.probability;
    add_candidates(index, taken.place, static_cast<std::int32_t>(tried_.size()) - 1, taken.probability);
  }
  return score;
}

void SuffixDecoding::add_candidates(const SuffixAutomaton& index, Place place, std::int32_t parent,
                                    double probability) {
  const auto occurrences = static_cast<double>(index.count(place));
  index.each_next(place, [&](SuffixAutomaton::Step next) {
    if (ends_text(next.token)) return;
    const double of_path = probability * static_cast<double>(index.count(next.place)) / occurrences;
    if (of_path < options_.min_probability) return;
    candidates_.push_back(
        {of_path, order_++, {next.token, parent, of_path}, index.cut(next.place, options_.depth)});
  });
}

bool SuffixDecoding::ends_text(std::int32_t token) const {
  return token == separator || std::find(end_tokens_.begin(), end_tokens_.end(), token) != end_tokens_.end();
}

SuffixOptions suffix_options(const StrategySpecification& suffix_decoding) {
  return {.depth = suffix_decoding.integer("depth"),
          .alpha = suffix_decoding.number("alpha"),
          .length = suffix_decoding.integer("length"),
          .min_probability = suffix_decoding.number("min-probability"),
          .is_tree = suffix_decoding.text("shape") == "tree",
          .across_requests = suffix_decoding.text("across") == "requests",
          .memory = static_cast<std::size_t>(suffix_decoding.integer("memory"))};
}

}  // namespace draftscope::speculation
