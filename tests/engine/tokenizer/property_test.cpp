// SPDX-License-Identifier: GPL-3.0-or-later
#include <random>

#include "goldens.h"

namespace draftscope::engine {
namespace {

using goldens::Ids;

constexpr std::array byte_level_kinds{"llama3", "gpt2", "gpt4", "deepseek_coder"};

bool is_utf8(const std::string& text) {
  // The byte tokenizer refuses exactly the texts that are not UTF-8.
  return Tokenizer::bytes(256).encode(text).has_value();
}

std::string random_text(std::mt19937_64& random) {
  // The ranges have code points of one to four bytes, without surrogates.
  static constexpr std::array<std::pair<std::uint32_t, std::uint32_t>, 7> ranges{{{0, 0x7F},
                                                                                  {0x20, 0x7E},
                                                                                  {0x80, 0x7FF},
                                                                                  {0x800, 0xD7FF},
                                                                                  {0xE000, 0xFFFF},
                                                                                  {0x10000, 0x10FFFF},
                                                                                  {9, 13}}};
  std::string text;
  for (auto count = random() % 60; count > 0; --count) {
    const auto [low, high] = ranges[random() % ranges.size()];
    const auto c = static_cast<std::uint32_t>(low + random() % (high - low + 1));
    const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
    if (c < 0x80) {
      put(c);
    } else if (c < 0x800) {
      put(0xC0 | c >> 6), put(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
      put(0xE0 | c >> 12), put(0x80 | (c >> 6 & 0x3F)), put(0x80 | (c & 0x3F));
    } else {
      put(0xF0 | c >> 18), put(0x80 | (c >> 12 & 0x3F)), put(0x80 | (c >> 6 & 0x3F)), put(0x80 | (c & 0x3F));
    }
  }
  return text;
}

TEST(ByteLevelTokenizer, DecodesWhatItEncodedToTheSameText) {
  std::mt19937_64 random(1);
  for (const char* kind : byte_level_kinds) {
    const Tokenizer tokenizer = goldens::tokenizer(kind);
    for (const auto& text : goldens::read_json("corpus.json")) {
      const auto ids = tokenizer.encode(text.get<std::string>(), {.add_special_tokens = false});
      ASSERT_TRUE(ids);
      EXPECT_EQ(tokenizer.decode(*ids, false), text.get<std::string>()) << kind;
    }
    for (int round = 0; round < 500; ++round) {
      const std::string text = random_text(random);
      const auto ids = tokenizer.encode(text, {.add_special_tokens = false});
      ASSERT_TRUE(ids);
      EXPECT_EQ(tokenizer.decode(*ids, false), text) << kind;
    }
  }
}

TEST(Tokenizer, IsCopiedCheaplyAndOutlivesItsOriginal) {
  auto original = std::make_unique<Tokenizer>(goldens::tokenizer("llama3"));
  const Tokenizer copy = *original;
  original.reset();
  EXPECT_TRUE(copy.encode("still here"));
}

class EveryKind : public testing::TestWithParam<const char*> {};

TEST_P(EveryKind, GivesTheTextOfEachTokenAsItStandsInASequence) {
  const Tokenizer tokenizer = goldens::tokenizer(GetParam());
  const std::int32_t most = std::min(2000, tokenizer.vocab_size());
  for (std::int32_t token = 0; token < most; ++token) {
    const std::string text = tokenizer.text_of(token);
    EXPECT_TRUE(is_utf8(text)) << token;
    const auto anchor = tokenizer.encode("a", {.add_special_tokens = false});
    ASSERT_TRUE(anchor);
    Ids after = *anchor;
    after.push_back(token);
    if (text.find("\xEF\xBF\xBD") == std::string::npos) {
      EXPECT_EQ(tokenizer.decode(after, false), tokenizer.decode(*anchor, false) + text) << token;
    }
  }
  EXPECT_EQ(tokenizer.text_of(-1), "");
  EXPECT_EQ(tokenizer.text_of(tokenizer.vocab_size()), "");
}

TEST_P(EveryKind, StreamsValidUtf8ThatJoinsToTheWholeDecoding) {
  const Tokenizer tokenizer = goldens::tokenizer(GetParam());
  std::mt19937_64 random(7);
  for (int round = 0; round < 2000; ++round) {
    const bool skip = random() % 2 == 0;
    // Draw mostly the first tokens, which hold the bytes, and sometimes ids outside the vocabulary.
    const auto highest =
        random() % 4 == 0 ? tokenizer.vocab_size() + 2 : std::min(300, tokenizer.vocab_size());
    Ids ids(random() % 30);
    for (auto& id : ids) id = static_cast<std::int32_t>(random() % static_cast<unsigned>(highest)) - 1;
    StreamDecoder decoder(tokenizer, skip);
    std::string joined;
    for (const auto id : ids) {
      const std::string piece = decoder.next(id);
      EXPECT_TRUE(is_utf8(piece));
      joined += piece;
    }
    const std::string last = decoder.finish();
    EXPECT_TRUE(is_utf8(last));
    EXPECT_EQ(joined + last, tokenizer.decode(ids, skip));
  }
}

TEST_P(EveryKind, EncodesAnyTextAndTheIdsLieInTheVocabulary) {
  const Tokenizer tokenizer = goldens::tokenizer(GetParam());
  std::mt19937_64 random(3);
  for (int round = 0; round < 300; ++round) {
    const auto ids = tokenizer.encode(random_text(random));
    ASSERT_TRUE(ids) << ids.error().message;
    for (const auto id : *ids) EXPECT_TRUE(id >= 0 && id < tokenizer.vocab_size());
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryKind, testing::ValuesIn(goldens::kinds),
                         [](const auto& kind) { return std::string(kind.param); });

// Quadratic work would take hours here.
TEST(Tokenizer, EncodesAMegabyteOfTheSameCharacter) {
  for (const char* kind : {"llama3", "deepseek_coder", "qwen2", "llama2"}) {
    const Tokenizer tokenizer = goldens::tokenizer(kind);
    for (const std::string unit : {"a", " ", "\n", "7", "<", "\xF0\x9F\x99\x82", "\xCC\x81\xCC\xA3"}) {
      std::string text;
      while (text.size() < (1U << 20U)) text += unit;
      const auto ids = tokenizer.encode(text);
      ASSERT_TRUE(ids) << ids.error().message;
    }
  }
}

TEST(StreamDecoder, HoldsTheBytesOfAnUnfinishedCharacter) {
  const Tokenizer tokenizer = Tokenizer::bytes(256);
  StreamDecoder decoder(tokenizer);
  EXPECT_EQ(decoder.next(0xE2), "");
  EXPECT_EQ(decoder.next(0x82), "");
  EXPECT_EQ(decoder.next(0xAC), "€");
  EXPECT_EQ(decoder.next('a'), "a");
  EXPECT_EQ(decoder.next(0xE2), "");
  EXPECT_EQ(decoder.next('b'), "\uFFFDb");
  EXPECT_EQ(decoder.next(0xF0), "");
  EXPECT_EQ(decoder.finish(), "\uFFFD");
}

TEST(BytesTokenizer, MapsBytesToThemselvesAndNamesOtherIds) {
  const Tokenizer tokenizer = Tokenizer::bytes(1000);
  const auto ids = tokenizer.encode("h\xC3\xA9!");
  ASSERT_TRUE(ids);
  EXPECT_EQ(*ids, (Ids{'h', 0xC3, 0xA9, '!'}));
  EXPECT_EQ(tokenizer.decode(*ids), "h\xC3\xA9!");
  EXPECT_EQ(tokenizer.decode(Ids{'a', 256, 999, 1000, -1, 'b'}), "a⟨256⟩⟨999⟩b");
  EXPECT_EQ(tokenizer.vocab_size(), 1000);
  EXPECT_FALSE(tokenizer.is_special(999));
  EXPECT_FALSE(tokenizer.has_chat_template());
}

TEST(BytesTokenizer, RefusesAByteOutsideASmallVocabulary) {
  const auto ids = Tokenizer::bytes(100).encode("az");
  ASSERT_FALSE(ids);
  EXPECT_EQ(ids.error().message,
            "text: byte 122 at offset 1 is outside the vocabulary, expected less than 100");
}

TEST(Tokenizer, NamesTheFirstByteThatIsNotUtf8) {
  const Tokenizer tokenizer = goldens::tokenizer("llama3");
  struct Case {
    std::string text;
    std::string message;
  };
  const std::vector<Case> cases{
      {"ab\xFF", "text: found 0xFF at byte 2, expected valid UTF-8"},
      {"\xC3", "text: found 0xC3 at byte 0, expected valid UTF-8"},
      {"é\xED\xA0\x80", "text: found 0xED at byte 2, expected valid UTF-8"},     // a surrogate
      {"x\xC0\x80", "text: found 0xC0 at byte 1, expected valid UTF-8"},         // overlong
      {"\xF4\x90\x80\x80", "text: found 0xF4 at byte 0, expected valid UTF-8"},  // past U+10FFFF
      {"<|im_start|>\x80", "text: found 0x80 at byte 12, expected valid UTF-8"},
  };
  for (const auto& [text, message] : cases) {
    const auto ids = tokenizer.encode(text);
    ASSERT_FALSE(ids);
    EXPECT_EQ(ids.error().message, message);
  }
}

TEST(Tokenizer, KnowsItsSpecialTokensByName) {
  const Tokenizer tokenizer = goldens::tokenizer("llama3");
  const auto begin = tokenizer.token_id("<|begin_of_text|>");
  ASSERT_TRUE(begin);
  EXPECT_TRUE(tokenizer.is_special(*begin));
  EXPECT_FALSE(tokenizer.is_special(0));
  EXPECT_FALSE(tokenizer.is_special(-1));
  EXPECT_FALSE(tokenizer.is_special(tokenizer.vocab_size()));
  EXPECT_FALSE(tokenizer.token_id("no such piece"));
}

}  // namespace
}  // namespace draftscope::engine
