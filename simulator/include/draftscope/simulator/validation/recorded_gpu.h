// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Which GPU a recording was made on. Drivers call a GPU otherwise than specifications do: "NVIDIA H100 80GB
// HBM3" is the H100-SXM5-80GB.

#include <draftscope/base/result.h>
#include <draftscope/simulator/hardware/gpu.h>
#include <draftscope/traces/writer.h>
#include <string>
#include <string_view>

namespace draftscope::simulator {

/// Whether a GPU decoded: meta's `device` is neither "cpu" nor missing.
[[nodiscard]] bool is_gpu_recording(const traces::Meta& meta);

/// What the driver calls it: `processor` of a recording by device "cuda", else `device` itself.
[[nodiscard]] std::string recorded_gpu_name(const traces::Meta& meta);

/// By the driver's name or the table's. Errors: an unknown GPU, with the closest names.
[[nodiscard]] Result<GpuSpecification> find_gpu_of_driver(std::string_view name);

}  // namespace draftscope::simulator
