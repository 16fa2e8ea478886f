// SPDX-License-Identifier: GPL-3.0-or-later
// No output depends, bit for bit, on the number of threads. This holds for oneDNN's wide products and for our
// own kernels.

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "backends.h"
#include "random_model.h"

namespace draftscope::engine::test {
namespace {

constexpr std::int32_t prompt_room = 240;

/// Logits of a prompt of `length` tokens, in the widest possible passes, and of one token after it.
std::vector<float> logits_of(Backend& backend, const OwnedBatch& prompt) {
  std::vector<float> logits = outputs_of(backend, prompt.view()).logits;
  OwnedBatch next = prompt;
  const auto length = static_cast<std::int32_t>(prompt.rows.size());
  next.rows.assign(1, {prompt.rows.front().token, -1, length});
  next.committed = next.first_row = length;
  const std::vector<float> last = outputs_of(backend, next.view()).logits;
  logits.insert(logits.end(), last.begin(), last.end());
  return logits;
}

TEST(Threads, DoNotShowInPrefillOrDecode) {
  Random random(41);
  const std::int32_t edges[] = {1, 2, 16, 17, 63, 64, 65, 66, 127, 128, 129, 191, 192, 193, 200};
  for (const std::string& kernels : kernel_names())
    for (const DType dtype : {DType::f32, DType::bf16})
      for (int round = 0; round < 2; ++round) {
        SCOPED_TRACE(kernels + " " + std::string(dtype_name(dtype)));
        speculation::ModelShape shape = random_shape(random);
        shape.n_layers = 2;
        if (round == 1)
          shape.d_model = pick(random, 180, 330);  // several blocks of outputs, some of them partial
        if (round == 1) shape.d_ff = pick(random, 180, 330);
        const Checkpoint checkpoint = random_checkpoint(shape, dtype, random());
        std::vector<std::unique_ptr<Backend>> backends;
        for (const std::int32_t threads : {1, 2, 3, 5, 8})
          backends.push_back(
              make_backend(checkpoint, {.threads = threads, .cache_rows = prompt_room, .kernels = kernels}));
        for (int length = 0; length < 3; ++length) {
          const std::int32_t rows = length == 2
                                        ? pick(random, 65, 200)
                                        : edges[pick(random, 0, static_cast<int>(std::size(edges)) - 1)];
          const OwnedBatch prompt = chain(shape, random, rows, 0);
          const std::vector<float> expected = logits_of(*backends[0], prompt);
          for (std::size_t i = 1; i < backends.size(); ++i) {
            const std::vector<float> found = logits_of(*backends[i], prompt);
            ASSERT_EQ(found.size(), expected.size());
            ASSERT_EQ(std::memcmp(found.data(), expected.data(), found.size() * sizeof(float)), 0)
                << rows << " rows, backend " << i;
          }
        }
      }
}

/// oneDNN may sum a wide matrix of many rows in another order than a part of it. A whole matrix and its
/// halves then differ, which once made one thread differ from four.
TEST(Threads, DoNotShowInMatricesThatOneDnnCutsAlongTheirDepth) {
  Random random(43);
  speculation::ModelShape shape;
  shape.name = "wide";
  shape.n_layers = 1;
  shape.d_model = 2048;
  shape.n_kv_heads = 1;
  shape.n_heads = 1;
  shape.head_dim = 16;
  shape.d_ff = 2048;
  shape.vocab = 16;
  shape.max_positions = 512;
  const Checkpoint checkpoint = random_checkpoint(shape, DType::f32, random());
  OwnedBatch prompt = chain(shape, random, 512, 0);
  prompt.wanted.head_from = 500;
  std::vector<float> expected;
  for (const std::int32_t threads : {1, 4}) {
    const auto backend = make_backend(checkpoint, {.threads = threads, .cache_rows = 512});
    const std::vector<float> logits = outputs_of(*backend, prompt.view()).logits;
    if (expected.empty()) expected = logits;
    ASSERT_EQ(std::memcmp(logits.data(), expected.data(), expected.size() * sizeof(float)), 0);
  }
}

}  // namespace
}  // namespace draftscope::engine::test
