// SPDX-License-Identifier: GPL-3.0-or-later
// Greedy speculative text equals vanilla text exactly, whatever the exit, the length, the budget and the end.

#include <draftscope/engine/decode.h>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <random>

#include "toy_backend.h"

namespace draftscope::engine {
namespace {

struct Text {
  std::vector<std::int32_t> tokens;
  traces::RequestStop stop;
  friend bool operator==(const Text&, const Text&) = default;
};

Text decode_with(const ToyBackend::Options& options, const std::string& specification,
                 const DecodeRequest& request) {
  ToyBackend backend(options);
  auto strategy = make_strategy(specification, backend.shape());
  EXPECT_TRUE(strategy) << strategy.error().message;
  SeededChooser chooser(1, 1);
  DecodeListener listener;
  auto result = decode(backend, *strategy->strategy, request, chooser, listener);
  EXPECT_TRUE(result) << result.error().message;
  return {result->tokens, result->stop};
}

TEST(GreedyDecoding, LayerSkipEqualsVanillaOnRandomModelsPromptsAndSettings) {
  std::mt19937 random(2026);
  int ended_by_eos = 0;
  int ended_by_context = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    ToyBackend::Options options{.vocab = static_cast<std::int32_t>(2 + random() % 20),
                                .n_layers = static_cast<std::int32_t>(2 + random() % 7),
                                .cache_rows = static_cast<std::int32_t>(8 + random() % 80),
                                .max_rows = 16,
                                .seed = static_cast<std::uint32_t>(random()),
                                .agreement = 0.1 * static_cast<double>(random() % 11)};
    std::vector<std::int32_t> prompt(1 + random() % static_cast<std::uint32_t>(options.cache_rows));
    for (auto& token : prompt)
      token = static_cast<std::int32_t>(random() % static_cast<std::uint32_t>(options.vocab));
    std::vector<std::int32_t> eos;
    if (random() % 2 == 0)
      eos.push_back(static_cast<std::int32_t>(random() % static_cast<std::uint32_t>(options.vocab)));
    const DecodeRequest request{
        .prompt = prompt, .max_new_tokens = static_cast<std::int32_t>(1 + random() % 60), .eos_tokens = eos};

    const Text vanilla = decode_with(options, "vanilla", request);
    const auto exit = 1 + random() % static_cast<std::uint32_t>(options.n_layers - 1);
    const std::string layerskip = fmt::format("layerskip:exit={},gamma={},verify={}", exit, random() % 20,
                                              random() % 2 == 0 ? "all-layers" : "above-exit");
    ASSERT_EQ(decode_with(options, layerskip, request), vanilla) << trial << ' ' << layerskip;
    ended_by_eos += vanilla.stop == traces::RequestStop::eos;
    ended_by_context += vanilla.stop == traces::RequestStop::context;
  }
  // The trials must have met every way in which a text can end.
  EXPECT_GT(ended_by_eos, 100);
  EXPECT_GT(ended_by_context, 100);
}

// Toy states hash what they attend to, so that a single wrong row changes the text.
TEST(GreedyDecoding, GoesOnFromWhatAnEarlierRequestLeftInTheCache) {
  std::mt19937 random(77);
  std::int64_t kept = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const ToyBackend::Options options{.vocab = 6,
                                      .n_layers = 5,
                                      .cache_rows = 160,
                                      .seed = static_cast<std::uint32_t>(random()),
                                      .agreement = 0.6};
    ToyBackend backend(options);
    std::vector<std::int32_t> prompt{1, 2, 3};
    const std::vector<std::int32_t> eos{5};
    for (int turn = 0; turn < 3; ++turn) {
      const DecodeRequest fresh{.prompt = prompt, .max_new_tokens = 12, .eos_tokens = eos};
      DecodeRequest request = fresh;
      request.cached_tokens = turn == 0 ? 0 : static_cast<std::int32_t>(prompt.size()) - 3;
      kept += request.cached_tokens;
      const std::vector<std::string> all{"vanilla",
                                         "layerskip:exit=2,gamma=4",
                                         "layerskip:exit=3,gamma=3,verify=all-layers",
                                         "swift:every=1",
                                         "clasp:interval=2",
                                         "conflayers:window=2,interval=1",
                                         "cascade:levels=exit-2+0.5",
                                         "del",
                                         "jacobi",
                                         "lookahead",
                                         "prompt-lookup"};
      const std::string& specification = all[random() % all.size()];
      auto strategy = make_strategy(specification, backend.shape());
      ASSERT_TRUE(strategy) << strategy.error().message;
      SeededChooser chooser(1, 1);
      DecodeListener nobody;
      const auto result = decode(backend, *strategy->strategy, request, chooser, nobody);
      ASSERT_TRUE(result) << result.error().message;
      ASSERT_EQ((Text{result->tokens, result->stop}), decode_with(options, "vanilla", fresh))
          << specification;
      prompt.insert(prompt.end(), result->tokens.begin(), result->tokens.end());
      ASSERT_EQ(result->cached_tokens, static_cast<std::int32_t>(prompt.size()) - 1);
      // Append two tokens, since the last token of the reply has no K/V.
      prompt.insert(prompt.end(), {static_cast<std::int32_t>(random() % 5), 4});
    }
  }
  EXPECT_GT(kept, 1000);
}

