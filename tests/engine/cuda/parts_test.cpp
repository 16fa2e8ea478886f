// SPDX-License-Identifier: GPL-3.0-or-later
// Programs whose operations take weights in several formats with groups. They are launched in parts, one per
// run of operations in one format, and have the same bits as with one launch per operation.

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "cuda/backend.h"
#include "cuda/weights/model_upload.h"
#include "cuda_shapes.h"
#include "decoded_text.h"
#include "drawn_rounds.h"
#include "emulated_gpu.h"
#include "noted_gpu.h"
#include "random_model.h"
#include "weights/packed_model.h"
#include "weights/same_bits.h"

namespace draftscope::engine::test {
namespace {

using Formats = std::vector<cuda::KernelFormat>;
using Needed = std::optional<cuda::KernelFormat>;  ///< A kernel's format; none where every kernel has code.

/// Formats of a model's layers, head and drafts.
struct Held {
  CudaWeights layers;
  CudaWeights head;   ///< A format with groups, or none as for the embedding.
  CudaWeights draft;  ///< The layers' own format, or one made for drafts.
};

Needed needed_for(const Checkpoint& plain, CudaWeights weights) {
  const cuda::KernelFormat format = cuda::layer_format(plain, weights);
  return format == cuda::KernelFormat::bf16 ? Needed() : Needed(format);
}

/// Formats of the launches for a sequence of operations in these formats.
Formats launches_of(std::initializer_list<Needed> needed, cuda::KernelFormat layers) {
  Formats formats;
  for (const Needed& format : needed)
    if (format && (formats.empty() || formats.back() != *format)) formats.push_back(*format);
  return formats.empty() ? Formats{layers} : formats;
}

/// A model, with one backend on programs and one with a launch per operation.
class InParts {
 public:
  InParts(const Held& held, Random& random)
      : plain_(random_checkpoint(shape_of(random), DType::bf16, random())), mixed_(plain_) {
    if (held.head) {
      head_.emplace(in_blocks(plain_, *held.head));
      mixed_.weights.head = head_->packed().weights.head;
    }
    layers = needed_for(plain_, held.layers);
    head = held.head ? needed_for(plain_, held.head) : Needed();
    draft = held.draft ? needed_for(plain_, held.draft) : layers;
    own = cuda::layer_format(plain_, held.layers);
    programs = made(held, DecodingPasses::programs, pick(random, 1, 4), of_programs);
    one_by_one = made(held, DecodingPasses::plain, 2, of_plain);
  }

  [[nodiscard]] const speculation::ModelShape& shape() const { return plain_.shape; }

  /// Launches of a pass over all layers and the head.
  [[nodiscard]] Formats of_pass(bool is_draft) const {
    return launches_of({is_draft ? draft : layers, head}, own);
  }
  /// Launches of a round. A draft step in parts is launched again for each possible step.
  [[nodiscard]] Formats of_round(const DrawnRound& drawn) const {
    Needed drafting = drawn.round.weights ? draft : layers;
    if (!runs_any(drawn.mask)) drafting = std::nullopt;
    const Formats step = launches_of({drafting, head}, own);
    if (step.size() == 1) return launches_of({drafting, head, layers, head}, own);
    Formats all;
    for (std::int32_t i = 0; i < drawn.round.draft_length; ++i)
      all.insert(all.end(), step.begin(), step.end());
    const Formats verification = launches_of({layers, head}, own);
    all.insert(all.end(), verification.begin(), verification.end());
    return all;
  }

  NotedCalls of_programs, of_plain;
  std::unique_ptr<Backend> programs, one_by_one;
  Needed layers, head, draft;
  cuda::KernelFormat own = cuda::KernelFormat::bf16;  ///< Format of the layers.

 private:
  static speculation::ModelShape shape_of(Random& random) {
    speculation::ModelShape shape = random_cuda_shape(random);
    shape.n_layers = 2;
    shape.d_model = 32 * pick(random, 1, 2);
    shape.d_ff = 32 * pick(random, 1, 3);
    shape.head_dim = 32;
    shape.sliding_window = 0;
    shape.vocab = pick(random, 20, 60);
    shape.tied_embeddings = false;
    return shape;
  }

  [[nodiscard]] static bool runs_any(const speculation::SublayerMask& mask) {
    for (std::int32_t layer = 0; layer < mask.exit_layer(); ++layer)
      if (mask.runs_attention(layer) || mask.runs_mlp(layer)) return true;
    return false;
  }

  [[nodiscard]] std::unique_ptr<Backend> made(const Held& held, DecodingPasses passes,
                                              std::int32_t multiprocessors, NotedCalls& calls) const {
    auto backend = noted_emulated_backend(mixed_, {.cache_rows = 90, .weights = held.layers}, passes, calls,
                                          multiprocessors);
    if (held.draft) {
      const auto done = backend->prepare_draft_weights(*held.draft);
      if (!done) throw std::runtime_error(done.error().message);
    }
    return backend;
  }

