// SPDX-License-Identifier: GPL-3.0-or-later
// In whatever order a device starts kernels, blocks and warps, text is the same.

#include <draftscope/engine/decode.h>
#include <draftscope/engine/strategy.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "cuda/backend.h"
#include "cuda_shapes.h"
#include "emulated_gpu.h"

namespace draftscope::engine::test {
namespace {

std::unique_ptr<Backend> backend_of_seed(const Checkpoint& checkpoint, std::uint32_t seed) {
  auto backend =
      cuda::make_backend(cuda::emulation::make_emulated_gpu(2, cuda::emulation::usual_memory_bytes, seed),
                         checkpoint, {.cache_rows = 160});
  if (!backend) throw std::runtime_error(backend.error().message);
  return std::move(*backend);
}

TEST(OrderOfKernels, DoesNotChangeTheText) {
  Random random(29);
  for (const bool is_sampled : {false, true}) {
    SCOPED_TRACE(is_sampled);
    speculation::ModelShape shape = random_cuda_shape(random);
    shape.sliding_window = 0;
    shape.n_layers = 3;
    shape.d_model = 8 * pick(random, 1, 8);
    shape.d_ff = 8 * pick(random, 1, 12);
    shape.head_dim = 32;
    shape.vocab = pick(random, 20, 60);
    const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, random());
    // Past what one pass of decode kernels takes: the prompt goes through a library's products.
    std::vector<std::int32_t> prompt(static_cast<std::size_t>(pick(random, 66, 90)));
    for (std::int32_t& token : prompt) token = pick(random, 0, shape.vocab - 1);
    DecodeRequest request{.prompt = prompt, .max_new_tokens = 12};
    if (is_sampled) request.sampling = {.temperature = 0.8, .top_p = 0.95, .coupled = true};
    std::vector<std::int32_t> expected;
    for (std::uint32_t seed = 1; seed <= 4; ++seed)
      for (const char* specification :
           {"vanilla", "layerskip:exit=2,gamma=4", "mix:mask=exit,exit=2,shape=tree,gamma=3"}) {
        SCOPED_TRACE(testing::Message() << specification << ", seed " << seed);
        const auto backend = backend_of_seed(checkpoint, seed);
        const auto strategy = make_strategy(specification, shape);
        ASSERT_TRUE(strategy) << strategy.error().message;
        SeededChooser chooser(7, 3);
        DecodeListener unheard;
        const auto decoded = decode(*backend, *strategy->strategy, request, chooser, unheard);
        ASSERT_TRUE(decoded) << decoded.error().message;
        if (expected.empty()) expected = decoded->tokens;
        EXPECT_EQ(decoded->tokens, expected);
      }
  }
}

}  // namespace
}  // namespace draftscope::engine::test
