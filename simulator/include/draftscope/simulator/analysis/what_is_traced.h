// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/traces/writer.h>
#include <string>

namespace draftscope::simulator {

/// One sentence about what recording the device changed, from meta's `device_trace`; empty where it changed
/// no figure that is known. Thread-safe.
[[nodiscard]] std::string what_is_traced(const traces::Meta& meta);

}  // namespace draftscope::simulator
