// SPDX-License-Identifier: GPL-3.0-or-later
// One strategy decodes requests of any length, one after another, and the text of each is vanilla's: what it
// keeps from request to request never asks for more than the request at hand has. A walk draws a model, its
// format, threads, a context that texts may fill, a strategy of the catalogue or a mix of parts with any
// parameters, samplings and ends.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string_view>

#include "../../walks.h"
#include "../backend/counted_drafts.h"
#include "decoded.h"
#include "random_strategy.h"

namespace draftscope::engine {
namespace {

SamplingOptions random_sampling(std::int32_t vocab, std::mt19937& random) {
  SamplingOptions sampling;
  if (random() % 2 == 0) {
    sampling.temperature = one_of(std::array{1e-30, 0.3, 1.0, 5.0}, random);
    sampling.coupled = true;
    sampling.top_k = one_of(std::array{0, 1, 5}, random);
    sampling.top_p = one_of(std::array{1.0, 0.9, 1e-6}, random);
    sampling.min_p = one_of(std::array{0.0, 0.0, 0.1}, random);
  }
  sampling.repetition_penalty = one_of(std::array{1.0, 1.0, min_repetition_penalty, 1.3}, random);
  sampling.frequency_penalty = one_of(std::array{0.0, 0.0, 0.5, -2.0}, random);
  if (random() % 4 == 0)
    sampling.logit_bias = {{static_cast<std::int32_t>(random() % static_cast<std::uint32_t>(vocab)), 3.0}};
  return sampling;
}

/// The tokens of a request, or the error.
Result<std::vector<std::int32_t>> decoded(Backend& backend, Strategy& strategy, const DecodeRequest& request,
                                          DecodeListener& listener, std::uint64_t seed) {
  SeededChooser chooser(seed, 1);
  DRAFTSCOPE_TRY_ASSIGN(DecodeResult result, decode(backend, strategy, request, chooser, listener));
  return std::move(result.tokens);
}

Checkpoint walk_checkpoint(std::mt19937& random) {
  const auto families = speculation::model_families();
  Checkpoint checkpoint = random() % 2 == 0 ? random_checkpoint(random)
                                            : random_checkpoint(random, families[random() % families.size()]);
  while (checkpoint.shape.n_layers < 3) checkpoint = random_checkpoint(random);
  return checkpoint;
}

/// A backend reads the weights where its checkpoint holds them.
struct DraftModelOfWalk {
  Checkpoint checkpoint;
  std::unique_ptr<Backend> backend;
};

/// A draft model of another size, which knows only some of the target's tokens where its vocabulary differs.
StrategyResources with_draft_model(const Checkpoint& target, std::mt19937& random) {
  const auto seed = static_cast<std::uint32_t>(random());
  StrategyResources resources;
  resources.open_draft_model = [&target, seed](const std::string& /*model*/) -> Result<OpenedDraftModel> {
    std::mt19937 own(seed);
    auto held = std::make_shared<DraftModelOfWalk>();
    held->checkpoint = own() % 3 == 0 ? target : random_checkpoint(own);
    DRAFTSCOPE_TRY_ASSIGN(held->backend,
                          make_cpu_backend(held->checkpoint, {.threads = 1, .cache_rows = 160}));
    std::shared_ptr<Backend> backend(held, held->backend.get());
    const std::int32_t vocab_size = held->checkpoint.shape.vocab;
    const auto vocab = static_cast<std::size_t>(std::min(vocab_size, target.shape.vocab));
    if (vocab_size == target.shape.vocab) return OpenedDraftModel(std::move(backend));
    auto shared = std::make_shared<std::vector<bool>>(vocab);
    for (std::size_t token = 0; token < vocab; ++token) (*shared)[token] = own() % 4 != 0;
    return OpenedDraftModel(std::move(backend), std::move(shared));
  };
  return resources;
}

/// Counts the walk if its strategy decodes on this model, and the drafts of its mix.
void walk(std::uint32_t seed, std::uint32_t& walked, test::CountedDrafts& of_mixes) {
  std::mt19937 random(seed);
  const Checkpoint checkpoint = walk_checkpoint(random);
  const speculation::ModelShape& shape = checkpoint.shape;
  using speculation::WeightFormat;
  static constexpr std::array formats{WeightFormat::bf16, WeightFormat::bf16, WeightFormat::q8_0,
                                      WeightFormat::q5_0, WeightFormat::q4_1, WeightFormat::q3_0};
  CpuOptions options{.threads = static_cast<std::int32_t>(1 + random() % 3),
                     .cache_rows = static_cast<std::int32_t>(40 + random() % 120)};
  if (const auto format = one_of(formats, random); format != WeightFormat::bf16) options.weights = format;
  const auto backend = make_cpu_backend(checkpoint, options);
  ASSERT_TRUE(backend) << backend.error().message;
  const bool is_mix = random() % 2 == 0;
  // A mix on a packed model drafts with the model's own weights.
  const auto formats_of_mix =
      options.weights ? std::span<const std::string_view>() : std::span<const std::string_view>(cpu_formats);
  const std::string specification =
      is_mix ? random_mix(shape.n_layers, random, formats_of_mix) : random_strategy(shape.n_layers, random);
  SCOPED_TRACE(specification);
  const StrategyResources resources = with_draft_model(checkpoint, random);
  const auto strategy = make_strategy(specification, shape, resources);
  // What a part cannot do, or this target has no layer for, is refused before it decodes.
  if (!strategy) return;
  // Some formats are made by GPUs alone.
  for (const WeightFormat held : strategy->strategy->draft_weights((*backend)->describe()))
    if (!(*backend)->prepare_draft_weights(held)) return;
  ++walked;
  for (std::uint32_t request_number = 0; request_number < 2 + seed % 3; ++request_number) {
    const auto rows = static_cast<std::uint32_t>((*backend)->cache_rows());
    const std::size_t prompt_tokens = 1 + random() % (random() % 2 == 0 ? 4 : rows);
    const auto prompt = random_tokens(random, prompt_tokens, shape.vocab);
    const auto eos = random_tokens(random, random() % 2, shape.vocab);
    const DecodeRequest request{.prompt = prompt,
                                .max_new_tokens = static_cast<std::int32_t>(1 + random() % 70),
                                .sampling = random_sampling(shape.vocab, random),
                                .eos_tokens = eos};
    const std::uint64_t request_seed = random();
    const auto vanilla = make_strategy("vanilla", shape);
    ASSERT_TRUE(vanilla);
    test::CountedDrafts uncounted;
    const auto expected = decoded(**backend, *vanilla->strategy, request, uncounted, request_seed);
    const auto found =
        decoded(**backend, *strategy->strategy, request, is_mix ? of_mixes : uncounted, request_seed);
    const auto what = fmt::format("request {} of {} tokens and {} more", request_number, prompt_tokens,
                                  request.max_new_tokens);
    ASSERT_TRUE(expected) << what << ": " << expected.error().message;
    ASSERT_TRUE(found) << what << ": " << found.error().message;
    ASSERT_EQ(*found, *expected) << what;
  }
}

TEST(LosslessWalk, HasTheTextOfVanillaInEveryRequestOfASequence) {
  const draftscope::test::Walks seeds = draftscope::test::walks(80);
  std::uint32_t walked = 0;
  test::CountedDrafts of_mixes;
  for (std::uint32_t seed = seeds.first; seed <= seeds.last; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    walk(seed, walked, of_mixes);
    if (testing::Test::HasFatalFailure()) return;
  }
  // A single seed may be one that does not decode.
  const std::uint32_t most = seeds.last - seeds.first;
  EXPECT_GE(3 * walked, 2 * most);
  EXPECT_GE(of_mixes.accepted, most);
  EXPECT_GE(of_mixes.drafted - of_mixes.accepted, most);
}

}  // namespace
}  // namespace draftscope::engine
