// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/what_if.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "advice/learnt.h"
#include "answers/prompt_statistics.h"

namespace draftscope::simulator {
namespace {

using testing::Contains;
using testing::HasSubstr;

/// Sentences of invented words from the letters of `alphabet`.
std::string prose(std::mt19937_64& random, const std::string& alphabet, int words) {
  std::uniform_int_distribution<std::size_t> letter(0, alphabet.size() - 1);
  std::uniform_int_distribution<int> length(2, 7);
  std::string text;
  for (int word = 0; word < words; ++word) {
    for (int left = length(random); left > 0; --left) text += alphabet[letter(random)];
    text += word % 9 == 8 ? ". " : " ";
  }
  return text;
}

std::vector<std::string> texts(std::uint64_t seed, const std::string& alphabet, int count, int words = 40) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int> more(0, words);
  std::vector<std::string> found;
  for (int i = 0; i < count; ++i) found.push_back(prose(random, alphabet, words + more(random)));
  return found;
}

constexpr const char* letters = "eeeetttaaoinshrdlu";
constexpr const char* symbols = "(){};=+-<>_xyzif01";

traces::Recording recording_of(const std::vector<std::string>& prompts) {
  traces::Recording recording;
  for (const std::string& text : prompts) {
    const auto id = static_cast<std::int64_t>(recording.prompts.size()) + 1;
    recording.prompts.push_back({.id = traces::PromptId::from(id), .question_id = id, .text = text});
    recording.requests.push_back(
        {.id = traces::RequestId::from(id), .prompt_id = traces::PromptId::from(id)});
  }
  return recording;
}

TEST(ComparePrompts, TellsKindsOfTextsApart) {
  const traces::Recording recording = recording_of(texts(1, letters, 20));
  const auto other = compare_prompts(recording, texts(2, symbols, 12));
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_TRUE(other->is_other_kind);
  EXPECT_THAT(other->difference, HasSubstr("entropy under the recorded ones"));
  const auto longer = compare_prompts(recording, texts(3, letters, 12, 400));
  ASSERT_TRUE(longer);
  EXPECT_TRUE(longer->is_other_kind);
  EXPECT_THAT(longer->difference, HasSubstr("length"));
  std::vector<std::string> repeating;
  for (const std::string& text : texts(4, letters, 12, 10))
    repeating.push_back(fmt::format("{0}{0}{0}{0}", text));
  const auto repeated = compare_prompts(recording, repeating);
  ASSERT_TRUE(repeated);
  EXPECT_THAT(repeated->difference, HasSubstr("repeated share"));
}

TEST(ComparePrompts, SeldomTakesTheSameKindForAnother) {
  int others = 0;
  constexpr int repeats = 60;
  for (std::uint64_t seed = 0; seed < repeats; ++seed) {
    const auto found =
        compare_prompts(recording_of(texts(100 + seed, letters, 16)), texts(200 + seed, letters, 8));
    ASSERT_TRUE(found);
    if (found->is_other_kind) ++others;
  }
  // There are three statistics with 99 % each.
  EXPECT_LE(others, 6);
}

TEST(ComparePrompts, KnowsTheRecordedOnesAndLeavesOutATemplate) {
  const std::vector<std::string> asked = texts(5, letters, 16);
  std::vector<std::string> recorded;
  for (const std::string& text : asked)
    recorded.push_back("<|system|>You are a helpful assistant.\n<|user|>" + text + "\n<|assistant|>");
  const auto same = compare_prompts(recording_of(recorded), asked);
  ASSERT_TRUE(same) << same.error().message;
  EXPECT_FALSE(same->is_other_kind) << same->difference;
}

TEST(ComparePrompts, RefusesTooFew) {
  const traces::Recording recording = recording_of(texts(1, letters, 20));
  EXPECT_THAT(compare_prompts(recording, {}).error().message, HasSubstr("0 asked about"));
  EXPECT_THAT(compare_prompts(recording, texts(2, letters, 1)).error().message, HasSubstr("1 asked about"));
  EXPECT_THAT(compare_prompts(recording_of(texts(1, letters, 2)), texts(2, letters, 20)).error().message,
              HasSubstr("2 with a text recorded"));
}

TEST(PromptStatistics, AreWhatTheySay) {
  EXPECT_EQ(repeated_share("abcdefgh"), 0.0);
  EXPECT_NEAR(repeated_share("abcdefghabcdefgh"), 1.0 / 9.0, 1e-12);
  const ByteTrigrams alike("aaaaaaaaaaaaaaaaaaaa");
  EXPECT_NEAR(alike.entropy("aaaaaaaaaa"), 0.0, 0.05);
  EXPECT_NEAR(ByteTrigrams().entropy("anything"), 8.0, 1e-9);
  EXPECT_GT(alike.entropy("zq"), 8.0);
  ByteTrigrams both("some text of one kind");
  both.add("another text");
  EXPECT_NEAR(both.entropy("another text", ByteTrigrams("another text")),
              ByteTrigrams("some text of one kind").entropy("another text"), 1e-12);
}

TEST(OtherTexts, WidenTheAnswerAndAreNoted) {
  const Learnt learnt({});
  StrategyRounds rounds = learnt.what_if().rounds("layerskip:exit=3,gamma=4").value();
  const CostModel& costs = learnt.what_if().costs().model;
  const Answer same = ask(costs, rounds, learnt.machine(), {.draws = 400}).value();
  ask_of_other_texts(rounds, "length 9 bytes, recorded 3");
  const Answer other = ask(costs, rounds, learnt.machine(), {.draws = 400}).value();
  EXPECT_EQ(other.status, AnswerStatus::approximate);
  EXPECT_FALSE(same.text_spread);
  ASSERT_TRUE(other.text_spread);
  EXPECT_EQ(other.speedup.min_drafted.value, same.speedup.min_drafted.value);
  const auto width = [](const Answer& answer) {
    const auto interval = answer.speedup.interval_95();
    return interval->high - interval->low;
  };
  EXPECT_GT(width(other), 1.2 * width(same));
  EXPECT_THAT(other.notes, Contains(HasSubstr("length 9 bytes, recorded 3")));
  EXPECT_THAT(other.notes, Contains(HasSubstr("kind")));
}

}  // namespace
}  // namespace draftscope::simulator
