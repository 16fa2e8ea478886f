// SPDX-License-Identifier: GPL-3.0-or-later
// The tokenizer of a GGUF file gives the ids of Hugging Face's tokenizers (goldens/gguf.json,
// make_gguf_goldens.py).

#include <algorithm>
#include <array>

#include "gguf_bytes.h"
#include "gguf_goldens.h"
#include "goldens.h"
#include "temporary_folder.h"

namespace draftscope::engine {
namespace {

using draftscope::test::TemporaryFolder;
using goldens::Ids;
using test::gguf_key;
using test::GgufParts;
using testing::HasSubstr;

const nlohmann::json& expected() {
  static const nlohmann::json json = goldens::read_json("gguf.json");
  return json;
}

using Texts = std::vector<std::string>;

/// A file that has only metadata, in a temporary folder.
class GgufVocabularyFile {
 public:
  explicit GgufVocabularyFile(GgufParts parts = {}) : parts(std::move(parts)) {}
  [[nodiscard]] Result<Tokenizer> load() const {
    test::write_bytes(*folder_ / "vocabulary.gguf", parts.file());
    return Tokenizer::load(*folder_ / "vocabulary.gguf");
  }
  [[nodiscard]] Tokenizer loaded() const {
    auto tokenizer = load();
    if (!tokenizer) throw std::runtime_error(tokenizer.error().message);
    return *std::move(tokenizer);
  }
  [[nodiscard]] std::string message() const {
    const auto tokenizer = load();
    return tokenizer ? "" : tokenizer.error().message;
  }

  GgufParts parts;

