// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The options that say what a recording sees of a GPU.

#include <draftscope/engine/recording/device_recording.h>
#include <CLI/CLI.hpp>

namespace draftscope::cli {

void add_device_trace_options(CLI::App& command, engine::DeviceTraceOptions& options);

}  // namespace draftscope::cli
