// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/auto/text_guesses.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace draftscope::speculation {

namespace {

// Ends of about one length are counted together, and so are late places of a guess.
constexpr std::array<std::int32_t, 8> match_edges{1, 2, 3, 4, 6, 9, 14, 24};
constexpr std::array<std::int32_t, 6> place_edges{0, 1, 2, 4, 8, 16};

constexpr double guess_half_life = 400.0;  // tokens
constexpr double guess_prior = 2.0;        // guesses

template <std::size_t size>
std::size_t group(const std::array<std::int32_t, size>& edges, std::int32_t value) {
  return static_cast<std::size_t>(std::upper_bound(edges.begin(), edges.end(), value) - edges.begin()) - 1;
}

}  // namespace

TextGuesses::TextGuesses(std::int32_t max_length)
    : max_length_(max_length), counts_(match_edges.size() * place_edges.size(), guess_half_life) {}

std::size_t TextGuesses::cell(std::int32_t match, std::int32_t place) {
  return group(match_edges, match) * place_edges.size() + group(place_edges, place);
}

void TextGuesses::begin_request(std::span<const std::int32_t> prompt, std::size_t tokens) {
  automaton_.begin(std::max(tokens, prompt.size()));
  open_.clear();
  seen_ = match_ = behind_ = 0;
  if (prompt.empty()) return;
  // A prompt that repeats itself says little of the output: what is guessed within it is not counted.
  seen_ = static_cast<std::int32_t>(prompt.size()) - 1;
  automaton_.extend(prompt.first(prompt.size() - 1));
  extend(prompt);
}

void TextGuesses::extend(std::span<const std::int32_t> text) {
  for (; seen_ < static_cast<std::int32_t>(text.size()); ++seen_) {
    const auto known = text.first(static_cast<std::size_t>(seen_) + 1);
    score(known, known.back());
    automaton_.extend(known);
    const auto longest = automaton_.longest(seen_);
    match_ = longest ? longest->length : 0;
    if (match_ == 0) continue;
    behind_ = longest->behind;
    open_.push_back({match_, behind_, 0});
  }
}

void TextGuesses::score(std::span<const std::int32_t> text, std::int32_t token) {
  counts_.fade();
  std::size_t kept = 0;
  for (Open& guess : open_) {
    const bool right =
        text[static_cast<std::size_t>(guess.begin) + static_cast<std::size_t>(guess.place)] == token;
    counts_.add(cell(guess.match, guess.place), right);
    ++guess.place;
    if (right && guess.place < max_length_) open_[kept++] = guess;
  }
  open_.resize(kept);
}

std::span<const std::int32_t> TextGuesses::guess(std::span<const std::int32_t> text) const {
  if (match_ == 0) return {};
  const std::size_t begin = static_cast<std::size_t>(behind_);
  return text.subspan(begin, std::min(static_cast<std::size_t>(max_length_), text.size() - begin));
}

double TextGuesses::acceptance(std::int32_t match, std::int32_t place) const {
  // Before anything was seen: the longer the end that occurred before, and the further the guess held.
  const double held = static_cast<double>(match + place);
  const double prior = (held + 0.3) / (held + 2.0);
  return counts_.share(cell(match, place), prior, guess_prior);
}

}  // namespace draftscope::speculation
