// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What a process was started with, made such that failures show as errors of the calls that meet them; how
// it ends without memory; and the signals that ask a running command to end well.

#include <atomic>

namespace draftscope::cli {

/// To be called before anything is opened. Standard streams that are closed are taken by a device on which
/// their use fails: a file opened later would otherwise get their number, and messages for its content. A
/// pipe that nobody reads and a file that reaches its size limit are errors of the write, and no death.
void prepare_process();

/// Undoes what a program started in this one's place would inherit.
void restore_signals();

/// From now on a program that runs out of memory where nothing can be thrown (JSON values of the library
/// allocate in their destructors) ends with one line on stderr and exit_failure, in place of an abort.
void end_quietly_without_memory();

/// Listens to Ctrl-C, SIGTERM, and SIGHUP when the terminal goes. A signal sets a flag that decoding looks at
/// between rounds; a second one ends the program at once, as it would any other.
///
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
