// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A signal that asks a running command to end well: Ctrl-C, SIGTERM, or SIGHUP when the terminal goes. It
// sets a flag that decoding looks at between rounds. A second one ends the program at once, as it would any
// other.

#include <atomic>

namespace draftscope::cli {

/// Installs the handler while it lives, and what was installed before it after that. One at a time. A signal
/// that was ignored stays ignored, as nohup wants of SIGHUP.
class InterruptScope {
 public:
  InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;
  ~InterruptScope();

  /// Whether a signal has come in the scope that is open, or in the last one.
  [[nodiscard]] static const std::atomic<bool>& flag();

  /// Exit code that a shell expects of a program which that signal ended: 128 and its number.
  [[nodiscard]] static int exit_code();

  /// Sets the flag without a signal: whoever the work was for is gone.
  static void ask_to_end();
};

}  // namespace draftscope::cli
