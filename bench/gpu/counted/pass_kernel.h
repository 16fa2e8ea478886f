// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A kernel of a decode pass, as counts and plans tell kernels apart.

#include <string_view>

#include "cuda/launch.h"

namespace draftscope::bench {

struct PassKernel {
  engine::cuda::Kernel kernel = engine::cuda::Kernel::qkv;
  engine::cuda::Norm norm = engine::cuda::Norm::attention;  ///< of normalise_rows
  bool reads_normed = false;                                ///< of a product (ProductShape)

  friend bool operator==(const PassKernel&, const PassKernel&) = default;
};

[[nodiscard]] PassKernel pass_kernel(const engine::cuda::Launch& launch,
                                     const engine::cuda::KernelParams& params);

/// Name in tables: "gate_up", "gate_up_norm" of the norm that is a kernel ahead of it.
[[nodiscard]] std::string_view kernel_word(const PassKernel& kernel);

/// Whether each layer has it.
[[nodiscard]] bool is_of_layers(const PassKernel& kernel);

/// Whether it normalises rows ahead of a product, or is such a product.
[[nodiscard]] bool is_of_normed_rows(const PassKernel& kernel);

}  // namespace draftscope::bench
