// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A finished policy for a model of four layers, written by hand.

#include <draftscope/engine/search.h>
#include <draftscope/engine/tuning/policy.h>

namespace draftscope::engine {

inline speculation::ModelShape small_shape() {
  speculation::ModelShape shape;
  shape.name = "small";
  shape.n_layers = 4;
  shape.d_model = 8;
  shape.n_heads = 2;
  shape.n_kv_heads = 1;
  shape.head_dim = 4;
  shape.d_ff = 16;
  shape.vocab = 32;
  return shape;
}

inline Policy example_policy() {
  const speculation::SublayerMask set =
      speculation::SublayerMask(4).skip_attention(1).skip_attention(3).skip_mlp(2);
  const Measurement measured{1.25, 500.0, 400.0, 0.75, 2.5};
  const Measurement worse{0.1 + 0.2, 120.0, 400.0, 0.5, 1.5};
  const std::string setting = "draft-verify:gamma=4,skip-attention=1+3,skip-mlp=2";
  return {.finished = true,
          .strategy = setting,
          .repeats = {measured, worse, measured},
          .finalists = {{setting, {measured, worse, measured}}, {"layerskip:exit=2", {worse}}},
          .skip_set = set,
          .model = model_facts(small_shape(), "0123abcd"),
          .machine = {{"processor", "Processor"}, {"threads", "2"}},
          .prompts = {{"file", "a \"quoted\"\nname"}, {"questions", "3"}},
          .settings = {{"seed", "18446744073709551615"}, {"search", "skip-set"}},
          .tool_version = "1.0",
          .date = "2026-01-02T03:04:05Z",
          .command_line = "draftscope tune",
          .trials = {
              {"draft-verify:gamma=4,skip-attention=none,skip-mlp=none", 3, worse,
               Candidate{speculation::SublayerMask(4), std::vector<double>(8, 0.1), CandidateOrigin::model}},
              {setting, 3, measured, Candidate{set, {0, 1, 0, 1, 0, 0, 1, 0}, CandidateOrigin::probe}},
              {"layerskip:exit=2", 1, {1.5, 0.0, 0.0, 0.0, 1.0}, std::nullopt}}};
}

}  // namespace draftscope::engine
