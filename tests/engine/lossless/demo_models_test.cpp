// SPDX-License-Identifier: GPL-3.0-or-later
// With the shipped models and prompts, greedy text is the same under every exit and length, on every prompt.

#include <draftscope/engine/tokenizer.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "decoded.h"
#include "lossless_backend.h"
#include "random_strategy.h"

namespace draftscope::engine {
namespace {

class DemoModel : public testing::TestWithParam<std::string> {};

std::vector<std::string> prompts(const std::string& file) {
  std::ifstream stream(std::string(DRAFTSCOPE_SOURCE_DIR) + "/traces/prompts/" + file);
  EXPECT_TRUE(stream) << file;
  std::vector<std::string> texts;
  for (std::string line; std::getline(stream, line);)
    texts.push_back(nlohmann::json::parse(line)["turns"][0].get<std::string>());
  return texts;
}

TEST_P(DemoModel, GreedyTextEqualsVanillaOnEveryPrompt) {
  const std::string folder = std::string(DRAFTSCOPE_SOURCE_DIR) + "/models/" + GetParam();
  const auto checkpoint = load_checkpoint(folder);
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  const auto tokenizer = Tokenizer::load(folder);
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  const auto backend = lossless_backend(*checkpoint, 512);

  std::vector<std::string> texts = prompts("code.jsonl");
  for (std::string& text : prompts("prose.jsonl")) texts.push_back(std::move(text));
  ASSERT_GE(texts.size(), 20U);
  std::uint32_t setting = 0;
  std::mt19937 random(21);
  for (std::size_t prompt = 0; prompt < texts.size(); prompt += DRAFTSCOPE_PROMPT_STRIDE) {
    const std::string& text = texts[prompt];
    const auto tokens = tokenizer->encode(text);
    ASSERT_TRUE(tokens) << tokens.error().message;
    const DecodeRequest request{
        .prompt = *tokens, .max_new_tokens = 48, .eos_tokens = checkpoint->shape.eos_tokens};
    const Decoded vanilla = decode_with(*backend, "vanilla", request);
    // Exits and lengths rotate over the prompts and include the ends of their ranges.
    for (int i = 0; i < 3; ++i, ++setting) {
      const std::string specification =
          fmt::format("layerskip:exit={},gamma={},verify={}",
                      1 + setting % static_cast<std::uint32_t>(checkpoint->shape.n_layers - 1), setting % 9,
                      setting % 2 == 0 ? "all-layers" : "above-exit");
      ASSERT_EQ(decode_with(*backend, specification, request).tokens, vanilla.tokens) << specification << '\n'
                                                                                      << text;
    }
    const std::string mix = random_mix(checkpoint->shape.n_layers, random, {});
    ASSERT_EQ(decode_with(*backend, mix, request).tokens, vanilla.tokens) << mix << '\n' << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Shipped, DemoModel, testing::Values("demo-layerskip", "demo-plain"),
                         [](const auto& parameter) {
                           return parameter.param == "demo-plain" ? "Plain" : "LayerSkip";
                         });

}  // namespace
}  // namespace draftscope::engine
