// SPDX-License-Identifier: GPL-3.0-or-later
// Prompt lookup's guesses are compared with a search through the whole text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "random_text.h"
#include "strategies/prompt-lookup/rule.h"

namespace draftscope::speculation {
namespace {

using Match = LookupOptions::Match;
using Text = std::span<const std::int32_t>;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int32_t vocab = 4096;

/// Number of tokens before a position that equal those at the text's end, at most `most`.
std::int32_t matching(Text text, std::int32_t behind, std::int32_t most) {
  std::int32_t length = 0;
  while (length < std::min(behind, most) && text[static_cast<std::size_t>(behind - 1 - length)] ==
                                                text[text.size() - 1 - static_cast<std::size_t>(length)])
    ++length;
  return length;
}

/// The place after the longest match that ends at `last` or before; ties go to the leftmost.
std::optional<std::int32_t> find_longest(Text text, std::int32_t last, std::int32_t min) {
  std::int32_t best = 0;
  std::optional<std::int32_t> place;
  for (std::int32_t behind = 1; behind <= last; ++behind) {
    const std::int32_t length = matching(text, behind, static_cast<std::int32_t>(text.size()));
    if (length <= best) continue;
    best = length;
    place = behind;
  }
  return best >= min ? place : std::nullopt;
}

/// The place after the last `size` tokens' leftmost occurrence, if that ends by `last`; or after the latest
/// one that does.
std::optional<std::int32_t> find_ngram(Text text, std::int32_t size, std::int32_t last, Match match) {
  std::optional<std::int32_t> place;
  for (std::int32_t behind = size; behind < static_cast<std::int32_t>(text.size()); ++behind) {
    if (matching(text, behind, size) < size) continue;
    if (match == Match::leftmost) return behind <= last ? std::optional(behind) : std::nullopt;
    if (behind <= last) place = behind;
  }
  return place;
}

std::optional<std::int32_t> find_continuation(Text text, const LookupOptions& options) {
  const auto tokens = static_cast<std::int32_t>(text.size());
  const std::int32_t last = options.is_published ? tokens - options.length : tokens - 1;
  if (options.match == Match::longest) return find_longest(text, last, options.min_ngram);
  for (std::int32_t size = options.ngram; size >= options.min_ngram; --size) {
    const std::int32_t guarded = options.is_published ? std::min(last, tokens - size - 1) : last;
    if (const auto place = find_ngram(text, size, guarded, options.match)) return place;
  }
  return std::nullopt;
}

Tokens searched_guesses(Text text, const LookupOptions& options, Text end_tokens) {
  const auto place = find_continuation(text, options);
  if (!place) return options.is_published ? Tokens{100} : Tokens{};
  Tokens guesses;
  for (const std::int32_t token : text.subspan(static_cast<std::size_t>(*place))) {
    if (static_cast<std::int32_t>(guesses.size()) == options.length) break;
    if (!options.is_published && std::find(end_tokens.begin(), end_tokens.end(), token) != end_tokens.end())
      break;
    guesses.push_back(token);
  }
  return guesses;
}

TEST(PromptLookup, GuessesWhatASearchThroughTheTextFinds) {
  Random random(33);
  int guessed = 0;
  for (int trial = 0; trial < 600; ++trial) {
    LookupOptions options;
    options.ngram = pick(random, 1, 5);
    options.min_ngram = pick(random, 1, options.ngram);
    options.length = pick(random, 1, 12);
    options.match = static_cast<Match>(pick(random, 0, 2));
    options.is_published = pick(random, 0, 1) == 0;
    const Tokens end_tokens{pick(random, 0, 5)};
    PromptLookup lookup(options, vocab);
    // A second text must not meet the first, and too little room may only cost time.
    lookup.begin_request(static_cast<std::size_t>(pick(random, 0, 40)), Tokens{1});
    lookup.extend(any_text(random));
    lookup.begin_request(static_cast<std::size_t>(pick(random, 0, 40)), end_tokens);
    const Tokens text = any_text(random);
    for (std::size_t length = 0; length < text.size();) {
      length = std::min(text.size(), length + static_cast<std::size_t>(pick(random, 1, 5)));
      const Text so_far = Text(text).first(length);
      const auto found = lookup.guess(so_far);
      ASSERT_EQ(Tokens(found.begin(), found.end()), searched_guesses(so_far, options, end_tokens))
          << "trial " << trial << ", " << length << " tokens";
      guessed += found.size() > 1 ? 1 : 0;
    }
  }
  EXPECT_GT(guessed, 3000);
}

Tokens guesses(const Tokens& text, const std::string& specification) {
  const auto parsed = parse_strategy(specification, 8);
  EXPECT_TRUE(parsed) << parsed.error().message;
  PromptLookup lookup(lookup_options(*parsed), vocab);
  lookup.begin_request(text.size(), Tokens{9});
  const auto found = lookup.guess(text);
  return {found.begin(), found.end()};
}

TEST(PromptLookup, GuessesWhatFollowedTheLastTokensBefore) {
  const Tokens text{1, 2, 3, 4, 5, 1, 2, 6, 7, 1, 2};
  EXPECT_THAT(guesses(text, "prompt-lookup:length=3"), ElementsAre(3, 4, 5));
  EXPECT_THAT(guesses(text, "prompt-lookup:length=3,match=latest"), ElementsAre(6, 7, 1));
  EXPECT_THAT(guesses(text, "prompt-lookup:length=5,match=latest"), ElementsAre(3, 4, 5, 1, 2))
      << "of the later occurrence the continuation is too short";
  EXPECT_THAT(guesses(text, "prompt-lookup:length=10"), ElementsAre(100)) << "nothing has ten behind it";
  EXPECT_THAT(guesses(text, "prompt-lookup:length=10,reading=transformers,match=latest"),
              ElementsAre(6, 7, 1, 2));
  EXPECT_THAT(guesses({1, 9, 3, 1}, "prompt-lookup:reading=transformers"), IsEmpty()) << "9 is an end token";
  EXPECT_THAT(guesses({1, 2, 3}, "prompt-lookup:reading=transformers"), IsEmpty());
  EXPECT_THAT(guesses({5, 1, 2, 3, 8, 1, 2, 3, 7, 5, 1, 2, 3}, "prompt-lookup:length=2,match=longest"),
              ElementsAre(8, 1));
}

}  // namespace
}  // namespace draftscope::speculation
