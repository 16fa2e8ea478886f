// SPDX-License-Identifier: GPL-3.0-or-later
// With stop strings and end tokens the text, its tokens and its end are vanilla's under every strategy.
// Vanilla's text is the longer text up to the token that completes the string, or before the end token. The
// rounds give as many tokens as the text has.

#include <draftscope/engine/stop_strings.h>
#include <draftscope/engine/tokenizer.h>
#include <draftscope/traces/text_share.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "decoded.h"
#include "lossless_backend.h"
#include "random_strategy.h"

namespace draftscope::engine {
namespace {

struct Ended {
  std::vector<std::int32_t> tokens;
  traces::RequestStop stop = traces::RequestStop::error;
  friend bool operator==(const Ended&, const Ended&) = default;
};

/// Rounds of one request, each with its draft tokens.
class CountedRounds final : public DecodeListener {
 public:
  void on_round(const RoundReport& report) override {
    rounds_.push_back(report.round);
    drafts_.emplace_back(report.draft_tokens.begin(), report.draft_tokens.end());
  }

  void expect_the_text(const DecodeResult& result) const {
    traces::RoundTokens sum;
    std::int64_t in_text = 0;
    std::int64_t accepted = 0;
    for (std::size_t i = 0; i < rounds_.size(); ++i) {
      const traces::RoundTokens tokens = traces::tokens_of(rounds_[i]);
      const std::vector<std::int32_t> depths = traces::token_depths(drafts_[i]);
      std::int64_t accepted_tokens = 0;
      for (std::size_t k = 0; k < depths.size(); ++k)
        accepted_tokens += drafts_[i][k].accepted && depths[k] < tokens.in_text(result.stop) ? 1 : 0;
      EXPECT_EQ(accepted_tokens, tokens.accepted_in_text(result.stop));
      in_text += tokens.in_text(result.stop);
      accepted += accepted_tokens;
      sum = {sum.rounds + 1, sum.accepted + tokens.accepted, sum.emitted + tokens.emitted};
    }
    EXPECT_EQ(sum.in_text(result.stop), in_text);
    EXPECT_EQ(sum.accepted_in_text(result.stop), accepted);
    if (rounds_.empty()) return;  // The prefill's token ended the text.
    const std::int64_t ends = result.stop == traces::RequestStop::eos ? 1 : 0;
    EXPECT_EQ(in_text, static_cast<std::int64_t>(result.tokens.size()) - 1 + ends);
  }

