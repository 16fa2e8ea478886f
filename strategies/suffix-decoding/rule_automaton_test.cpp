// SPDX-License-Identifier: GPL-3.0-or-later
// Both indices of a growing text are compared with a search through the whole of it.

#include <gtest/gtest.h>

#include <algorithm>

#include "random_text.h"
#include "strategies/prompt-lookup/rule.h"
#include "strategies/suffix-decoding/rule_automaton.h"

namespace draftscope::speculation {
namespace {

/// Positions after the occurrences of the last `size` tokens, except the end of the text.
std::vector<std::int32_t> behind_occurrences(const Tokens& text, std::size_t size) {
  std::vector<std::int32_t> found;
  for (std::size_t start = 0; start + size < text.size(); ++start)
    if (std::equal(text.end() - static_cast<std::ptrdiff_t>(size), text.end(),
                   text.begin() + static_cast<std::ptrdiff_t>(start)))
      found.push_back(static_cast<std::int32_t>(start + size));
  return found;
}

TEST(NgramIndex, FindsWhatASearchFinds) {
  Random random(31);
  int found_some = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const Tokens text = any_text(random);
    const auto size = static_cast<std::size_t>(pick(random, 1, 5));
    NgramIndex index(static_cast<std::int32_t>(size));
    // Too little room may only cost time, and a second text must not meet the first.
    index.begin(static_cast<std::size_t>(pick(random, 0, 40)));
    index.extend(any_text(random));
    index.begin(static_cast<std::size_t>(pick(random, 0, 40)));
    for (std::size_t length = 0; length < text.size();) {
      length = std::min(text.size(), length + static_cast<std::size_t>(pick(random, 1, 5)));
      const Tokens start(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(length));
      index.extend(start);
      const auto expected = size <= length ? behind_occurrences(start, size) : std::vector<std::int32_t>();
      ASSERT_EQ(index.behind_leftmost(), expected.empty() ? -1 : expected.front());
      const std::int32_t most = pick(random, -5, static_cast<std::int32_t>(length));
      const auto too_late = std::upper_bound(expected.begin(), expected.end(), most);
      ASSERT_EQ(index.behind_latest(most), too_late == expected.begin() ? -1 : *(too_late - 1));
      found_some += expected.empty() ? 0 : 1;
    }
  }
  EXPECT_GT(found_some, 1000);
}

TEST(SuffixAutomaton, FindsTheLongestEndThatASearchFinds) {
  Random random(32);
  std::int32_t longest = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const Tokens text = any_text(random);
    SuffixAutomaton automaton;
    automaton.begin(static_cast<std::size_t>(pick(random, 0, 40)));
    automaton.extend(any_text(random));
    automaton.begin(static_cast<std::size_t>(pick(random, 0, 40)));
    for (std::size_t length = 0; length < text.size();) {
      length = std::min(text.size(), length + static_cast<std::size_t>(pick(random, 1, 5)));
      const Tokens start(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(length));
      automaton.extend(start);
      const std::int32_t most = pick(random, -5, static_cast<std::int32_t>(length) - 1);
      std::optional<SuffixAutomaton::Match> expected;
      for (std::size_t size = 1; size < length; ++size) {
        const auto behind = behind_occurrences(start, size);
        if (!behind.empty() && behind.front() <= most)
          expected = SuffixAutomaton::Match{static_cast<std::int32_t>(size), behind.front()};
      }
      const auto found = automaton.longest(most);
      ASSERT_EQ(found.has_value(), expected.has_value());
      if (!found) continue;
      ASSERT_EQ(found->length, expected->length);
      ASSERT_EQ(found->behind, expected->behind);
      longest = std::max(longest, found->length);
    }
  }
  EXPECT_GT(longest, 40);
}

/// How often a string occurs in the text.
std::int32_t occurrences(const Tokens& text, const Tokens& string) {
  std::int32_t count = 0;
  for (auto at = text.begin(); text.end() - at >= static_cast<std::ptrdiff_t>(string.size()); ++at)
    count += std::equal(string.begin(), string.end(), at) ? 1 : 0;
  return count;
}

TEST(SuffixAutomaton, CountsShortStringsAndWhatFollowsThem) {
  Random random(35);
  int checked = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const Tokens text = any_text(random);
    const std::int32_t depth = pick(random, 1, 6);
    SuffixAutomaton automaton;
    automaton.begin(static_cast<std::size_t>(pick(random, 0, 40)), depth + 1);
    const auto start = static_cast<std::ptrdiff_t>(random() % text.size());
    const auto length = pick(random, 1, depth);
    automaton.extend(text);
    SuffixAutomaton::Place place = 0;
    Tokens string;
    // A string longer than the depth is looked up without its first tokens.
    for (auto at = text.begin() + start; at != text.end() && place >= 0 && string.size() < 12; ++at) {
      place = automaton.next(place, *at, depth);
      ASSERT_GT(place, 0);
      string.push_back(*at);
      if (static_cast<std::int32_t>(string.size()) > depth) string.erase(string.begin());
      ASSERT_EQ(automaton.count(place), occurrences(text, string)) << "trial " << trial;
      std::int32_t most = 0;
      std::size_t steps = 0;
      automaton.each_next(place, [&](SuffixAutomaton::Step step) {
        Tokens longer = string;
        longer.push_back(step.token);
        const std::int32_t count = occurrences(text, longer);
        EXPECT_EQ(automaton.count(step.place), count);
        most = std::max(most, count);
        ++steps;
      });
      const auto best = automaton.likeliest(place);
      ASSERT_EQ(best.has_value(), steps > 0);
      if (best) {
        EXPECT_EQ(automaton.count(best->place), most);
        ++checked;
      }
    }
    // The place of the text's end must be that of its own last tokens.
    const std::size_t size = std::min(text.size(), static_cast<std::size_t>(length));
    SuffixAutomaton::Place end = 0;
    for (std::size_t i = text.size() - size; i < text.size(); ++i) end = automaton.next(end, text[i], length);
    EXPECT_EQ(automaton.end(length), end);
  }
  EXPECT_GT(checked, 500);
}

}  // namespace
}  // namespace draftscope::speculation
