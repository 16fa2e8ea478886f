// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Small models that are put through everything the device can do: what a sanitizer has time for.

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

/// Each of the models: a wide prefill, greedy, sampled and coupled rounds of the device's own, trees, top-k
/// and moved cache rows. Expects that greedy and coupled texts are vanilla's.
void put_through_everything(const MakeOnDevice& make);

/// Puts one model through everything but wide passes: kernels of our own alone, for sanitizers that do not
/// see a library's writes.
void put_through_narrow_passes(const HeldModel& model, const MakeOnDevice& make);

}  // namespace draftscope::engine::test
