// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Whether two backends compute the same, bit for bit.

#include <stdexcept>
#include <vector>

#include "../../have_same_bits.h"
#include "random_model.h"

namespace draftscope::engine::test {

/// States and logits of a batch; throws the backend's error.
[[nodiscard]] inline std::vector<float> outputs_of(Backend& backend, const OwnedBatch& batch) {
  Outputs outputs;
  const auto done = backend.forward(batch.view(), outputs);
  if (!done) throw std::runtime_error(done.error().message);
  std::vector<float> all = outputs.hidden;
  all.insert(all.end(), outputs.logits.begin(), outputs.logits.end());
  return all;
}

}  // namespace draftscope::engine::test
