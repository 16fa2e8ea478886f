// SPDX-License-Identifier: GPL-3.0-or-later
// A tokenizer is a program from an unknown source: what it may do for a text is bounded, and the line that
// refuses it names the stage.

#include <draftscope/engine/tokenizer.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <regex>
#include <vector>

#include "goldens.h"
#include "tokenizer/split/pattern.h"

namespace draftscope::engine {
namespace {

using nlohmann::json;
using tokenizer::Pattern;
using tokenizer::StepBudget;

json file_with(const char* stage, json value) {
  json file = json::parse(R"({"version": "1.0", "added_tokens": [],
    "model": {"type": "BPE", "unk_token": null, "vocab": {"a": 0, "b": 1, "aa": 2}, "merges": ["a a"]}})");
  file[stage] = std::move(value);
  return file;
}

json replace(const char* kind, const std::string& pattern, const std::string& content) {
  return {{"type", "Replace"}, {"pattern", {{kind, pattern}}}, {"content", content}};
}

json repeated(const char* member, const json& step, std::size_t times) {
  return {{"type", "Sequence"}, {member, std::vector<json>(times, step)}};
}

json split(const std::string& pattern) {
  return {{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}};
}

json added(std::string content, bool normalized) {
  return json::array({{{"id", 3},
                       {"content", std::move(content)},
                       {"special", true},
                       {"single_word", false},
                       {"lstrip", false},
                       {"rstrip", false},
                       {"normalized", normalized}}});
}

json processor(const std::vector<json>& single, std::size_t ids) {
  return {{"type", "TemplateProcessing"},
          {"single", single},
          {"special_tokens", {{"a", {{"ids", std::vector<int>(ids, 0)}}}}}};
}

json sequence() {
  return {{"Sequence", {{"id", "A"}}}};
}

json special() {
  return {{"SpecialToken", {{"id", "a"}}}};
}

struct Bomb {
  json file;
  std::string text;
  std::string message;
};

std::vector<Bomb> bombs() {
  const std::string many(2800, 'a');
  const json doubling = replace("String", "a", "aa");
  const json prefix{{"type", "ByteLevel"}, {"add_prefix_space", true}, {"use_regex", false}};
  json with_added = file_with("normalizer", repeated("normalizers", doubling, 40));
  with_added["added_tokens"] = added("a", true);
  json deep = file_with("normalizer", nullptr);
  deep["added_tokens"] = added(std::string(60'000, 'a') + "b", false);
  std::string alternatives = "x";
  for (int i = 0; i < 500; ++i) alternatives += "|[^b]{60}[c-e]";
  return {
      {file_with("normalizer", repeated("normalizers", doubling, 28)), "a",
       "text: the tokenizer's normalizer"},
      {file_with("normalizer", repeated("normalizers", doubling, 40)), many,
       "text: the tokenizer's normalizer"},
      {file_with("normalizer", repeated("normalizers", doubling, 257)), "",
       "more than 256 steps, expected at"},
      {file_with("normalizer", replace("String", "a", std::string(4'000'000, 'b'))), many, "normalizer"},
      {file_with("normalizer", replace("Regex", "", std::string(100'000, 'b'))), many, "normalizer"},
      {file_with("normalizer", {{"type", "Prepend"}, {"prepend", std::string(8'000'000, 'a')}}), "b",
       "model"},
      {with_added, "", "tokenizer.json: the tokenizer's normalizer needs more than"},
      {deep, std::string(200'000, 'a'), "text: the tokenizer's added_tokens needs more than"},
      {file_with("pre_tokenizer", repeated("pretokenizers", prefix, 40)), many, "pre_tokenizer"},
      {file_with("pre_tokenizer", split("(?:a|a)*[bc]")), many, "text: the tokenizer's pre_tokenizer"},
      {file_with("pre_tokenizer", split("(?:a+)+[bc]")), many, "text: the tokenizer's pre_tokenizer"},
      {file_with("pre_tokenizer", split("(?=(?:a*)*b)a")), many, "text: the tokenizer's pre_tokenizer"},
      // One step of a pattern may read all that follows, or fail at any number of alternatives.
      {file_with("pre_tokenizer", split("(?=.*.*.*[bc])")), many, "text: the tokenizer's pre_tokenizer"},
      {file_with("pre_tokenizer", repeated("pretokenizers", split(alternatives), 200)), many,
       "text: the tokenizer's pre_tokenizer"},
      {file_with("pre_tokenizer", split("a*(?=[^c]*[de])[bf]")), many, "text: the tokenizer's pre_tokenizer"},
      {file_with("pre_tokenizer", split("(?:a{99}){28}a{100}[bc]")), many, "'{100}' in a regular expression"},
      {file_with("pre_tokenizer", split("a+[bc]")), std::string(200'000, 'a'),
       "text: the tokenizer's pre_tokenizer"},
      {file_with("pre_tokenizer", split(std::string(70'000, 'a'))), "", "longer than the limit"},
      {file_with("decoder", repeated("decoders", doubling, 40)), "",
       "a token of 2 bytes becomes up to 2.2e+12 bytes by the decoder, expected at most 65536"},
      {file_with("decoder", replace("String", "a", std::string(1'000'000, 'b'))), "", "by the decoder"},
      {file_with("decoder", repeated("decoders", replace("String", "a", "b"), 257)), "",
       "more than 256 steps"},
      {file_with("post_processor", repeated("processors", processor({sequence(), sequence()}, 1), 40)), "",
       "more than 65536 tokens with those of the templates before it, expected at most 65536"},
      {file_with("post_processor", processor(std::vector<json>(300, special()), 300)), "", "more than 65536"},
      {file_with("post_processor", processor({special()}, 70'000)), "", "more than 65536 tokens"},
  };
}

TEST(TokenizerBudget, StopsEveryBombInALineThatNamesItsStage) {
  for (const Bomb& bomb : bombs()) {
    SCOPED_TRACE(bomb.message);
    const auto read = Tokenizer::parse(bomb.file.dump());
    const auto ids = read ? read->encode(bomb.text) : tl::unexpected<Error>(read.error());
    ASSERT_FALSE(ids);
    EXPECT_THAT(ids.error().message, testing::HasSubstr(bomb.message));
    EXPECT_THAT(ids.error().message, testing::HasSubstr("expected"));
    EXPECT_LT(ids.error().message.size(), 400U);
  }
}

// A search sees little text and few places at a time; std::regex is an implementation of its own and sees
// all.
TEST(TokenizerBudget, LeavesTheMatchesOfPatternsAsTheyAre) {
  const std::vector<std::string> patterns{"a+b",           "(?:ab?)+c", "a*",       "b{3,}",
                                          "(?=a)b|a{2,5}", "[^b]+c",    "(?:a|b)*c"};
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    std::mt19937_64 random(seed);
    std::string text;
    while (text.size() < 6000) text.append(random() % 8 == 0 ? 900 : 1, "abc"[random() % 3]);
    for (const std::string& expression : patterns) {
      SCOPED_TRACE(fmt::format("seed {}, pattern {}", seed, expression));
      const auto pattern = Pattern::regex(expression, "pattern");
      ASSERT_TRUE(pattern);
      StepBudget budget("text", text.size());
      std::size_t matched = 0;
      std::size_t count = 0;
      ASSERT_TRUE(pattern->for_each_match(text, budget, [&](tokenizer::Range match) {
        matched += (match.end - match.begin) * (match.begin + 1);
        ++count;
      }));
      const std::regex expected(expression);
      std::size_t expected_matched = 0;
      std::size_t expected_count = 0;
      std::size_t last_end = std::string::npos;
      for (std::sregex_iterator at(text.begin(), text.end(), expected), end; at != end; ++at) {
        const auto begin = static_cast<std::size_t>(at->position());
        const auto length = static_cast<std::size_t>(at->length());
        if (length == 0 && begin == last_end) continue;  // Tokenizers pass over an empty match after a match.
        last_end = begin + length;
        expected_matched += length * (begin + 1);
        ++expected_count;
      }
      EXPECT_EQ(matched, expected_matched);
      EXPECT_EQ(count, expected_count);
    }
  }
}

}  // namespace
}  // namespace draftscope::engine