  Checkpoint plain_;
  Checkpoint mixed_;
  std::optional<PackedModel> head_;
};

/// Each format of layers with heads and drafts in the same format, in others and in none.
std::vector<Held> some_held_models() {
  using enum speculation::WeightFormat;
  return {{q4_0, {}, q8_0},        {q4_0, q8_0, {}}, {q4_0, q8_0, q8_0},     {q8_0, q4_0, int4},
          {q4_k, q8_0, q4_0},      {int4, {}, q4_k}, {fp8_block, q4_0, fp8}, {fp8, q8_0, {}},
          {{}, q4_0, q8_0},        {{}, q8_0, q8_0}, {{}, q8_0, {}},         {q8_0, q8_0, q8_0},
          {int4, q4_0, fp8_block}, {{}, {}, {}}};
}

std::string name_of_held(const testing::TestParamInfo<Held>& held) {
  const auto name = [](CudaWeights weights, const char* none) {
    return weights ? std::string(speculation::weight_format_name(*weights)) : std::string(none);
  };
  return name(held.param.layers, "bf16") + "_head_" + name(held.param.head, "bf16") + "_draft_" +
         name(held.param.draft, "own");
}

Formats formats_of(const NotedCalls& calls) {
  Formats formats;
  for (const cuda::Launch& launch : calls.launches) {
    EXPECT_EQ(launch.kernel, cuda::Kernel::program);
    formats.push_back(launch.format);
  }
  return formats;
}

class ProgramParts : public testing::TestWithParam<Held> {};

TEST_P(ProgramParts, ArePassesOfOneFormatAndHaveTheBitsOfALaunchAnOperation) {
  Random random(211);
  InParts model(GetParam(), random);
  std::int32_t cached = 0;
  for (const std::int32_t rows : {20, 1, 7}) {
    const OwnedBatch owned = chain(model.shape(), random, rows, cached);
    Batch batch = owned.view();
    const bool is_draft = GetParam().draft && rows == 1;
    if (is_draft) batch.weights = GetParam().draft;
    Outputs found;
    Outputs expected;
    model.of_programs = model.of_plain = {};
    ASSERT_TRUE(model.programs->forward(batch, found));
    ASSERT_TRUE(model.one_by_one->forward(batch, expected));
    EXPECT_TRUE(have_same_bits(found.logits, expected.logits)) << rows << " rows";
    EXPECT_EQ(formats_of(model.of_programs), model.of_pass(is_draft)) << rows << " rows";
    EXPECT_GT(model.of_plain.launches.size(), 10U);
    cached += rows;
  }
}

TEST_P(ProgramParts, AreRoundsOfOneFormatAndHaveTheBitsOfALaunchAnOperation) {
  Random random(223);
  InParts model(GetParam(), random);
  OwnedBatch prompt = chain(model.shape(), random, 60, 0);
  (void)outputs_of(*model.programs, prompt);
  (void)outputs_of(*model.one_by_one, prompt);
  for (int i = 0; i < 5; ++i) {
    SCOPED_TRACE(testing::Message() << "round " << i);
    DrawnRound drawn = drawn_round(model.shape(), random);
    if (GetParam().draft && i != 0) {  // The first round uses the layers' own weights.
      drawn.round.weights = GetParam().draft;
      drawn.round.above_exit = false;
    }
    ChainRoundOutputs found;
    ChainRoundOutputs expected;
    model.of_programs = model.of_plain = {};
    const auto done = model.programs->chain_round(drawn.view(), found);
    ASSERT_TRUE(done) << done.error().message;
    ASSERT_TRUE(model.one_by_one->chain_round(drawn.view(), expected));
    expect_same_round(found, expected);
    EXPECT_EQ(formats_of(model.of_programs), model.of_round(drawn));
    EXPECT_GT(model.of_plain.launches.size(), 10U);
  }
}

TEST_P(ProgramParts, DecodeTheTextOfVanilla) {
  Random random(227);
  InParts model(GetParam(), random);
  const std::vector<std::int32_t> prompt = random_prompt(random, model.shape().vocab, 12);
  DecodeRequest request{.prompt = prompt, .max_new_tokens = 10};
  std::string strategy = "layerskip:exit=1,gamma=3";
  if (GetParam().draft)
    strategy = "quantised:gamma=3,weights=" + std::string(speculation::weight_format_name(*GetParam().draft));
  for (const bool coupled : {false, true}) {
    if (coupled) request.sampling = {.temperature = 0.8, .coupled = true};
    const std::vector<std::int32_t> vanilla = text_under(*model.one_by_one, "vanilla", request);
    EXPECT_EQ(text_under(*model.programs, "vanilla", request), vanilla);
    EXPECT_EQ(text_under(*model.programs, strategy, request), vanilla);
    EXPECT_EQ(text_under(*model.one_by_one, strategy, request), vanilla);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ProgramParts, testing::ValuesIn(some_held_models()), name_of_held);

}  // namespace
}  // namespace draftscope::engine::test
