// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/prompt_tokens.h>
#include <draftscope/engine/shared_tokens.h>

#include "goldens.h"

namespace draftscope::engine {
namespace {

using nlohmann::json;

/// Seven pieces, an added token, and a hole at 9 before another.
json file() {
  return json::parse(R"({
    "added_tokens": [
      {"id": 8, "content": "<s>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false,
       "special": true}],
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": false},
    "decoder": {"type": "ByteLevel"},
    "model": {"type": "BPE", "vocab": {"d": 0, "e": 1, "f": 2, "de": 3, "ef": 4, "def": 5, "x": 6, "y": 10},
              "merges": ["d e", "de f", "e f"]}})");
}

/// Digits by id, 1 = shared, or the error.
std::string shared(const json& target, std::int32_t target_rows, const json& draft, std::int32_t draft_rows) {
  const auto of_target = Tokenizer::parse(target.dump());
  const auto of_draft = Tokenizer::parse(draft.dump());
  if (!of_target || !of_draft) return "not read";
  const auto found = shared_tokens({*of_target, target_rows}, {*of_draft, draft_rows}, "small");
  if (!found) return found.error().message;
  std::string text;
  for (const bool is_shared : *found) text += is_shared ? '1' : '0';
  return text;
}

TEST(SharedTokens, AreThoseThatBothNameAndHaveARowFor) {
  EXPECT_EQ(shared(file(), 11, file(), 11), "11111110101");
  EXPECT_EQ(shared(file(), 12, file(), 16), "111111101010");
  EXPECT_EQ(shared(file(), 16, file(), 9), "111111101");
  json fewer = file();
  fewer["added_tokens"] = nullptr;
  EXPECT_EQ(shared(file(), 11, fewer, 11), "11111110001");
  EXPECT_EQ(shared(fewer, 11, file(), 11), "11111110001");
}

TEST(SharedTokens, NameTheFirstThatDiffers) {
  json exchanged = file();
  exchanged["model"]["vocab"]["x"] = 10;
  exchanged["model"]["vocab"]["y"] = 6;
  EXPECT_EQ(shared(file(), 11, exchanged, 11),
            "small: token 6 is 'y', expected 'x' as in the target's tokenizer");
  json renamed = file();
  renamed["added_tokens"][0]["content"] = "<t>";
  EXPECT_EQ(shared(file(), 11, renamed, 11),
            "small: token 8 is '<t>', expected '<s>' as in the target's tokenizer");
}

TEST(SharedTokens, RefuseOtherMergesAndOtherTokenizers) {
  json merges = file();
  merges["model"]["merges"] = json::array({"e f", "d e", "de f"});
  EXPECT_EQ(shared(file(), 11, merges, 11), "small: tokenizes differently, expected the target's tokenizer");
  json other = file();
  other["added_tokens"] = nullptr;
  other["model"] = {{"type", "BPE"}, {"vocab", {{"z", 9}}}, {"merges", json::array()}};
  EXPECT_EQ(shared(file(), 11, other, 11),
            "small: shares no token with the target, expected the target's tokenizer");
}

TEST(PromptTokens, HaveTheirFirstTokenOnceThoughTheTextBringsIt) {
  json adding = file();
  adding["post_processor"] = json::parse(R"({
    "type": "TemplateProcessing", "pair": [],
    "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "special_tokens": {"<s>": {"id": "<s>", "ids": [8], "tokens": ["<s>"]}}})");
  using Ids = std::vector<std::int32_t>;
  const auto check = [](const json& of, std::string_view text, const Ids& ids, std::string_view start) {
    const auto prompt = prompt_tokens(*Tokenizer::parse(of.dump()), text);
    ASSERT_TRUE(prompt) << text;
    EXPECT_EQ(prompt->tokens, ids) << text;
    EXPECT_EQ(prompt->doubled_start, start) << text;
  };
  check(adding, "x", {8, 6}, "");
  check(adding, "<s>x", {8, 6}, "<s>");
  check(adding, "<s><s>x", {8, 8, 6}, "<s>");
  check(adding, "x<s>", {8, 6, 8}, "");
  check(file(), "<s>x", {8, 6}, "");
  check(file(), "<s><s>x", {8, 8, 6}, "");
}

}  // namespace
}  // namespace draftscope::engine
