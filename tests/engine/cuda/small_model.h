// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A small model that is put through everything the device can do: what a sanitizer has time for.

#include <draftscope/engine/backend.h>
#include <draftscope/engine/cuda_backend.h>

#include <functional>
#include <memory>

namespace draftscope::engine::test {

using MakeOnDevice = std::function<std::unique_ptr<Backend>(const Checkpoint&, CudaWeights)>;

/// With weights as stored, in fp8 and in blocks: a wide prefill, greedy, sampled and coupled rounds of the
/// device's own, trees, top-k and moved cache rows. Expects that greedy and coupled texts are vanilla's.
void put_through_everything(const MakeOnDevice& make);

}  // namespace draftscope::engine::test
