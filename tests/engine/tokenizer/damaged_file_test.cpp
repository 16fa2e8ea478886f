// SPDX-License-Identifier: GPL-3.0-or-later
// A tokenizer.json that is malformed, or needs what is not implemented, is refused in one line that names the
// place. Each case changes one place of a small valid file.

#include <filesystem>
#include <tuple>

#include "goldens.h"
#include "temporary_folder.h"

namespace draftscope::engine {
namespace {

using nlohmann::json;
using pointer = json::json_pointer;

json small_file() {
  return json::parse(R"({
    "version": "1.0",
    "added_tokens": [
      {"id": 3, "content": "<s>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false,
       "special": true}],
    "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}]},
    "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
      {"type": "Split", "pattern": {"Regex": "\\s+"}, "behavior": "Isolated", "invert": false},
      {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false}]},
    "post_processor": {"type": "TemplateProcessing",
      "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
      "pair": [], "special_tokens": {"<s>": {"id": "<s>", "ids": [3], "tokens": ["<s>"]}}},
    "decoder": {"type": "ByteLevel"},
    "model": {"type": "BPE", "unk_token": null, "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}})");
}

struct Damage {
  const char* at;
  json value;
  std::string message;  // text after "tokenizer.json: "
};

json nested(int depth) {
  json sequence{{"type", "NFC"}};
  for (int i = 0; i < depth; ++i) sequence = {{"type", "Sequence"}, {"normalizers", json::array({sequence})}};
  return sequence;
}

const std::vector<Damage>& damages() {
  static const std::vector<Damage> table{
      {"/version", "2.0", "version is '2.0', expected '1.0'"},
      {"/version", 1, "version is 1, expected a string"},

      {"/added_tokens", 3, "added_tokens is 3, expected a list"},
      {"/added_tokens/0", "<s>", "added_tokens[0] is '<s>', expected an object"},
      {"/added_tokens/0/id", "3", "added_tokens[0].id is '3', expected an integer from 0 to 2147483647"},
      {"/added_tokens/0/id", -1, "added_tokens[0].id is -1, expected an integer from 0 to 2147483647"},
      {"/added_tokens/0/id", 1.5, "added_tokens[0].id is 1.5, expected an integer from 0 to 2147483647"},
      {"/added_tokens/0/id", 4'000'000'000, "added_tokens[0].id is 4000000000, expected an integer from 0"},
      {"/added_tokens/0/content", nullptr, "added_tokens[0].content is null, expected a string"},
      {"/added_tokens/0/content", "", "added_tokens[0].content is empty, expected at least one character"},
      {"/added_tokens/0/special", 1, "added_tokens[0].special is 1, expected true or false"},
      {"/added_tokens/0/lstrip", nullptr, "added_tokens[0].lstrip is null, expected true or false"},
      {"/added_tokens/0/rstrip", "no", "added_tokens[0].rstrip is 'no', expected true or false"},
      {"/added_tokens/0/single_word", json::array(),
       "added_tokens[0].single_word is an array, expected true or"},
      {"/added_tokens/0/normalized", json::object(),
       "added_tokens[0].normalized is an object, expected true or"},

      {"/normalizer", "NFC", "normalizer is 'NFC', expected an object"},
      {"/normalizer", json::object(), "normalizer.type is missing, expected a string"},
      {"/normalizer", {{"type", "Lowercase"}}, "normalizer: normalizer 'Lowercase' is not implemented"},
      {"/normalizer/normalizers", 1, "normalizer.normalizers is 1, expected a list"},
      {"/normalizer/normalizers/0/type", "Precompiled",
       "normalizer.normalizers[0]: normalizer 'Precompiled' is not implemented"},
      {"/normalizer", {{"type", "Prepend"}}, "normalizer.prepend is missing, expected a string"},
      {"/normalizer", {{"type", "Replace"}}, "normalizer.pattern is missing, expected an object"},
      {"/normalizer",
       {{"type", "Replace"}, {"pattern", {{"String", ""}}}, {"content", "x"}},
       "normalizer.pattern.String is empty, expected at least one character"},
      {"/normalizer",
       {{"type", "Replace"}, {"pattern", {{"String", " "}}}},
       "normalizer.content is missing, expected a string"},
      {"/normalizer", nested(30), " is nested deeper than 16"},

      {"/pre_tokenizer",
       {{"type", "Whitespace"}},
       "pre_tokenizer: pre-tokenizer 'Whitespace' is not implemented"},
      {"/pre_tokenizer/pretokenizers/0/pattern", "x",
       "pre_tokenizer.pretokenizers[0].pattern is 'x', expected an object"},
      {"/pre_tokenizer/pretokenizers/0/pattern", json::object(),
       "[0].pattern.String is missing, expected a string"},
      {"/pre_tokenizer/pretokenizers/0/pattern/Regex", 1, "[0].pattern.Regex is 1, expected a string"},
      {"/pre_tokenizer/pretokenizers/0/pattern/Regex", "(a",
       "[0].pattern.Regex: bad expression: missing closing"},
      {"/pre_tokenizer/pretokenizers/0/pattern/Regex", "[a",
       "[0].pattern.Regex: bad expression: missing terminating"},
      {"/pre_tokenizer/pretokenizers/0/pattern/Regex", "\\w+",
       "'\\w' in a regular expression is not implemented"},
      {"/pre_tokenizer/pretokenizers/0/pattern/Regex", "\\",
       "'\\' in a regular expression is not implemented"},
      {"/pre_tokenizer/pretokenizers/0/pattern/Regex", "\\u12",
       "'\\u' in a regular expression is not implemented"},
      {"/pre_tokenizer/pretokenizers/0/pattern/Regex", "\\p{Greek}",
       "'\\p{Greek}' in a regular expression is not"},
      {"/pre_tokenizer/pretokenizers/0/pattern/Regex", "\\pL",
       "'\\p' in a regular expression is not implemented"},
      {"/pre_tokenizer/pretokenizers/0/pattern/Regex", "a{1,3}+", "'{1,3}+' in a regular expression is not"},
      {"/pre_tokenizer/pretokenizers/0/pattern/Regex", "a{,3}",
       "'{' in a regular expression is not implemented"},
      {"/pre_tokenizer/pretokenizers/0/pattern/Regex", "[a[b]]",
       "'[ within [ ]' in a regular expression is not"},
      {"/pre_tokenizer/pretokenizers/0/pattern/Regex", "[a&&b]",
       "'&&' in a regular expression is not implemented"},
      {"/pre_tokenizer/pretokenizers/0/pattern/Regex", "[]a]",
       "'[]' in a regular expression is not implemented"},
      {"/pre_tokenizer/pretokenizers/0/pattern/Regex", "(?P<n>a)", "'(?P' in a regular expression is not"},
      {"/pre_tokenizer/pretokenizers/0/pattern/Regex", "(*ACCEPT)", "'(*A' in a regular expression is not"},
      {"/pre_tokenizer/pretokenizers/0/behavior", "isolated",
       "[0].behavior: 'isolated' is unknown, expected Removed"},
      {"/pre_tokenizer/pretokenizers/0/invert", nullptr, "[0].invert is null, expected true or false"},
      {"/pre_tokenizer/pretokenizers/1/add_prefix_space", nullptr,
       "[1].add_prefix_space is null, expected true"},
      {"/pre_tokenizer/pretokenizers/1/use_regex", "yes", "[1].use_regex is 'yes', expected true or false"},
      {"/pre_tokenizer",
       {{"type", "Digits"}},
       "pre_tokenizer.individual_digits is missing, expected true or false"},
      {"/pre_tokenizer",
       {{"type", "Metaspace"}, {"replacement", "ab"}},
       "pre_tokenizer.replacement is 'ab', expected a single character"},
      {"/pre_tokenizer",
       {{"type", "Metaspace"}, {"replacement", "_"}, {"prepend_scheme", "last"}},
       "pre_tokenizer.prepend_scheme: 'last' is unknown, expected always, first or never"},
      {"/pre_tokenizer",
       {{"type", "Metaspace"}, {"replacement", "_"}, {"add_prefix_space", false}},
       "pre_tokenizer.add_prefix_space is false, expected true with prepend_scheme 'always'"},

      {"/post_processor",
       {{"type", "BertProcessing"}},
       "post_processor: post-processor 'BertProcessing' is not impl"},
      {"/post_processor/single", "<s> $A", "post_processor.single is '<s> $A', expected a list"},
      {"/post_processor/single/0", "<s>", "post_processor.single[0] is '<s>', expected an object"},
      {"/post_processor/single/0", json::object(), "single[0].SpecialToken.id is missing, expected a string"},
      {"/post_processor/single/1/Sequence/id", "B",
       "post_processor.single[1].Sequence.id is 'B', expected 'A'"},
      {"/post_processor/special_tokens", json::object(),
       "special_tokens.<s>.ids is missing, expected a list"},
      {"/post_processor/special_tokens/<s>/ids/0", 4, "<s>.ids[0] is 4, expected below the vocabulary's 4"},

      {"/decoder", {{"type", "WordPiece"}}, "decoder: decoder 'WordPiece' is not implemented"},
      {"/decoder",
       {{"type", "Replace"}, {"pattern", {{"Regex", "a"}}}, {"content", ""}},
       "decoder.pattern: a Regex in a decoder is not implemented, expected a String"},
      {"/decoder",
       {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 1}},
       "decoder.stop is 1, expected 0"},
      {"/decoder",
       {{"type", "Strip"}, {"content", ""}, {"start", 1}, {"stop", 0}},
       "decoder.content is '', expected a single character"},
      {"/decoder",
       {{"type", "Sequence"}, {"decoders", json::array({{{"type", "Fuse"}}, {{"type", "ByteFallback"}}})}},
       "decoder.decoders[1]: decoder 'ByteFallback' after Fuse or ByteLevel is not implemented"},
      {"/decoder",
       {{"type", "Sequence"},
        {"decoders", json::array({{{"type", "Fuse"}},
                                  {{"type", "Replace"}, {"pattern", {{"String", "ab"}}}, {"content", ""}}})}},
       "decoder.decoders[1].pattern is 'ab', expected one character after Fuse or ByteLevel"},

      {"/model", nullptr, "model is null, expected an object"},
      {"/model/type", "Unigram", "model: model 'Unigram' is not implemented, expected BPE"},
      {"/model/dropout", 0.1, "model.dropout is 0.1, expected null: dropout is for training"},
      {"/model/continuing_subword_prefix", "##",
       "model.continuing_subword_prefix is not implemented, expected null"},
      {"/model/end_of_word_suffix", "</w>", "model.end_of_word_suffix is not implemented, expected null"},
      {"/model/fuse_unk", 1, "model.fuse_unk is 1, expected true or false"},
      {"/model/byte_fallback", "no", "model.byte_fallback is 'no', expected true or false"},
      {"/model/ignore_merges", 0, "model.ignore_merges is 0, expected true or false"},
      {"/model/unk_token", "<unk>",
       "model.unk_token: '<unk>' is unknown, expected a piece of the vocabulary"},
      {"/model/vocab", nullptr, "model.vocab is null, expected an object"},
      {"/model/vocab", json::array({"a"}), "model.vocab is an array, expected an object"},
      {"/model/vocab/a", "0", "model.vocab.a is '0', expected an integer from 0 to 2147483647"},
      {"/model/vocab/a", 1, "both have id 1"},
      {"/model/vocab/ab", 3, "both have id 3, expected ids of their own"},
      {"/model/vocab/ab", 65539, "model.vocab: 'ab' has id 65539, expected at most 65538 for 3 pieces"},
      {"/model/vocab/ab", 2147483647, "model.vocab: 'ab' has id 2147483647, expected at most 65538"},
      {"/model/merges", nullptr, "model.merges is null, expected a list"},
      {"/model/merges/0", 1, "model.merges[0] is 1, expected \"left right\" or [\"left\", \"right\"]"},
      {"/model/merges/0", "ab",
       "model.merges[0]: 'ab' is something else, expected two pieces with one space between"},
      {"/model/merges/0", "a b c",
       "model.merges[0]: 'a b c' is something else, expected two pieces with one space between"},
      {"/model/merges/0", "a x", "model.merges[0]: 'x' is unknown, expected a piece of the vocabulary"},
      {"/model/merges/0", "b a", "model.merges[0]: 'ba' is unknown, expected a piece of the vocabulary"},
      {"/model/merges/0", {"a", "b", "c"}, "model.merges[0] is an array, expected \"left right\" or"},
      {"/model/merges/0", {"a", 1}, "model.merges[0] is an array, expected \"left right\" or"},
  };
  return table;
}

TEST(TokenizerFile, LoadsTheSmallFileThatTheDamagesStartFrom) {
  const auto tokenizer = Tokenizer::parse(small_file().dump());
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_EQ(*tokenizer->encode("abba<s>"), (goldens::Ids{3, 2, 1, 0, 3}));
}

// Ids and notes are those that Hugging Face tokenizers 0.23 gives for the same files.
TEST(TokenizerFile, PassesOverWhatHuggingFacePassesOverAndSaysSo) {
  struct Case {
    const char* at;
    json value;
    goldens::Ids ids;  // of "abba<s>"
    std::string note;
  };
  const std::vector<Case> cases{
      {"/truncation",
       {{"max_length", 2}, {"stride", 0}},
       {3, 2, 1, 0, 3},
       "truncation is ignored: texts keep"},
      {"/padding", {{"strategy", {{"Fixed", 9}}}}, {3, 2, 1, 0, 3}, "padding is ignored: texts keep"},
      {"/added_tokens/0/id", 7, {3, 2, 1, 0, 3}, "'<s>' has id 7 in the file and becomes 3"},
      {"/added_tokens/0/id", 2, {3, 2, 1, 0, 3}, "'<s>' has id 2 in the file and becomes 3"},
  };
  for (const Case& one : cases) {
    json file = small_file();
    file[pointer(one.at)] = one.value;
    const auto tokenizer = Tokenizer::parse(file.dump());
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    EXPECT_EQ(*tokenizer->encode("abba<s>"), one.ids) << one.at;
    ASSERT_EQ(tokenizer->notes().size(), 1U) << one.at;
    EXPECT_THAT(tokenizer->notes()[0], testing::HasSubstr(one.note));
  }
}

TEST(TokenizerFile, NumbersAddedTokensInTheirOrder) {
  json file = small_file();
  json token = file["added_tokens"][0];
  file["model"]["vocab"]["ab"] = 20;
  file["added_tokens"].clear();
  for (const auto& [id, content] : {std::pair(7, "ab"), std::pair(5, "<x>"), std::pair(3, "<s>")}) {
    token["id"] = id;
    token["content"] = content;
    file["added_tokens"].push_back(token);
  }
  const auto tokenizer = Tokenizer::parse(file.dump());
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_EQ(tokenizer->token_id("ab"), 20);
  EXPECT_EQ(tokenizer->token_id("<x>"), 3);
  EXPECT_EQ(tokenizer->token_id("<s>"), 4);
}

TEST(TokenizerFile, MayNumberItsPiecesWithHoles) {
  json file = small_file();
  file["model"]["vocab"]["ab"] = 9;
  const auto tokenizer = Tokenizer::parse(file.dump());
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_EQ(*tokenizer->encode("abba<s>"), (goldens::Ids{3, 9, 1, 0, 3}));
  EXPECT_EQ(tokenizer->vocab_size(), 10);
  EXPECT_EQ(tokenizer->piece(9), "ab");
  EXPECT_EQ(tokenizer->piece(8), std::nullopt);
  EXPECT_EQ(tokenizer->decode(goldens::Ids{8, 9}), "ab");
}

TEST(TokenizerFile, IsRefusedWithTheNameOfTheDamagedPlace) {
  for (const Damage& damage : damages()) {
    json file = small_file();
    file[pointer(damage.at)] = damage.value;
    const auto tokenizer = Tokenizer::parse(file.dump());
    ASSERT_FALSE(tokenizer) << damage.message;
    EXPECT_THAT(tokenizer.error().message, testing::StartsWith("tokenizer.json: "));
    EXPECT_THAT(tokenizer.error().message, testing::HasSubstr(damage.message));
    EXPECT_THAT(tokenizer.error().message, testing::Not(testing::HasSubstr("\n")));
  }
}

TEST(TokenizerFile, IsRefusedWhenItIsNoJson) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "tokenizer.json: is not JSON from byte 1 on, expected a whole JSON text"},
      {"{", "tokenizer.json: is not JSON from byte 2 on, expected a whole JSON text"},
      {"{\"a\": \"\xFF\"}", "tokenizer.json: is not JSON from byte 8 on, expected a whole JSON text"},
      {"[]", "tokenizer.json is an array, expected an object"},
      {"{}", "tokenizer.json: model is missing, expected an object"},
      {"[1e400]", "tokenizer.json: holds a number that is too large, expected numbers of 64 bits"},
      {std::string("{}\0x", 4), "tokenizer.json: not valid JSON: a zero byte at byte 2"},
      {std::string(100, '['), "tokenizer.json: is not JSON from byte 101 on, expected a whole JSON text"},
      {std::string(100'000, '['), "tokenizer.json: found brackets 100000 deep, expected at most 128"},
  };
  for (const auto& [text, message] : cases) {
    const auto tokenizer = Tokenizer::parse(text);
    ASSERT_FALSE(tokenizer) << text.substr(0, 80);
    EXPECT_EQ(tokenizer.error().message, message);
  }
}

TEST(TokenizerFile, IsRefusedWhenTheVocabularyIsEmpty) {
  json file = small_file();
  file["added_tokens"] = nullptr;
  file["model"]["vocab"] = json::object();
  file["model"]["merges"] = json::array();
  const auto tokenizer = Tokenizer::parse(file.dump());
  ASSERT_FALSE(tokenizer);
  EXPECT_EQ(tokenizer.error().message, "tokenizer.json: model.vocab is empty, expected at least one piece");
}

TEST(TokenizerFile, IsNamedWithItsPathWhenAFolderIsLoaded) {
  const auto tokenizer = Tokenizer::load("/no/such/folder");
  ASSERT_FALSE(tokenizer);
  EXPECT_EQ(tokenizer.error().message, "/no/such/folder/tokenizer.json: no such file");
}

// Files of other kinds are refused by read_text_file().
TEST(TokenizerFile, IsReadUpToASensibleSize) {
  const draftscope::test::TemporaryFolder folder;
  const auto file = folder / "tokenizer.json";
  draftscope::test::write_bytes(file, "");
  std::filesystem::resize_file(file, (64U << 20U) + 1);  // makes a sparse file
  EXPECT_EQ(Tokenizer::load(folder.path()).error().message,
            file.string() + ": found 67108865 bytes, expected at most 67108864");
}

TEST(TokenizerFile, TakesMergesAsTextAndAsPairs) {
  json file = small_file();
  file["model"]["merges"] = json::array({"#version: 0.2", "a b"});
  const auto as_text = Tokenizer::parse(file.dump());
  file["model"]["merges"] = json::array({json::array({"a", "b"})});
  const auto as_pairs = Tokenizer::parse(file.dump());
  ASSERT_TRUE(as_text && as_pairs);
  EXPECT_EQ(*as_text->encode("abab"), *as_pairs->encode("abab"));
}

// A file that is cut short anywhere, or has any byte changed, is read or refused. Sanitizers detect anything
// else.
TEST(TokenizerFile, SurvivesEveryTruncationAndEveryChangedByte) {
  const std::string whole = small_file().dump();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_FALSE(Tokenizer::parse(std::string_view(whole).substr(0, i)));
    for (const char byte : {'\0', '"', '9', '}', '\xFF'}) {
      std::string changed = whole;
      changed[i] = byte;
      if (const auto tokenizer = Tokenizer::parse(changed)) {
        const auto ids = tokenizer->encode("abba <s> 123");
        if (ids) std::ignore = tokenizer->decode(*ids);
      }
    }
  }
}

}  // namespace
}  // namespace draftscope::engine
