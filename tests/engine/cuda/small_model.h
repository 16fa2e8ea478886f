// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Small models that run through all functions of the device, small enough for a sanitizer.

#include <draftscope/engine/backend.h>
#include <draftscope/engine/cuda_backend.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace draftscope::engine::test {

using MakeOnDevice = std::function<std::unique_ptr<Backend>(const Checkpoint&, CudaWeights)>;

struct HeldModel {
  std::string name;
  speculation::ModelShape shape;
  CudaWeights weights;
};

inline void PrintTo(const HeldModel& model, std::ostream* out) {
  *out << model.name;
}

/// Models with weights as stored, in fp8 and in blocks.
[[nodiscard]] std::vector<HeldModel> small_models();

/// Runs each model through a wide prefill, greedy, sampled and coupled rounds of the device's own, trees,
/// top-k and moved cache rows. Expects that greedy and coupled texts equal vanilla's.
void put_through_everything(const MakeOnDevice& make);

/// Runs one model through everything but wide passes. This uses only our own kernels, for sanitizers that do
/// not see a library's writes.
void put_through_narrow_passes(const HeldModel& model, const MakeOnDevice& make);

}  // namespace draftscope::engine::test
