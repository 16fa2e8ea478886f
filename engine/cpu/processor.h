// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Abilities of this processor, and the share of it that this process may use.

#include <cstdint>
#include <string>

namespace draftscope::engine::cpu {

struct InstructionSets {
  bool avx2 = false;         ///< with FMA and F16C
  bool avx512 = false;       ///< F, BW, VL, DQ
  bool avx512_vnni = false;  ///< VPDPBUSD
  bool avx512_bf16 = false;  ///< VDPBF16PS
  bool amx_bf16 = false;     ///< tiles; the kernel lets this process use them
};

/// Instruction sets, from CPUID and XCR0: the processor has them and the operating system saves their
/// registers. Asks the kernel for AMX state on the first call.
[[nodiscard]] const InstructionSets& instruction_sets();

[[nodiscard]] std::string processor_name();

/// Number of cores in this process's affinity mask.
[[nodiscard]] std::int32_t usable_cores();

}  // namespace draftscope::engine::cpu
