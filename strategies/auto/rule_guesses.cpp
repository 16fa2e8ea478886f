// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/auto/rule_guesses.h"

#include <algorithm>

namespace draftscope::speculation {

namespace {

constexpr std::array<std::string_view, 2> source_names{"lookup", "suffix"};

// Text ends of similar length are counted together, and so are late places of a guess.
constexpr std::array<std::int32_t, 8> match_edges{1, 2, 3, 4, 6, 9, 14, 24};
constexpr std::array<std::int32_t, 6> place_edges{0, 1, 2, 4, 8, 16};

constexpr double guess_half_life = 400.0;  // tokens
constexpr double guess_prior = 3.0;        // guesses

constexpr std::size_t memory = 16384;  // tokens of earlier outputs

template <std::size_t size>
std::size_t group(const std::array<std::int32_t, size>& edges, std::int32_t value) {
  return static_cast<std::size_t>(std::upper_bound(edges.begin(), edges.end(), value) - edges.begin()) - 1;
}

}  // namespace

std::string_view text_source_name(TextSource source) {
  return source_names[static_cast<std::size_t>(source)];
}

TextGuesses::TextGuesses(std::int32_t max_length)
    : max_length_(max_length),
      // The rule decides whether a guess is worth its rows, so none is left out for its probability.
      suffix_({.alpha = static_cast<double>(max_length),
               .length = max_length,
               .min_probability = 0.0,
               .memory = memory}),
      counts_(sources.size() * match_edges.size() * place_edges.size(), guess_half_life),
      ring_(static_cast<std::size_t>(max_length) * static_cast<std::size_t>(max_length)) {}

std::size_t TextGuesses::cell(TextSource source, std::int32_t match, std::int32_t place) {
  return (index(source) * match_edges.size() + group(match_edges, match)) * place_edges.size() +
         group(place_edges, place);
}

void TextGuesses::begin_request(std::span<const std::int32_t> prompt, std::size_t tokens) {
  const std::size_t expected = std::max(tokens, prompt.size());
  automaton_.begin(expected);
  open_.clear();
  latest_ = {};
  seen_ = 0;
  // A prompt that repeats itself says little about the output, so guesses within it are not counted.
  const auto before = prompt.first(prompt.empty() ? 0 : prompt.size() - 1);
  seen_ = static_cast<std::int32_t>(before.size());
  automaton_.extend(before);
  suffix_.begin_request(prompt, expected, {});
  extend(prompt);
}

void TextGuesses::extend(std::span<const std::int32_t> text) {
  for (; seen_ < static_cast<std::int32_t>(text.size()); ++seen_) {
    const auto known = text.first(static_cast<std::size_t>(seen_) + 1);
    score(known, known.back());
    automaton_.extend(known);
    latest_ = {};
    open_lookup();
    open_suffix(known);
  }
}

void TextGuesses::open_lookup() {
  const auto longest = automaton_.longest(seen_);
  if (!longest) return;
  latest_[index(TextSource::lookup)] = {.source = TextSource::lookup,
                                        .match = longest->length,
                                        .begin = longest->behind,
                                        .length = max_length_};
  open_.push_back(latest_[index(TextSource::lookup)]);
}

void TextGuesses::open_suffix(std::span<const std::int32_t> text) {
  const auto guess = suffix_.guess(text);
  if (guess.empty()) return;
  // A guess is finished after as many tokens as it has, before its place in the ring is reused.
  const std::int32_t begin = seen_ % max_length_ * max_length_;
  std::transform(guess.begin(), guess.end(), ring_.begin() + begin,
                 [](const TextGuess& token) { return token.token; });
  latest_[index(TextSource::suffix)] = {.source = TextSource::suffix,
                                        .match = suffix_.matched_tokens(),
                                        .begin = begin,
                                        .length = static_cast<std::int32_t>(guess.size())};
  open_.push_back(latest_[index(TextSource::suffix)]);
}

void TextGuesses::score(std::span<const std::int32_t> text, std::int32_t token) {
  counts_.fade();
  std::size_t kept = 0;
  for (Open& guess : open_) {
    const auto at = static_cast<std::size_t>(guess.begin) + static_cast<std::size_t>(guess.place);
    const bool right = (guess.source == TextSource::lookup ? text[at] : ring_[at]) == token;
    counts_.add(cell(guess.source, guess.match, guess.place), right);
    ++guess.place;
    if (right && guess.place < guess.length) open_[kept++] = guess;
  }
  open_.resize(kept);
}

std::span<const std::int32_t> TextGuesses::guess(std::span<const std::int32_t> text,
                                                 TextSource source) const {
  const Open& latest = latest_[index(source)];
  if (latest.match == 0) return {};
  const auto tokens = source == TextSource::lookup ? text : std::span<const std::int32_t>(ring_);
  const auto begin = static_cast<std::size_t>(latest.begin);
  return tokens.subspan(begin, std::min(static_cast<std::size_t>(latest.length), tokens.size() - begin));
}

double TextGuesses::acceptance(TextSource source, std::int32_t match, std::int32_t place) const {
  // Prior before any count: it grows with the length of the matched end and with the place in the guess. One
  // token by itself says little.
  const double held = static_cast<double>(match + place);
  const double prior = held < 2.0 ? 0.2 : (held + 0.3) / (held + 2.0);
  return counts_.share(cell(source, match, place), prior, guess_prior);
}

}  // namespace draftscope::speculation