 private:
  std::vector<traces::Round> rounds_;
  std::vector<std::vector<traces::DraftToken>> drafts_;
};

Ended decode_until(Backend& backend, const std::string& specification, const DecodeRequest& request) {
  CountedRounds rounds;
  const DecodeResult result = expect_decoded(backend, specification, request, rounds, 3);
  rounds.expect_the_text(result);
  return {result.tokens, result.stop};
}

/// Number of tokens up to the one that completes a string, found by decoding every prefix.
std::size_t tokens_until(const Tokenizer& tokenizer, const std::vector<std::int32_t>& tokens,
                         const StopStrings& strings) {
  StreamDecoder decoder(tokenizer);
  std::string text;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    text += decoder.next(tokens[i]);
    for (const std::string& string : strings)
      if (text.find(string) != std::string::npos) return i + 1;
  }
  return 0;
}

TEST(StopStrings, EndEveryStrategysTextWhereVanillaEnds) {
  const std::string folder = std::string(DRAFTSCOPE_SOURCE_DIR) + "/models/demo-layerskip";
  const auto checkpoint = load_checkpoint(folder);
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  const auto tokenizer = Tokenizer::load(folder);
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  const auto backend = lossless_backend(*checkpoint, 512);
  const auto prompt = tokenizer->encode("def read_file(path):\n    \"\"\"Reads");
  ASSERT_TRUE(prompt) << prompt.error().message;
  std::mt19937 random(5);
  int inside_rounds = 0;
  for (int trial = 0; trial < 24; ++trial) {
    DecodeRequest request{
        .prompt = *prompt, .max_new_tokens = 40, .eos_tokens = checkpoint->shape.eos_tokens};
    if (trial % 2 == 1) request.sampling = {.temperature = 1.0, .coupled = true};
    const Ended whole = decode_until(*backend, "vanilla", request);
    const std::string text = tokenizer->decode(whole.tokens);
    ASSERT_GT(text.size(), 20U);
    // Use a piece of the text from any place, which may cross token bounds, and a string that does not occur.
    const std::size_t length = 1 + random() % 9;
    const StopStrings strings{"\x01never", text.substr(random() % (text.size() - length), length)};
    if (!check_stop_strings(strings)) continue;
    TextEnd text_end(*tokenizer, strings);
    request.text_end = &text_end;
    const Ended vanilla = decode_until(*backend, "vanilla", request);
    const std::size_t count = tokens_until(*tokenizer, whole.tokens, strings);
    ASSERT_GT(count, 0U);
    EXPECT_EQ(vanilla.stop, traces::RequestStop::stop_string);
    EXPECT_EQ(vanilla.tokens,
              std::vector<std::int32_t>(whole.tokens.begin(),
                                        whole.tokens.begin() + static_cast<std::ptrdiff_t>(count)));
    for (const std::string& specification :
         {std::string("layerskip:exit=7,gamma=5"), std::string("swift:every=1"),
          std::string("jacobi:block=4"), std::string("lookahead"), std::string("prompt-lookup"),
          std::string("del"), random_mix(checkpoint->shape.n_layers, random, {})})
      EXPECT_EQ(decode_until(*backend, specification, request), vanilla)
          << specification << " trial " << trial;
    inside_rounds += count > 1 && count < whole.tokens.size() ? 1 : 0;
    // Now a token of the text is an end token.
    const std::vector<std::int32_t> ends{whole.tokens[1 + random() % (whole.tokens.size() - 1)]};
    request.text_end = nullptr;
    request.eos_tokens = ends;
    const auto end = std::find(whole.tokens.begin(), whole.tokens.end(), ends[0]);
    const Ended ended{{whole.tokens.begin(), end}, traces::RequestStop::eos};
    for (const char* const specification : {"vanilla", "layerskip:exit=7,gamma=5", "jacobi:block=4",
                                            "lookahead", "prompt-lookup", "token-recycling"})
      EXPECT_EQ(decode_until(*backend, specification, request), ended) << specification << " trial " << trial;
  }
  EXPECT_GT(inside_rounds, 10);
}

TEST(StopStrings, AreFoundWhereCharactersAndStringsAreSplitOverTokens) {
  const Tokenizer bytes = Tokenizer::bytes(256);
  TextEnd end(bytes, {"né", "x"});
  for (int repeat = 0; repeat < 2; ++repeat) {
    end.begin();
    EXPECT_FALSE(end.add('n'));
    EXPECT_FALSE(end.add('n'));
    EXPECT_FALSE(end.add(0xC3));
    EXPECT_TRUE(end.add(0xA9));
  }
  end.begin();
  EXPECT_FALSE(end.add(0xC3)) << "an earlier text is forgotten";
  EXPECT_TRUE(end.add('x')) << "after a broken character";
}

TEST(StopSearch, LetsThroughWhatCannotBeginAStringAndHoldsBackTheRest) {
  StopSearch search({"END", "EE"});
  EXPECT_FALSE(search.add("text E"));
  EXPECT_EQ(search.settled_bytes(), 5U);
  EXPECT_FALSE(search.add("N"));
  EXPECT_EQ(search.settled_bytes(), 5U);
  EXPECT_FALSE(search.add("E"));
  EXPECT_EQ(search.settled_bytes(), 7U);
  EXPECT_TRUE(search.add("ND and more"));
  EXPECT_EQ(search.settled_bytes(), 7U);
  search.end();
  EXPECT_EQ(search.settled_bytes(), 7U);
}

TEST(StopSearch, GivesTheSamePiecesOrNot) {
  std::mt19937 random(8);
  for (int trial = 0; trial < 2000; ++trial) {
    std::string text;
    for (std::size_t i = 0; i < 12; ++i) text += static_cast<char>('a' + random() % 2);
    StopStrings strings;
    for (int i = 0; i < 2; ++i) {
      strings.emplace_back();
      const std::size_t length = 1 + random() % 5;
      while (strings.back().size() < length) strings.back() += static_cast<char>('a' + random() % 2);
    }
    // With single letters the first complete string ends the text, so compare only that much of it.
    std::size_t complete = 1;
    while (complete < text.size() && before_stop(text.substr(0, complete), strings).size() == complete)
      ++complete;
    const std::string seen = text.substr(0, complete);
    StopSearch search(strings);
    for (const char letter : text) {
      const bool found = search.add(std::string(1, letter));
      if (found) break;
    }
    search.end();
    EXPECT_EQ(search.settled_bytes(), before_stop(seen, strings).size()) << text;
  }
}

TEST(StopStrings, MustBeTexts) {
  EXPECT_TRUE(check_stop_strings(StopStrings{"a", "\xC3\xA9"}));
  EXPECT_FALSE(check_stop_strings(StopStrings{"a", ""}));
  EXPECT_FALSE(check_stop_strings(StopStrings{"\xC3"}));
}

}  // namespace
}  // namespace draftscope::engine
