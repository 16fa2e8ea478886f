// SPDX-License-Identifier: GPL-3.0-or-later
#include "same_bits.h"

#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>

#include "cuda_device.h"

namespace draftscope::engine::test {

std::vector<float> outputs_of(Backend& backend, const OwnedBatch& batch) {
  Outputs outputs;
  const auto done = backend.forward(batch.view(), outputs);
  if (!done) throw std::runtime_error(done.error().message);
  std::vector<float> all = outputs.hidden;
  all.insert(all.end(), outputs.logits.begin(), outputs.logits.end());
  return all;
}

bool have_same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

void expect_same_bits(const Checkpoint& packed, const Checkpoint& widened, Random& random,
                      std::int32_t max_rows) {
  const speculation::ModelShape& shape = packed.shape;
  const CudaOptions options{.cache_rows = packed_cache_rows};
  const auto of_packed = backend_on_device(packed, options, pick(random, 1, 4));
  const auto of_widened = backend_on_device(widened, options, pick(random, 1, 4));
  const std::int32_t context = chance(random, 0.3) ? pick(random, 65, 80) : pick(random, 1, max_rows / 2);
  OwnedBatch prompt = chain(shape, random, context, 0);
  prompt.wanted.head_from = context - 1;
  EXPECT_TRUE(have_same_bits(outputs_of(*of_packed, prompt), outputs_of(*of_widened, prompt)))
      << "prompt of " << context;
  OwnedBatch batch = tree(shape, random, pick(random, 2, max_rows), context);
  for (std::int32_t boundary = 0; boundary <= shape.n_layers; ++boundary)
    batch.hidden_after.push_back(boundary);
  if (chance(random, 0.5)) batch.mask = random_mask(random, shape.n_layers, 0.3);
  EXPECT_TRUE(have_same_bits(outputs_of(*of_packed, batch), outputs_of(*of_widened, batch)))
      << "tree of " << batch.rows.size();
  const OwnedBatch one = chain(shape, random, 1, context);
  EXPECT_TRUE(have_same_bits(outputs_of(*of_packed, one), outputs_of(*of_widened, one)));
}

}  // namespace draftscope::engine::test
