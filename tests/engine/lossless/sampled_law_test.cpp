// SPDX-License-Identifier: GPL-3.0-or-later
// On a real vocabulary only the target's law can be enumerated. A chi-square test compares many speculative
// texts with the exact probabilities of their first three tokens.

#include <draftscope/engine/sampling.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "decoded.h"

namespace draftscope::engine {
namespace {

const SamplingOptions sampling{.temperature = 1.0, .top_k = 4, .top_p = 1.0};

/// Adds the probabilities of all texts of three tokens, computed from the target alone.
void target_law(Backend& backend, std::vector<std::int32_t>& text, std::size_t length, double probability,
                std::map<std::vector<std::int32_t>, double>& law, std::size_t prompt_length) {
  if (length == 0) {
    law[{text.begin() + static_cast<std::ptrdiff_t>(prompt_length), text.end()}] += probability;
    return;
  }
  std::vector<Row> rows;
  for (std::size_t i = 0; i < text.size(); ++i)
    rows.push_back({.token = text[i], .hidden = -1, .position = static_cast<std::int32_t>(i)});
  Outputs outputs;
  const auto done = backend.forward(
      {.rows = rows,
       .committed = 0,
       .first_row = 0,
       .layers = {0, backend.shape().n_layers},
       .wanted = {.head_from = static_cast<std::int32_t>(rows.size()) - 1, .head = true, .logits = true}},
      outputs);
  ASSERT_TRUE(done) << done.error().message;
  Distribution next;
  warp(outputs.logits, sampling, next);
  for (std::size_t i = 0; i < next.tokens.size(); ++i) {
    text.push_back(next.tokens[i]);
    target_law(backend, text, length - 1, probability * next.probabilities[i], law, prompt_length);
    text.pop_back();
  }
}

TEST(SampledTextOnARealVocabulary, FollowsTheTargetsLaw) {
  speculation::ModelShape shape;
  shape.name = "law";
  shape.architecture = "LlamaForCausalLM";
  shape.n_layers = 4;
  shape.n_heads = 4;
  shape.n_kv_heads = 2;
  shape.head_dim = 16;
  shape.d_model = 64;
  shape.d_ff = 96;
  shape.vocab = 500;
  shape.max_positions = 64;
  const auto checkpoint = make_synthetic(shape, 0.6, 4);
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  const auto backend = cpu_backend(*checkpoint, 1, 64);
  std::vector<std::int32_t> text{11, 222, 333, 44};
  const std::vector<std::int32_t> prompt = text;
  std::map<std::vector<std::int32_t>, double> law;
  target_law(*backend, text, 3, 1.0, law, prompt.size());

  for (const char* specification :
       {"layerskip:exit=2,gamma=3", "layerskip:exit=1,gamma=2,verify=above-exit"}) {
    constexpr int texts = 4000;
    std::map<std::vector<std::int32_t>, int> counts;
    std::int64_t accepted = 0;
    std::int64_t drafted = 0;
    for (int i = 0; i < texts; ++i) {
      const Decoded decoded =
          decode_with(*backend, specification, {.prompt = prompt, .max_new_tokens = 5, .sampling = sampling},
                      77, static_cast<std::uint64_t>(i));
      ++counts[{decoded.tokens.begin(), decoded.tokens.begin() + 3}];
      accepted += decoded.accepted;
      drafted += decoded.drafted;
    }
    double chi_square = 0.0;
    double rest_expected = 0.0;
    double rest_found = texts;
    int cells = 0;
    for (const auto& [tokens, probability] : law) {
      const double expected = probability * texts;
      if (expected < 5.0) {
        rest_expected += expected;
        continue;
      }
      const auto found = counts.find(tokens);
      const double count = found == counts.end() ? 0.0 : found->second;
      chi_square += (count - expected) * (count - expected) / expected;
      rest_found -= count;
      ++cells;
    }
    if (rest_expected > 0.0) {
      chi_square += (rest_found - rest_expected) * (rest_found - rest_expected) / rest_expected;
      ++cells;
    } else {
      EXPECT_EQ(rest_found, 0.0) << "a text that the target can't produce";
    }
    // By Wilson-Hilferty the cube root of chi-square over its degrees of freedom is normal. The bound is 4.5
    // sigma for a fixed seed.
    const double degrees = cells - 1;
    const double z =
        (std::cbrt(chi_square / degrees) - (1.0 - 2.0 / (9.0 * degrees))) / std::sqrt(2.0 / (9.0 * degrees));
    EXPECT_LT(z, 4.5) << specification << ": chi-square " << chi_square << " on " << degrees
                      << " degrees of freedom";
    EXPECT_GT(cells, 8);
    EXPECT_GT(accepted, drafted / 20) << "drafts must be accepted sometimes";
    EXPECT_LT(accepted, drafted) << "and rejected sometimes";
  }
}

}  // namespace
}  // namespace draftscope::engine
