// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A server with OpenAI's API for one model: it decodes one completion after the other in the calling thread,
// while other threads talk to clients.

#include <draftscope/base/result.h>
#include <draftscope/engine/recording/device_recording.h>
#include <draftscope/engine/recording/run_identity.h>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "options/model_options.h"

namespace draftscope::cli {

struct ServeOptions {
  ModelOptions model;
  engine::DecodingOptions decoding;  ///< Settings that a request leaves open.
  engine::DeviceTraceOptions device_trace;
  std::string strategy = "vanilla";
  std::string host = "127.0.0.1";
  std::vector<std::string> further_names;       ///< Names by which clients may call it beside loopback's.
  std::int32_t port = 8080;                     ///< Value 0 = any that is free.
  std::int32_t queue = 16;                      ///< Maximum completions that wait while one is decoded.
  std::optional<std::filesystem::path> output;  ///< Trace to write; none = nothing is recorded.
  std::string level = "phases";
  std::string command_line;
  bool shadow = false;
  bool overwrite = false;
  std::vector<std::filesystem::path> inputs;  ///< Named by the command line; none may be the output.
};

/// Serves until a signal (InterruptScope) or a failure of the trace, and calls `started` with the port once
/// clients can connect. Returns 0 after a signal: a server is meant to be ended so.
[[nodiscard]] Result<int> serve(const ServeOptions& options,
                                const std::function<void(std::int32_t port)>& started);

}  // namespace draftscope::cli
