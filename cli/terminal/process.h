// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Sets up the process so that failures become errors of the calls that meet them. Also handles the end
// without memory, and the signals that ask a running command to end properly.

#include <atomic>

namespace draftscope::cli {

/// Call it before anything is opened. It replaces closed standard streams by a device on which their use
/// fails; otherwise a file opened later would get their number, and receive messages as content. A pipe
/// without a reader and a file at its size limit then give write errors, and do not kill the process.
void prepare_process();

/// Restores the signals for a program that replaces this one.
void restore_signals();

/// From now on, running out of memory where nothing can be thrown ends the program with one line on stderr
/// and exit_failure, not with an abort. Destructors of the library's JSON values, for example, allocate.
void end_quietly_without_memory();

/// Listens to Ctrl-C, SIGTERM, and SIGHUP when the terminal goes. A signal sets a flag that decoding checks
/// between rounds; a second one ends the program at once, as it would any other.
///
/// Installs the handler during its lifetime, and then restores the one before. Only one may exist at a time.
/// An ignored signal stays ignored, as nohup requires for SIGHUP.
class InterruptScope {
 public:
  InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;
  ~InterruptScope();

  /// Whether a signal has arrived in the current scope, or in the last one.
  [[nodiscard]] static const std::atomic<bool>& flag();

  /// Exit code that a shell expects from a program ended by that signal: 128 plus its number.
  [[nodiscard]] static int exit_code();

  /// Sets the flag without a signal, when the work is no longer needed.
  static void ask_to_end();
};

}  // namespace draftscope::cli
