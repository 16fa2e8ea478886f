// SPDX-License-Identifier: GPL-3.0-or-later
// Whatever strategy decodes on the device, greedy text and coupled text equal vanilla's, token by token.
// Strategies include chains, trees, guesses, extra rows, changing exits, searches, and a separate draft
// model.

#include "every_strategy.h"

#include <draftscope/engine/decode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "counted_drafts.h"
#include "cuda_device.h"
#include "cuda_shapes.h"
#include "decoded_text.h"
#include "next_token_layer.h"

namespace draftscope::engine::test {
namespace {

constexpr std::int32_t cache_rows = 160;

speculation::ModelShape shape_with_layers(Random& random) {
  speculation::ModelShape shape = random_cuda_shape(random);
  shape.sliding_window = 0;
  shape.n_layers = 3;
  shape.head_dim = 32 * pick(random, 1, 2);
  shape.d_model = 32 * pick(random, 1, 4);  // Formats with groups need multiples of 32.
  shape.d_ff = 32 * pick(random, 1, 6);
  shape.vocab = pick(random, 4, 60);
  return shape;
}

std::string name_of(const std::string& specification) {
  return specification.substr(0, specification.find(':'));
}

/// A random model per test.
class EveryStrategyOnTheDevice : public testing::TestWithParam<int> {};

TEST_P(EveryStrategyOnTheDevice, DecodesTheTextOfVanilla) {
  const int trial = GetParam();
  Random random(static_cast<std::uint32_t>(83 + trial));
  CountedDrafts all;
  std::set<std::string> decoded_names;
  const bool sampled = trial % 2 == 1;
  const DType dtype = trial % 4 < 2 ? DType::bf16 : DType::f16;
  const speculation::ModelShape shape = shape_with_layers(random);
  const Checkpoint checkpoint = random_checkpoint(shape, dtype, random());
  speculation::ModelShape smaller = shape_with_layers(random);
  smaller.vocab = shape.vocab;
  const Checkpoint draft = random_checkpoint(smaller, dtype, random());
  const auto backend = backend_on_device(checkpoint, {.cache_rows = cache_rows});
  const auto draft_backend = std::shared_ptr<Backend>(backend_on_device(draft, {.cache_rows = cache_rows}));
  const StrategyResources resources = with_next_token_layer(
      checkpoint,
      [](const Checkpoint& layer) { return backend_on_device(layer, {.cache_rows = cache_rows}); },
      {.open_draft_model = [&](const std::string&) -> Result<std::shared_ptr<Backend>> {
        return draft_backend;
      }});
  // Only one model has prompts beyond the limit of a decode kernel, since every strategy decodes each of them
  // again.
  const std::vector<std::int32_t> prompt = random_prompt(random, shape.vocab, trial == 0 ? 90 : 20);
  DecodeRequest request{.prompt = prompt, .max_new_tokens = 12};
  if (sampled) request.sampling = {.temperature = 0.8, .top_p = 0.95, .coupled = true};
  const EveryStrategy strategies(shape, half_of_turn(held_weights(*backend), trial));
  std::vector<std::int32_t> vanilla = text_under(*backend, "vanilla", request, resources);
  // Some texts end at a token that comes late, so that drafts can happen before it.
  auto late = vanilla.begin() + std::min<std::ptrdiff_t>(6, std::ssize(vanilla));
  while (late != vanilla.end() && std::find(vanilla.begin(), late, *late) != late) ++late;
  std::vector<std::int32_t> ends;
  if (chance(random, 0.3) && late != vanilla.end()) {
    ends = {*late};
    request.eos_tokens = ends;
    vanilla = text_under(*backend, "vanilla", request, resources);
  }
  for (const std::string& specification : strategies.specifications()) {
    SCOPED_TRACE(specification);
    EXPECT_EQ(text_under(*backend, specification, request, all, resources), vanilla);
    decoded_names.insert(name_of(specification));
  }
  for (const speculation::StrategyRow& strategy : speculation::strategy_catalogue().strategies())
    EXPECT_TRUE(decoded_names.contains(strategy.name)) << strategy.name;
  // Both outcomes must be frequent for the equality to mean something.
  EXPECT_GT(all.accepted, 50);
  EXPECT_GT(all.drafted - all.accepted, 50);
}

INSTANTIATE_TEST_SUITE_P(Models, EveryStrategyOnTheDevice, testing::Range(0, models_of_a_long_test()));

}  // namespace
}  // namespace draftscope::engine::test
