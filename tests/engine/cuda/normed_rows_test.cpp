// SPDX-License-Identifier: GPL-3.0-or-later
// Rows that a block's shared memory does not hold: normalised ahead of a product, which is one launch all the
// same, with the bits of rows that a block holds.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cuda/backend.h"
#include "cuda/kernels/launch_shape.h"
#include "cuda/model_upload.h"
#include "cuda_shapes.h"
#include "decoded_text.h"
#include "emulated_gpu.h"
#include "noted_gpu.h"
#include "random_model.h"
#include "weights/held_format.h"
#include "weights/in_q4_k.h"
#include "weights/same_bits.h"

namespace draftscope::engine::test {
namespace {

using cuda::Kernel;
using cuda::ProductShape;
using cuda::WeightFormat;

/// Shared memory of a block that holds all rows of any product.
constexpr std::size_t plenty_of_bytes = std::size_t{1} << 20;

/// The least that a block of sixteen rows takes.
std::size_t min_bytes(WeightFormat format) {
  const ProductShape shape{
      .columns = 16, .rows = 16, .stages = 1, .stage_bytes = cuda::stage_bytes(format), .reads_normed = true};
  return cuda::product_shared_bytes(shape, 0, true);
}

/// Normalised rows, of up to eight, that a block of `shared_bytes` holds beside a stage.
std::int32_t held_rows(std::int32_t d_model, WeightFormat format, std::size_t shared_bytes) {
  ProductShape shape{.columns = 8, .stages = 1, .stage_bytes = cuda::stage_bytes(format)};
  for (shape.rows = 8; shape.rows > 0; --shape.rows)
    if (cuda::product_shared_bytes(shape, d_model, true) <= shared_bytes) break;
  return shape.rows;
}

/// A width of which a block holds `rows` rows and no more.
std::int32_t width_of(Random& random, std::int32_t rows, WeightFormat format, std::size_t shared_bytes) {
  constexpr std::int32_t granule = 32;
  std::int32_t width = granule;
  while (held_rows(width, format, shared_bytes) > rows) width += granule;
  const std::int32_t wider = width + granule * pick(random, 1, 4);
  return held_rows(wider, format, shared_bytes) == rows ? wider : width;
}

/// As little beside the width of the residual stream as a model can have; attention takes a tile of queries.
speculation::ModelShape narrow_shape(Random& random, std::int32_t n_layers) {
  speculation::ModelShape shape = tiny_cuda_shape();
  shape.n_layers = n_layers;
  shape.n_kv_heads = pick(random, 1, 2);
  shape.n_heads = shape.n_kv_heads;
  shape.d_ff = 32 * pick(random, 1, 2);
  shape.vocab = pick(random, 20, 50);
  return shape;
}

std::unique_ptr<Backend> backend_of_blocks(const Checkpoint& checkpoint, const CudaOptions& options,
                                           std::size_t shared_bytes, NotedCalls& calls) {
  static std::uint32_t seed = 0;
  auto backend = cuda::make_backend(
      std::make_unique<NotedGpu>(
          cuda::emulation::make_emulated_gpu(2, cuda::emulation::usual_memory_bytes, ++seed, shared_bytes),
          calls),
      checkpoint, options);
  if (!backend) throw std::runtime_error(backend.error().message);
  return std::move(*backend);
}

std::ptrdiff_t launches_of(const NotedCalls& calls, Kernel kernel) {
  return std::count_if(calls.launches.begin(), calls.launches.end(),
                       [&](const cuda::Launch& launch) { return launch.kernel == kernel; });
}

std::ptrdiff_t launches_of_normed_rows(const NotedCalls& calls) {
  return std::count_if(calls.launches.begin(), calls.launches.end(),
                       [](const cuda::Launch& launch) { return launch.reads_normed; });
}

/// Products that normalise their rows or have them normalised.
std::ptrdiff_t launches_of_normalised(const NotedCalls& calls) {
  return launches_of(calls, Kernel::qkv) + launches_of(calls, Kernel::gate_up) +
         launches_of(calls, Kernel::head);
}

TEST(NormedRows, HaveTheBitsOfRowsThatABlockHoldsAndTakeOneLaunchAProduct) {
  Random random(61);
  constexpr std::int32_t some_rows_held[] = {0, 1, 7};
  int round = 0;
  for (const HeldFormat& held : every_held_format()) {
    const std::int32_t rows_held = some_rows_held[round++ % 3];
    speculation::ModelShape shape = narrow_shape(random, rows_held == 0 ? 1 : 2);
    const WeightFormat format = cuda::layer_format(random_checkpoint(shape, held.dtype, 1), held.weights);
    const std::size_t shared_bytes = min_bytes(format);
    shape.d_model = width_of(random, rows_held, format, shared_bytes);
    SCOPED_TRACE(testing::Message() << dtype_name(held.dtype) << ", format " << static_cast<int>(format)
                                    << ", d_model " << shape.d_model);
    const Checkpoint checkpoint = random_checkpoint(shape, held.dtype, random());
    const CudaOptions options{.cache_rows = 40, .weights = held.weights};
    NotedCalls staged;
    NotedCalls normed;
    const auto large = backend_of_blocks(checkpoint, options, plenty_of_bytes, staged);
    const auto small = backend_of_blocks(checkpoint, options, shared_bytes, normed);
    OwnedBatch prompt = chain(shape, random, pick(random, 1, 4), 0);
    prompt.wanted.head_from = static_cast<std::int32_t>(prompt.rows.size()) - 1;
    EXPECT_TRUE(have_same_bits(outputs_of(*small, prompt), outputs_of(*large, prompt)));
    // The head's ring may be smaller, and leave room for one row more.
    const std::int32_t rows = pick(random, rows_held < 2 ? rows_held + 2 : 9, 16);
    OwnedBatch batch = tree(shape, random, rows, static_cast<std::int32_t>(prompt.rows.size()));
    if (chance(random, 0.5)) batch.mask = random_mask(random, shape.n_layers, 0.3);
    if (chance(random, 0.5)) batch.hidden_after = {0, shape.n_layers};
    if (chance(random, 0.5)) batch.wanted.head_from = pick(random, 0, rows - 1);
    EXPECT_TRUE(have_same_bits(outputs_of(*small, batch), outputs_of(*large, batch))) << rows << " rows";
    // A graph that has captured nothing before.
    normed.launches.clear();
    (void)outputs_of(*backend_of_blocks(checkpoint, options, shared_bytes, normed), batch);
    EXPECT_EQ(launches_of(normed, Kernel::qkv), launches_of(normed, Kernel::output));
    EXPECT_EQ(launches_of(normed, Kernel::gate_up), launches_of(normed, Kernel::down));
    EXPECT_EQ(launches_of(normed, Kernel::head), 1);
    EXPECT_EQ(launches_of_normed_rows(normed), launches_of_normalised(normed));
    EXPECT_EQ(launches_of(normed, Kernel::normalise_rows), launches_of_normalised(normed));
    EXPECT_EQ(launches_of_normed_rows(staged) + launches_of(staged, Kernel::normalise_rows), 0);
  }
}

/// Two launches of half as many rows each, and one that normalises all of them.
TEST(NormedRows, OfMoreLaunchesAreNormalisedTogether) {
  Random random(67);
  speculation::ModelShape shape = narrow_shape(random, 1);
  shape.d_model = 1184;  // nine rows and a stage take more than a block here, attention of 20 rows as much
  constexpr std::size_t shared_bytes = std::size_t{66} << 10;
  const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, 3);
  NotedCalls staged;
  NotedCalls normed;
  const auto large = backend_of_blocks(checkpoint, {.cache_rows = 40}, plenty_of_bytes, staged);
  const auto small = backend_of_blocks(checkpoint, {.cache_rows = 40}, shared_bytes, normed);
  const OwnedBatch batch = chain(shape, random, 20, 0);
  EXPECT_TRUE(have_same_bits(outputs_of(*small, batch), outputs_of(*large, batch)));
  EXPECT_EQ(launches_of_normed_rows(normed), 2 * 3);
  EXPECT_EQ(launches_of_normalised(normed), 2 * 3);
  EXPECT_EQ(launches_of(normed, Kernel::normalise_rows), 3);
}

/// A layer's matrices in two formats read rows that are normalised once.
TEST(NormedRows, AreThoseOfBothFormatsOfALayer) {
  Random random(71);
  speculation::ModelShape shape = random_q4_k_shape(random);
  shape.n_layers = 2;
  shape.head_dim = 32;
  shape.n_heads = shape.n_kv_heads = 8;
  shape.d_model = 1280;
  shape.d_ff = 256;
  InQ4K model(random_checkpoint(shape, DType::bf16, 7), random, 0.5);
  NotedCalls staged;
  NotedCalls normed;
  const auto large = backend_of_blocks(model.packed(), {.cache_rows = 40}, plenty_of_bytes, staged);
  const auto small =
      backend_of_blocks(model.packed(), {.cache_rows = 40}, min_bytes(WeightFormat::q4_k), normed);
  OwnedBatch batch = tree(shape, random, 12, 0);
  batch.hidden_after = {1, 2};
  EXPECT_TRUE(have_same_bits(outputs_of(*small, batch), outputs_of(*large, batch)));
  EXPECT_EQ(launches_of_normed_rows(normed), launches_of_normalised(normed));
  EXPECT_GT(launches_of(normed, Kernel::qkv) + launches_of(normed, Kernel::gate_up), 4);
  EXPECT_EQ(launches_of(normed, Kernel::normalise_rows), 2 * 2 + 1);
}

/// Rounds of the device's own, in graphs that serve fewer rows than they have room for, and in many orders of
/// kernels: drafts of one row that a block holds, verifications of more.
TEST(NormedRows, LeaveEveryTextAsItIs) {
  Random random(73);
  speculation::ModelShape shape = narrow_shape(random, 2);
  shape.sliding_window = 0;
  shape.d_model = 1088;
  const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, 5);
  const std::size_t shared_bytes = min_bytes(WeightFormat::bf16);
  ASSERT_EQ(held_rows(shape.d_model, WeightFormat::bf16, shared_bytes), 7);
  for (const bool is_sampled : {false, true}) {
    // One of them goes through a library's products.
    std::vector<std::int32_t> prompt(is_sampled ? 5 : 66);
    for (std::int32_t& token : prompt) token = pick(random, 0, shape.vocab - 1);
    DecodeRequest request{.prompt = prompt, .max_new_tokens = 12};
    if (is_sampled) request.sampling = {.temperature = 0.8, .top_p = 0.95, .coupled = true};
    NotedCalls staged;
    const std::vector<std::int32_t> expected = text_under(
        *backend_of_blocks(checkpoint, {.cache_rows = 100}, plenty_of_bytes, staged), "vanilla", request);
    ASSERT_EQ(expected.size(), 12U);
    for (const char* strategy : {"vanilla", "layerskip:exit=1,gamma=10", "prompt-lookup:length=8"}) {
      NotedCalls normed;
      const auto backend = backend_of_blocks(checkpoint, {.cache_rows = 100}, shared_bytes, normed);
      EXPECT_EQ(text_under(*backend, strategy, request), expected) << strategy;
      if (std::string(strategy) == "layerskip:exit=1,gamma=10") {
        EXPECT_GT(launches_of_normed_rows(normed), 0);
        EXPECT_LT(launches_of_normed_rows(normed), launches_of_normalised(normed));
      }
    }
  }
}

}  // namespace
}  // namespace draftscope::engine::test
