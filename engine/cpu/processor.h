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

/// Whether a core reads a stream of weights faster with software prefetches than with its own alone. Measured
/// on one thread: yes on an Intel Xeon (Sapphire Rapids; 8 and 13 GB/s), no on an AMD EPYC (Zen 4; 26 and 16
/// GB/s). So it is the vendor's name that decides.
[[nodiscard]] bool streams_want_prefetches();

[[nodiscard]] std::string processor_name();

/// Number of cores in this process's affinity mask.
[[nodiscard]] std::int32_t usable_cores();

}  // namespace draftscope::engine::cpu
