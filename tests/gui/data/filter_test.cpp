// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the filter of rounds. Errors are one short line. The rounds left are those that plain code for each
// term leaves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "data/rounds/matching_rounds.h"
#include "data/rounds/round_filter.h"
#include "of_sample.h"

namespace draftscope::gui {
namespace {

using testing::HasSubstr;

TEST(RoundFilter, IsReadAsPeopleWriteIt) {
  const auto filter =
      parse_filter(" category:prose  accepted=0 time>3ms run:swift !token=\"the\" threshold<=.5");
  ASSERT_TRUE(filter) << filter.error().message;
  ASSERT_EQ(filter->terms.size(), 6U);
  EXPECT_EQ(filter->terms[0].field->name, "category");
  EXPECT_EQ(filter->terms[0].text, "prose");
  EXPECT_EQ(filter->terms[1].test, FilterTest::equal);
  EXPECT_EQ(filter->terms[2].test, FilterTest::more);
  EXPECT_DOUBLE_EQ(filter->terms[2].number, 3e6);
  EXPECT_TRUE(filter->terms[4].is_negated);
  EXPECT_DOUBLE_EQ(filter->terms[5].number, 0.5);
  EXPECT_EQ(parse_filter("time=2us")->terms[0].number, 2000.0);
  EXPECT_EQ(parse_filter("token:\"a \\\"b\\\\\"")->terms[0].text, "a \"b\\");
  EXPECT_EQ(parse_filter("")->terms.size(), 0U);
}

TEST(RoundFilter, SaysWhatItFoundAndWhatItExpected) {
  for (const auto& [words, found, expected] :
       std::vector<std::array<const char*, 3>>{{"acepted=0", "'acepted'", "accepted"},
                                               {"accepted", "found the end", "= != < <= > or >="},
                                               {"accepted=", "found the end", "a number"},
                                               {"accepted=two", "'two'", "a number"},
                                               {"accepted=nan", "'nan'", "a number"},
                                               {"time>3", "'3'", "unit"},
                                               {"time>3days", "'3days'", "unit"},
                                               {"category<5", "'<'", ": = or !="},
                                               {"category:\"prose", "'\"prose'", "closing quote"},
                                               {"category:\"a\"b", "'b'", "a space"},
                                               {"=5", "'=5'", "a field"},
                                               {"!", "found the end", "a field"},
                                               {"accepted=0 category:", "character 21", "a text"}}) {
    const auto filter = parse_filter(words);
    ASSERT_FALSE(filter) << words;
    EXPECT_THAT(filter.error().message, HasSubstr(found)) << words;
    EXPECT_THAT(filter.error().message, HasSubstr(expected)) << words;
  }
}

TEST(RoundFilter, TakesAnyInput) {
  std::mt19937 random(5);
  const std::vector<std::string> parts{
      "accepted", "time", "token",     ":",  "=", "!=", "<", ">=",   "!",
      "\"",       "\\",   "3",         "ms", " ", "\n", "é", "\xC3", std::string(1, '\0'),
      "1e999",    "-",    "category:x"};
  for (int i = 0; i < 20000; ++i) {
    std::string words;
    for (std::uint32_t part = random() % 9; part > 0; --part) words += parts[random() % parts.size()];
    const auto filter = parse_filter(words);
    if (!filter) {
      EXPECT_LT(filter.error().message.size(), 300U);
      EXPECT_EQ(filter.error().message.find('\n'), std::string::npos) << filter.error().message;
    }
  }
  const auto many = parse_filter(std::string(100000, 'x'));
  ASSERT_FALSE(many);
  EXPECT_LT(many.error().message.size(), 300U);
}

class MatchingRounds : public OfSample {
 protected:
  void SetUp() override {
    open({.seed = 3, .runs = 3, .requests_per_run = 4, .max_rounds = 25},
         "UPDATE draft_tokens SET confidence = NULL WHERE parent = -1 AND round % 2 = 0");
  }
  [[nodiscard]] std::vector<bool> left_by(const std::string& words) const {
    return matching_rounds(*opened_, parse_filter(words).value(), [] { return true; });
  }
  template <typename Holds>
  void expect_left(const std::string& words, const Holds& holds) {
    const std::vector<bool> left = left_by(words);
    for (std::uint32_t i = 0; i < left.size(); ++i)
      EXPECT_EQ(left[i], holds(opened_->round(i), opened_->request_of(i),
                               *opened_->prompt_of(opened_->request_of(i)), i))
          << words << " round " << i;
  }
};

TEST_F(MatchingRounds, AreThoseThatEachTermHoldsFor) {
  using traces::Prompt;
  using traces::Request;
  using traces::Round;
  const std::string category = opened_->recording().prompts.front().category;
  const std::string run = opened_->recording().runs[1].specification;
  expect_left("accepted=0",
              [](const Round& round, const Request&, const Prompt&, auto) { return round.accepted == 0; });
  expect_left("drafted>=3 !accepted<2", [](const Round& round, const Request&, const Prompt&, auto) {
    return round.drafted >= 3 && round.accepted >= 2;
  });
  expect_left("time>1us", [](const Round& round, const Request&, const Prompt&, auto) {
    return round.end_ns - round.start_ns > 1000;
  });
  expect_left("threshold<2",
              [](const Round& round, const Request&, const Prompt&, auto) { return round.threshold >= 0.0; });
  expect_left("repeat=1",
              [](const Round&, const Request& request, const Prompt&, auto) { return request.repeat == 1; });
  expect_left("category=\"" + category + "\"", [&](const Round&, const Request&, const Prompt& prompt, auto) {
    return prompt.category == category;
  });
  expect_left("run=\"" + run + "\"", [&](const Round&, const Request& request, const Prompt&, auto) {
    return request.run_id == opened_->recording().runs[1].id;
  });
  expect_left("stop!=length", [](const Round& round, const Request&, const Prompt&, auto) {
    return round.draft_stop != traces::DraftStop::length;
  });
  expect_left("confidence<0.3", [&](const Round&, const Request&, const Prompt&, std::uint32_t i) {
    const auto drafts = opened_->draft_tokens(i);
    return std::any_of(drafts.begin(), drafts.end(),
                       [](const traces::DraftToken& token) { return token.confidence < 0.3; });
  });
}

TEST_F(MatchingRounds, HaveATokenThatIsAskedFor) {
  std::int32_t token = -1;
  for (const traces::DraftToken& draft : opened_->recording().draft_tokens)
    if (const std::string text = opened_->token_text(draft.token);
        text.size() > 2 && text.find_first_of("\"\\ \n\t") == std::string::npos)
      token = draft.token;
  ASSERT_GE(token, 0);
  const std::string text = opened_->token_text(token);
  const std::vector<bool> left = left_by("token=\"" + text + "\"");
  EXPECT_GT(std::count(left.begin(), left.end(), true), 0);
  for (std::uint32_t i = 0; i < left.size(); ++i) {
    const auto drafts = opened_->draft_tokens(i);
    const bool has =
        opened_->round(i).bonus_token == token ||
        std::any_of(drafts.begin(), drafts.end(), [&](const auto& draft) { return draft.token == token; });
    if (has) {
      EXPECT_TRUE(left[i]) << i;
    }
  }
  const std::vector<bool> others = left_by("token!=\"" + text + "\"");
  for (std::size_t i = 0; i < left.size(); ++i) EXPECT_NE(left[i], others[i]);
}

TEST_F(MatchingRounds, StandInAFilteredRecordingInTheirOrder) {
  const std::vector<bool> keeps = left_by("accepted>0");
  const RecordingPointer left = opened_->filtered(keeps);
  for (std::size_t run = 0; run < opened_->runs().size(); ++run) {
    std::vector<std::uint32_t> expected;
    for (const std::uint32_t round_index : opened_->runs()[run].rounds)
      if (keeps[round_index]) expected.push_back(round_index);
    EXPECT_EQ(left->runs()[run].rounds, expected);
    for (std::uint32_t place = 0; place < expected.size(); ++place) {
      EXPECT_EQ(left->place_in_run(expected[place]), place);
      EXPECT_EQ(left->number_in_run(expected[place]), opened_->place_in_run(expected[place]));
    }
  }
  for (std::uint32_t i = 0; i < keeps.size(); ++i)
    if (!keeps[i]) {
      EXPECT_EQ(left->place_in_run(i), no_index);
    }
  // Filtering a filtered recording keeps the original numbers.
  const RecordingPointer none = left->filtered(std::vector<bool>(keeps.size(), false));
  EXPECT_TRUE(none->runs()[1].rounds.empty());
  EXPECT_EQ(none->number_in_run(0), opened_->place_in_run(0));
}

TEST_F(MatchingRounds, AreFoundByTheirTime) {
  const std::vector<bool> keeps = left_by("accepted>1");
  const LeftRounds left(opened_->filtered(keeps));
  std::mt19937 random(5);
  const TimeRange whole = opened_->whole();
  for (int trial = 0; trial < 400; ++trial) {
    const std::int64_t start = whole.start_ns + static_cast<std::int64_t>(random()) % whole.duration_ns();
    const TimeRange time{
        start, start + 1 + static_cast<std::int64_t>(random()) % (trial % 2 == 0 ? 1000 : 5'000'000)};
    const std::size_t run = random() % (opened_->runs().size() + 1);
    bool expected = false;
    for (std::uint32_t i = 0; i < keeps.size(); ++i)
      expected =
          expected || (keeps[i] && (run == opened_->runs().size() || opened_->run_of(i) == run) &&
                       opened_->round(i).start_ns < time.end_ns && opened_->round(i).end_ns > time.start_ns);
    EXPECT_EQ(left.any_in(run, time), expected) << trial;
  }
  for (std::uint32_t i = 0; i < keeps.size(); ++i) EXPECT_EQ(left.has(i), keeps[i]);
}

}  // namespace
}  // namespace draftscope::gui
