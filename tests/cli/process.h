// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Runs the program itself, with standard streams, limits and signals as a shell or a batch system gives them.

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace draftscope::cli {

struct ProcessResult {
  int exit_code = 0;  ///< Exit code; -N = signal N ended the process.
  std::string out;
  std::string err;
};

/// Steps in the new process before the program starts, such as closing a stream: only calls that are safe
/// after fork().
using Preparation = std::function<void()>;

/// Runs `draftscope <arguments>` to its end. SIGKILL ends a process that takes longer than two minutes.
/// `environment` ("NAME=text") precedes this process's own.
[[nodiscard]] ProcessResult run_process(const std::vector<std::string>& arguments,
                                        const Preparation& prepare = {},
                                        const std::vector<std::string>& environment = {});

/// Runs the program like run_process(), and sends `signal` as soon as `is_time` returns true; 0 = none.
[[nodiscard]] ProcessResult run_and_signal(const std::vector<std::string>& arguments, int signal,
                                           const std::function<bool()>& is_time,
                                           const Preparation& prepare = {},
                                           const std::vector<std::string>& environment = {});

/// Opens a file as a standard stream of the new process.
void redirect(int stream, const char* path, int flags);

}  // namespace draftscope::cli
