// SPDX-License-Identifier: GPL-3.0-or-later
// Tests requests that are refused, and one whose prompt fills the context.

#include <gmock/gmock.h>

#include "expect_decoded.h"
#include "toy_backend.h"

namespace draftscope::engine {
namespace {

TEST(Requests, RefuseMoreCachedTokensThanThePromptHas) {
  ToyBackend backend({.vocab = 4, .cache_rows = 8});
  auto strategy = make_strategy("vanilla", backend.shape());
  SeededChooser chooser(1, 1);
  DecodeListener nobody;
  const std::vector<std::int32_t> prompt{1, 2};
  for (const std::int32_t odd : {-1, 2, 3})
    EXPECT_FALSE(
        decode(backend, *strategy->strategy, {.prompt = prompt, .cached_tokens = odd}, chooser, nobody));
}

TEST(Requests, APromptThatFillsTheContextYieldsOneToken) {
  const std::vector<std::int32_t> prompt(8, 1);
  ToyBackend backend({.cache_rows = 8});
  DecodeListener nobody;
  const DecodeResult text =
      expect_decoded(backend, "layerskip:exit=1,gamma=3", {.prompt = prompt, .max_new_tokens = 5}, nobody);
  EXPECT_EQ(text.tokens.size(), 1U);
  EXPECT_EQ(text.stop, traces::RequestStop::context);
}

TEST(Requests, BadRequestsAreRefusedBeforeAnyForward) {
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
