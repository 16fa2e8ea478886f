// SPDX-License-Identifier: GPL-3.0-or-later
// Ids and texts equal those that Hugging Face's tokenizers package gives (make_goldens.py).

#include "goldens.h"

namespace draftscope::engine {
namespace {

using goldens::Ids;

class Golden : public testing::TestWithParam<const char*> {};

TEST_P(Golden, EncodesTheCorpusToTheIdsOfHuggingFace) {
  const Tokenizer tokenizer = goldens::tokenizer(GetParam());
  const auto texts = goldens::read_json("corpus.json");
  const auto cases = goldens::read_json(std::string(GetParam()) + ".expected.json")["encode"];
  ASSERT_EQ(texts.size(), cases.size());
  const auto expect = [&](const std::string& text, const EncodeOptions& options, const Ids& ids) {
    const auto encoded = tokenizer.encode(text, options);
    ASSERT_TRUE(encoded) << encoded.error().message;
    EXPECT_EQ(*encoded, ids) << nlohmann::json(text).dump(-1, ' ', true);
  };
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto text = texts[i].get<std::string>();
    const auto ids = cases[i]["ids"].get<Ids>();
    expect(text, {}, ids);
    expect(text, {.add_special_tokens = false}, cases[i].value("bare", ids));
    expect(text, {.parse_special_tokens = false}, cases[i].value("plain", ids));
  }
}

TEST_P(Golden, DecodesRandomIdsToTheTextOfHuggingFace) {
  const Tokenizer tokenizer = goldens::tokenizer(GetParam());
  const auto expected = goldens::read_json(std::string(GetParam()) + ".expected.json");
  for (const auto& decoding : expected["decode"]) {
    const auto ids = decoding["ids"].get<Ids>();
    EXPECT_EQ(tokenizer.decode(ids), decoding["skip"].get<std::string>()) << decoding["ids"];
    EXPECT_EQ(tokenizer.decode(ids, false), decoding["keep"].get<std::string>()) << decoding["ids"];
  }
}

TEST_P(Golden, CountsTheVocabularyAsHuggingFaceDoes) {
  const auto expected = goldens::read_json(std::string(GetParam()) + ".expected.json")["vocab_size"];
  EXPECT_EQ(goldens::tokenizer(GetParam()).vocab_size(), expected.get<std::int32_t>());
}

INSTANTIATE_TEST_SUITE_P(Kinds, Golden, testing::ValuesIn(goldens::kinds),
                         [](const auto& kind) { return std::string(kind.param); });

}  // namespace
}  // namespace draftscope::engine
