// SPDX-License-Identifier: GPL-3.0-or-later
#include "compared_outputs.h"

#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>

namespace draftscope::engine::test {

Outputs run_pass(Backend& backend, const Batch& batch) {
  Outputs outputs;
  const auto done = backend.forward(batch, outputs);
  if (!done) throw std::runtime_error(done.error().message);
  return outputs;
}

bool have_same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

void expect_same(const Outputs& found, const Outputs& expected) {
  EXPECT_TRUE(have_same_bits(found.hidden, expected.hidden));
  EXPECT_TRUE(have_same_bits(found.logits, expected.logits));
  ASSERT_EQ(found.top.size(), expected.top.size());
  for (std::size_t i = 0; i < found.top.size(); ++i) {
    EXPECT_EQ(found.top[i].token, expected.top[i].token);
    EXPECT_EQ(found.top[i].logit, expected.top[i].logit);
    EXPECT_EQ(found.top[i].probability, expected.top[i].probability);
  }
}

}  // namespace draftscope::engine::test
