// SPDX-License-Identifier: GPL-3.0-or-later
#include "pass_kernel.h"

#include <variant>

namespace draftscope::bench {

using engine::cuda::Kernel;
using engine::cuda::Norm;

PassKernel pass_kernel(const engine::cuda::Launch& launch, const engine::cuda::KernelParams& params) {
  PassKernel result{.kernel = launch.kernel, .reads_normed = launch.reads_normed};
  if (launch.kernel == Kernel::normalise_rows) result.norm = std::get<engine::cuda::WideParams>(params).norm;
  return result;
}

std::string_view kernel_word(const PassKernel& kernel) {
  switch (kernel.kernel) {
    case Kernel::load_inputs:
      return "load_inputs";
    case Kernel::normalise_rows:
      if (kernel.norm == Norm::head) return "head_norm";
      return kernel.norm == Norm::attention ? "qkv_norm" : "gate_up_norm";
    case Kernel::qkv:
      return "qkv";
    case Kernel::attention:
      return "attention";
    case Kernel::prefill_attention:
      return "prefill_attention";
    case Kernel::output:
      return "output";
    case Kernel::gate_up:
      return "gate_up";
    case Kernel::down:
      return "down";
    case Kernel::head:
      return "head";
    case Kernel::finish_head:
      return "finish_head";
    default:
      return "other";
  }
}

bool is_of_layers(const PassKernel& kernel) {
  if (kernel.kernel == Kernel::normalise_rows) return kernel.norm != Norm::head;
  return kernel.kernel != Kernel::load_inputs && kernel.kernel != Kernel::head &&
         kernel.kernel != Kernel::finish_head;
}

bool is_of_normed_rows(const PassKernel& kernel) {
  return kernel.reads_normed || kernel.kernel == Kernel::normalise_rows;
}

}  // namespace draftscope::bench
