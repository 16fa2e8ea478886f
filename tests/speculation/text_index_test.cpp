// SPDX-License-Identifier: GPL-3.0-or-later
// Both indices of a growing text against a search through the whole of it.

#include <draftscope/speculation/rules/ngram_index.h>
#include <draftscope/speculation/rules/suffix_automaton.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "random_text.h"

namespace draftscope::speculation {
namespace {

/// Positions behind the occurrences of the last `size` tokens, the end of the text left out.
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
    // Too little room must only cost time; a second text must not meet the first.
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

}  // namespace
}  // namespace draftscope::speculation