 private:
  std::shared_ptr<const TemporaryFolder> folder_ = std::make_shared<const TemporaryFolder>();
};

GgufVocabularyFile byte_level(const char* pre) {
  const auto& vocabulary = expected()["byte_level"];
  const auto tokens = vocabulary["tokens"].get<Texts>();
  const auto control = vocabulary["control"].get<Texts>();
  std::vector<std::int32_t> types(tokens.size(), 1);
  std::fill(types.end() - static_cast<std::ptrdiff_t>(control.size()), types.end(), 3);
  GgufVocabularyFile file;
  file.parts.set(gguf_key("tokenizer.ggml.model", "gpt2"));
  file.parts.set(gguf_key("tokenizer.ggml.pre", pre));
  file.parts.set(gguf_key("tokenizer.ggml.tokens", tokens));
  file.parts.set(gguf_key("tokenizer.ggml.token_type", types));
  file.parts.set(gguf_key("tokenizer.ggml.merges", vocabulary["merges"].get<Texts>()));
  file.parts.set(
      gguf_key("tokenizer.ggml.bos_token_id", static_cast<std::uint32_t>(tokens.size() - control.size())));
  file.parts.set(gguf_key("tokenizer.ggml.eos_token_id",
                          static_cast<std::uint32_t>(tokens.size() - control.size() + 1)));
  file.parts.set(gguf_key("tokenizer.ggml.add_bos_token", false));
  return file;
}

GgufVocabularyFile sentence_pieces(const char* golden = "sentence_pieces") {
  const auto& vocabulary = expected()[golden];
  GgufVocabularyFile file;
  file.parts.set(gguf_key("tokenizer.ggml.model", "llama"));
  file.parts.set(gguf_key("tokenizer.ggml.tokens", vocabulary["tokens"].get<Texts>()));
  file.parts.set(gguf_key("tokenizer.ggml.scores", vocabulary["scores"].get<std::vector<float>>()));
  file.parts.set(gguf_key("tokenizer.ggml.token_type", vocabulary["types"].get<std::vector<std::int32_t>>()));
  file.parts.set(gguf_key("tokenizer.ggml.bos_token_id", 1U));
  file.parts.set(gguf_key("tokenizer.ggml.eos_token_id", 2U));
  file.parts.set(gguf_key("tokenizer.ggml.add_bos_token", false));
  return file;
}

void expect_ids(const Tokenizer& tokenizer, const nlohmann::json& texts, const nlohmann::json& ids) {
  ASSERT_EQ(texts.size(), ids.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto encoded = tokenizer.encode(texts[i].get<std::string>());
    ASSERT_TRUE(encoded) << encoded.error().message;
    EXPECT_EQ(*encoded, ids[i].get<Ids>()) << texts[i].dump(-1, ' ', true);
  }
}

class GgufSplitRule : public testing::TestWithParam<const char*> {};

TEST_P(GgufSplitRule, EncodesTheTextsToTheIdsOfHuggingFace) {
  expect_ids(byte_level(GetParam()).loaded(), expected()["texts"],
             expected()["byte_level"]["rules"][GetParam()]);
}

/// Rules that keep every character; that of qwen2 composes some.
class GgufTextKeepingRule : public GgufSplitRule {};

TEST_P(GgufTextKeepingRule, DecodesWhatItEncodes) {
  const Tokenizer tokenizer = byte_level(GetParam()).loaded();
  for (const auto& text : expected()["texts"])
    EXPECT_EQ(tokenizer.decode(*tokenizer.encode(text.get<std::string>()), false), text.get<std::string>());
}

std::string name_of_rule(const testing::TestParamInfo<const char*>& name) {
  std::string text = name.param;
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

constexpr std::array text_keeping_rules{"gpt-2",       "smollm",     "llama-bpe",    "dbrx",
                                        "tekken",      "gpt-4o",     "deepseek-llm", "deepseek-coder",
                                        "deepseek-v3", "seed-coder", "default"};
INSTANTIATE_TEST_SUITE_P(Names, GgufTextKeepingRule, testing::ValuesIn(text_keeping_rules), name_of_rule);
INSTANTIATE_TEST_SUITE_P(Names, GgufSplitRule, testing::ValuesIn(text_keeping_rules), name_of_rule);
INSTANTIATE_TEST_SUITE_P(Composing, GgufSplitRule, testing::Values("qwen2"), name_of_rule);

// The texts must tell any two rules apart, or rows of the table could be swapped unnoticed.
TEST(GgufSplitRules, DifferOnTheTexts) {
  const auto& rules = expected()["byte_level"]["rules"];
  for (const auto& [name, ids] : rules.items())
    for (const auto& [other, other_ids] : rules.items())
      if (name != other) {
        EXPECT_NE(ids, other_ids) << name << ' ' << other;
      }
}

TEST(GgufSplitRules, NamesOfOneRuleAreTheSame) {
  for (const auto& [name, same] :
       {std::pair("llama3", "llama-bpe"), std::pair("llama-v3", "llama-bpe"), std::pair("exaone4", "gpt-2"),
        std::pair("minerva-7b", "smollm"), std::pair("hunyuan-dense", "deepseek-v3"),
        std::pair("smaug-bpe", "llama-bpe"), std::pair("deepseek-r1-qwen", "qwen2"),
        std::pair("starcoder", "smollm"), std::pair("refact", "smollm"), std::pair("codeshell", "smollm"),
        std::pair("llama4", "gpt-4o")})
    expect_ids(byte_level(name).loaded(), expected()["texts"], expected()["byte_level"]["rules"][same]);
}

// A GGUF file made from a tokenizer.json describes the same tokenizer.
TEST(GgufTokenizer, IsTheTokenizerJsonItWasMadeOf) {
  for (const auto& [kind, pre] : {std::pair("llama3", "llama-bpe"), std::pair("gpt2", "gpt-2"),
                                  std::pair("deepseek_coder", "deepseek-coder")}) {
    const auto json = goldens::read_json(std::string(kind) + ".tokenizer.json");
    Texts tokens(json["model"]["vocab"].size());
    for (const auto& [token, id] : json["model"]["vocab"].items()) tokens[id.get<std::size_t>()] = token;
    std::vector<std::int32_t> types(tokens.size(), 1);
    for (const auto& added : json["added_tokens"]) {
      tokens.resize(std::max(tokens.size(), added["id"].get<std::size_t>() + 1));
      types.resize(tokens.size());
      tokens[added["id"].get<std::size_t>()] = added["content"].get<std::string>();
      types[added["id"].get<std::size_t>()] = 3;
    }
    Texts merges;
    for (const auto& merge : json["model"]["merges"])
      merges.push_back(merge.is_string() ? merge.get<std::string>()
                                         : merge[0].get<std::string>() + ' ' + merge[1].get<std::string>());
    const Tokenizer original = goldens::tokenizer(kind);
    GgufVocabularyFile file = byte_level(pre);
    file.parts.set(gguf_key("tokenizer.ggml.tokens", tokens));
    file.parts.set(gguf_key("tokenizer.ggml.token_type", types));
    file.parts.set(gguf_key("tokenizer.ggml.merges", merges));
    file.parts.set(gguf_key("tokenizer.ggml.bos_token_id",
                            static_cast<std::uint32_t>(original.token_id("<|begin_of_text|>").value())));
    file.parts.set(gguf_key("tokenizer.ggml.add_bos_token", std::string_view(kind) != "gpt2"));
    file.parts.remove("tokenizer.ggml.eos_token_id");
    const Tokenizer tokenizer = file.loaded();
    EXPECT_EQ(tokenizer.vocab_size(), original.vocab_size());
    for (const auto& text : goldens::read_json("corpus.json"))
      for (const bool special : {true, false})
        EXPECT_EQ(*tokenizer.encode(text.get<std::string>(), {special, special}),
                  *original.encode(text.get<std::string>(), {special, special}))
            << kind << ' ' << text.dump(-1, ' ', true);
    for (std::int32_t token = 0; token < tokenizer.vocab_size(); ++token) {
      EXPECT_EQ(tokenizer.text_of(token), original.text_of(token));
      EXPECT_EQ(tokenizer.is_special(token), original.is_special(token));
    }
  }
}

TEST(GgufTokenizer, SentencePiecesMergeByTheirScores) {
  const Tokenizer tokenizer = sentence_pieces().loaded();
  expect_ids(tokenizer, expected()["sentence_piece_texts"], expected()["sentence_pieces"]["ids"]);
  const auto& decoded = expected()["sentence_pieces"]["decoded"];
  for (std::size_t i = 0; i < decoded.size(); ++i)
    EXPECT_EQ(tokenizer.decode(expected()["sentence_pieces"]["ids"][i].get<Ids>()),
              decoded[i].get<std::string>());
}

// Converters keep runs of spaces as SentencePiece has them, or write them as plain spaces with another score.
TEST(GgufTokenizer, RunsThatTheUserDefinedAreTokens) {
  const auto& golden = expected()["runs"];
  GgufVocabularyFile file = sentence_pieces("runs");
  file.parts.set(gguf_key("tokenizer.ggml.add_space_prefix", false));
  expect_ids(file.loaded(), golden["texts"], golden["ids"]);

  auto tokens = golden["tokens"].get<Texts>();
  auto scores = golden["scores"].get<std::vector<float>>();
  constexpr std::string_view mark = "\xE2\x96\x81";
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (golden["types"][i] != 4) continue;
    scores[i] = -1000.0F;
    for (auto at = tokens[i].find(mark); at != std::string::npos; at = tokens[i].find(mark))
      tokens[i].replace(at, mark.size(), " ");
  }
  file.parts.set(gguf_key("tokenizer.ggml.tokens", tokens));
  file.parts.set(gguf_key("tokenizer.ggml.scores", scores));
  const Tokenizer written = file.loaded();
  expect_ids(written, golden["texts"], golden["ids"]);
  for (std::size_t i = 0; i < golden["ids"].size(); ++i)
    EXPECT_EQ(written.decode(golden["ids"][i].get<Ids>()), golden["texts"][i].get<std::string>());
}

// transformers writes such a decoder when it saves a tokenizer that it read from a GGUF file.
TEST(FusedReplace, IsTheSameInPiecesAndInTheWholeText) {
  auto json = goldens::read_json("llama2.tokenizer.json");
  json["decoder"] = expected()["fused_replace"]["decoder"];
  const auto tokenizer = Tokenizer::parse(json.dump());
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  for (const auto& one : expected()["fused_replace"]["cases"])
    EXPECT_EQ(tokenizer->decode(one["ids"].get<Ids>()), one["text"].get<std::string>()) << one["ids"];
}

TEST(GgufTokenizer, KeysSayWhatStandsAroundAText) {
  GgufVocabularyFile file = sentence_pieces();
  const Ids bare = *file.loaded().encode("text");
  const auto around = [&](bool begin, bool end) {
    Ids ids = bare;
    if (begin) ids.insert(ids.begin(), 1);
    if (end) ids.push_back(2);
    return ids;
  };
  file.parts.remove("tokenizer.ggml.add_bos_token");
  EXPECT_EQ(*file.loaded().encode("text"), around(true, false));  // the default of SentencePiece
  file.parts.set(gguf_key("tokenizer.ggml.add_eos_token", true));
  EXPECT_EQ(*file.loaded().encode("text"), around(true, true));
  file.parts.set(gguf_key("tokenizer.ggml.add_bos_token", false));
  EXPECT_EQ(*file.loaded().encode("text"), around(false, true));
  EXPECT_EQ(*file.loaded().encode("text", {.add_special_tokens = false}), bare);

  file.parts.set(gguf_key("tokenizer.ggml.add_space_prefix", false));
  const Tokenizer without = file.loaded();
  EXPECT_EQ(*without.encode(" text", {.add_special_tokens = false}), bare);
  EXPECT_EQ(without.decode(bare), " text");

  GgufVocabularyFile bytes = byte_level("llama-bpe");
  const auto begin = *bytes.loaded().token_id("<|begin|>");
  bytes.parts.remove("tokenizer.ggml.add_bos_token");
  EXPECT_EQ(bytes.loaded().encode("")->front(), begin);
  bytes.parts.set(gguf_key("tokenizer.ggml.pre", "smaug-bpe"));
  EXPECT_TRUE(bytes.loaded().encode("")->empty());
  bytes.parts.set(gguf_key("tokenizer.ggml.pre", "llama-bpe"));
  bytes.parts.remove("tokenizer.ggml.bos_token_id");
  EXPECT_THAT(bytes.message(), HasSubstr("tokenizer.ggml.bos_token_id is missing, expected the token that"));
}

TEST(GgufTokenizer, TheChatTemplateIsRendered) {
  GgufVocabularyFile file = byte_level("gpt-2");
  EXPECT_FALSE(file.loaded().has_chat_template());
  file.parts.set(gguf_key(
      "tokenizer.chat_template",
      "{{ bos_token }}{% for m in messages %}{{ m.role }}: {{ m.content }}{{ eos_token }}{% endfor %}"));
  const Tokenizer tokenizer = file.loaded();
  ASSERT_TRUE(tokenizer.has_chat_template());
  const Message messages[] = {{"user", "hi"}};
  EXPECT_EQ(*tokenizer.apply_chat_template(messages), "<|begin|>user: hi<|end|>");
  file.parts.set(gguf_key("tokenizer.chat_template", "{% unknown %}"));
  EXPECT_THAT(file.loaded().apply_chat_template(messages).error().message,
              HasSubstr("vocabulary.gguf: tokenizer.chat_template: "));
}

// A token without text is never found, and decodes to nothing.
TEST(GgufTokenizer, EmptyTokensHaveNoText) {
  GgufVocabularyFile file = byte_level("gpt-2");
  auto tokens = expected()["byte_level"]["tokens"].get<Texts>();
  tokens.insert(tokens.end(), {"", ""});
  file.parts.set(gguf_key("tokenizer.ggml.tokens", tokens));
  file.parts.remove("tokenizer.ggml.token_type");
  const Tokenizer tokenizer = file.loaded();
  EXPECT_EQ(tokenizer.vocab_size(), static_cast<std::int32_t>(tokens.size()));
  EXPECT_EQ(tokenizer.text_of(tokenizer.vocab_size() - 1), "");
}

struct BadKey {
  const char* name;
  std::function<void(GgufParts&)> change;
  const char* message;
};

class DamagedGgufTokenizer : public testing::TestWithParam<BadKey> {};

TEST_P(DamagedGgufTokenizer, IsRefusedInOneLine) {
  const bool scored = std::string_view(GetParam().name).starts_with("Score");
  GgufVocabularyFile file = scored ? sentence_pieces() : byte_level("gpt-2");
  GetParam().change(file.parts);
  const std::string message = file.message();
  EXPECT_THAT(message, HasSubstr(GetParam().message));
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, DamagedGgufTokenizer,
    testing::ValuesIn(std::vector<BadKey>{
        {"NoModel", [](GgufParts& p) { p.remove("tokenizer.ggml.model"); },
         "tokenizer.ggml.model is missing"},
        {"OtherModel", [](GgufParts& p) { p.set(gguf_key("tokenizer.ggml.model", "t5")); },
         "tokenizer.ggml.model is 't5', expected gpt2 or llama"},
        {"NoRule", [](GgufParts& p) { p.remove("tokenizer.ggml.pre"); },
         "tokenizer.ggml.pre is missing, expected one of default, gpt-2"},
        {"OtherRule", [](GgufParts& p) { p.set(gguf_key("tokenizer.ggml.pre", "bloom\n")); },
         "tokenizer.ggml.pre is 'bloom\\x0a', expected one of"},
        {"NoTokens", [](GgufParts& p) { p.remove("tokenizer.ggml.tokens"); },
         "tokenizer.ggml.tokens is missing"},
        {"EmptyTokens", [](GgufParts& p) { p.set(gguf_key("tokenizer.ggml.tokens", Texts{})); },
         "tokenizer.ggml.tokens is an array of 0, expected 1 to"},
        {"FewTypes",
         [](GgufParts& p) {
           p.set(gguf_key("tokenizer.ggml.token_type", std::vector<std::int32_t>{1, 1}));
         },
         "tokenizer.ggml.token_type is an array of 2, expected one of 705"},
        {"OtherType",
         [](GgufParts& p) {
           p.set(gguf_key("tokenizer.ggml.token_type", std::vector<std::int32_t>(705, 7)));
         },
         "tokenizer.ggml.token_type[0] is 7, expected 0 to 6"},
        {"TokenTwice", [](GgufParts& p) { p.set(gguf_key("tokenizer.ggml.tokens", Texts(705, "x"))); },
         "'x' is both 0 and 1, expected each text once"},
        {"TokenIsNotText",
         [](GgufParts& p) { p.set(gguf_key("tokenizer.ggml.tokens", Texts(705, "a\xFF"))); },
         "tokenizer.ggml.tokens[0]: found 0xFF at byte 1, expected valid UTF-8"},
        {"NoMerges", [](GgufParts& p) { p.remove("tokenizer.ggml.merges"); },
         "tokenizer.ggml.merges is missing"},
        {"MergeOfOne", [](GgufParts& p) { p.set(gguf_key("tokenizer.ggml.merges", Texts{"ab"})); },
         "tokenizer.ggml.merges[0] is 'ab', expected two pieces"},
        {"MergeOfUnknown", [](GgufParts& p) { p.set(gguf_key("tokenizer.ggml.merges", Texts{"a QQQ"})); },
         "tokenizer.ggml.merges[0]: 'QQQ' is unknown, expected one of the tokens"},
        {"BosBeyond", [](GgufParts& p) { p.set(gguf_key("tokenizer.ggml.bos_token_id", 705U)); },
         "tokenizer.ggml.bos_token_id is 705, expected an integer from 0 to 704"},
        {"BosIsText", [](GgufParts& p) { p.set(gguf_key("tokenizer.ggml.add_bos_token", "yes")); },
         "tokenizer.ggml.add_bos_token is 'yes', expected a boolean"},
        {"ScoresMissing", [](GgufParts& p) { p.remove("tokenizer.ggml.scores"); },
         "tokenizer.ggml.scores is missing"},
        {"ScoresFew",
         [](GgufParts& p) { p.set(gguf_key("tokenizer.ggml.scores", std::vector<float>{1.0F})); },
         "tokenizer.ggml.scores is an array of 1, expected one of"},
        {"ScoresAreNoNumbers",
         [](GgufParts& p) {
           const auto count = expected()["sentence_pieces"]["scores"].size();
           p.set(gguf_key("tokenizer.ggml.scores",
                          std::vector<float>(count, std::numeric_limits<float>::quiet_NaN())));
         },
         "tokenizer.ggml.scores[0] is nan, expected a number"},
        {"ScoreOfALongToken",
         [](GgufParts& p) {
           auto tokens = expected()["sentence_pieces"]["tokens"].get<Texts>();
           tokens.back() = std::string(513, 'x');
           p.set(gguf_key("tokenizer.ggml.tokens", tokens));
         },
         "has 513 bytes, expected at most 512"},
    }),
    [](const auto& bad) { return bad.param.name; });

}  // namespace
}  // namespace draftscope::engine
