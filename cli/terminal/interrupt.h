// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Ctrl-C asks a running command to end well: it sets a flag that decoding looks at between rounds. A second
// Ctrl-C ends the program at once, as it would any other.

#include <atomic>

namespace draftscope::cli {

/// Installs the handler for SIGINT and SIGTERM while it lives. One at a time.
class InterruptScope {
 public:
  InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;
  ~InterruptScope();

  [[nodiscard]] static const std::atomic<bool>& flag();
};

/// Exit code that a shell expects of a program that ended because of Ctrl-C.
inline constexpr int interrupted_exit_code = 130;

}  // namespace draftscope::cli
