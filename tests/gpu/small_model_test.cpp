// SPDX-License-Identifier: GPL-3.0-or-later
#include "small_model.h"

#include <gtest/gtest.h>

#include "cuda_device.h"

namespace draftscope::engine::test {
namespace {

TEST(SmallModel, IsPutThroughEverything) {
  put_through_everything([](const Checkpoint& checkpoint, CudaWeights weights) {
    return backend_on_device(checkpoint, {.weights = weights});
  });
}

}  // namespace
}  // namespace draftscope::engine::test