TEST(GreedyDecoding, RefusesMoreCachedTokensThanThePromptHas) {
  ToyBackend backend({.vocab = 4, .cache_rows = 8});
  auto strategy = make_strategy("vanilla", backend.shape());
  SeededChooser chooser(1, 1);
  DecodeListener nobody;
  const std::vector<std::int32_t> prompt{1, 2};
  for (const std::int32_t odd : {-1, 2, 3})
    EXPECT_FALSE(
        decode(backend, *strategy->strategy, {.prompt = prompt, .cached_tokens = odd}, chooser, nobody));
}

TEST(GreedyDecoding, APromptThatFillsTheContextYieldsOneToken) {
  ToyBackend::Options options{.cache_rows = 8};
  const std::vector<std::int32_t> prompt(8, 1);
  const Text text = decode_with(options, "layerskip:exit=1,gamma=3", {.prompt = prompt, .max_new_tokens = 5});
  EXPECT_EQ(text.tokens.size(), 1U);
  EXPECT_EQ(text.stop, traces::RequestStop::context);
}

TEST(GreedyDecoding, BadRequestsAreRefusedBeforeAnyForward) {
  ToyBackend backend({.vocab = 4, .cache_rows = 8});
  auto strategy = make_strategy("vanilla", backend.shape());
  SeededChooser chooser(1, 1);
  DecodeListener listener;
  const std::vector<std::int32_t> nine(9, 0);
  const std::vector<std::int32_t> odd{1, 4};
  const std::vector<std::int32_t> negative{-1};
  const std::vector<std::int32_t> good{1};
  const std::pair<DecodeRequest, const char*> cases[] = {
      {{.prompt = {}}, "prompt: found 0 tokens"},
      {{.prompt = nine}, "prompt: found 9 tokens, expected at most 8 (the context)"},
      {{.prompt = odd}, "prompt: token 1 is 4, expected 0 to 3"},
      {{.prompt = negative}, "prompt: token 0 is -1"},
      {{.prompt = good, .max_new_tokens = 0}, "max-tokens: found 0"},
      {{.prompt = good, .sampling = {.temperature = -1.0}}, "temperature"},
  };
  for (const auto& [request, message] : cases) {
    const auto result = decode(backend, *strategy->strategy, request, chooser, listener);
    ASSERT_FALSE(result) << message;
    EXPECT_THAT(result.error().message, testing::HasSubstr(message));
  }
  EXPECT_EQ(backend.forwards, 0);
}

}  // namespace
}  // namespace draftscope::engine
