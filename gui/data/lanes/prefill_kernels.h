// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Layers and operations of a prefill's kernels, for recordings that do not say them. The engine runs each
// layer as the same kernels: product and epilogue of qkv, attention, product and epilogue of the output
// projection, of gate up, and of down. So a library's product belongs to the epilogue that follows it.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace draftscope::gui {

struct PrefillKernel {
  std::string name;         ///< As short_kernel_name() gives it; in the result, with its operation.
  std::int32_t layer = -1;  ///< -1 = none, or not known.
};

/// Adds layers and operations to the kernels of one pass, in order of their start, from its embedding on.
/// False, and nothing is changed, where the order leaves a doubt: a step of a layer is missing, two layers
/// differ, or a known layer contradicts.
[[nodiscard]] bool place_in_layers(std::span<PrefillKernel> kernels);

}  // namespace draftscope::gui
