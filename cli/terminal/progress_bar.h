// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Shows the progress of a long task and its expected end on stderr. A terminal gets one line, after two
// seconds, which disappears with the bar; elsewhere there is one line every ten seconds. Never with --quiet.

#include <draftscope/base/result.h>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "terminal/process.h"

namespace draftscope::cli {

/// A separate thread shows that time passes while update() is not called for long, such as in a prefill.
class ProgressBar {
 public:
  ProgressBar(std::string label, bool quiet);
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar();

  /// Sets the text at the end of the line, from the next drawing on.
  void note(std::string text);

  /// Updates the progress; cheap enough for every row, since it draws at most ten times per second.
  void update(std::int64_t done, std::int64_t all);

 private:
  void watch();
  void draw_if_due(std::int64_t now_ns);

  std::string label_;
  bool enabled_;
  bool on_terminal_;
  std::int64_t start_ns_;
  std::mutex mutex_;  ///< Guards all members below.
  std::condition_variable ended_;
  bool has_ended_ = false;
  std::string note_;
  std::int64_t done_ = 0;
  std::int64_t all_ = 0;
  bool drawn_ = false;
  std::int64_t next_draw_ns_;
  std::thread watcher_;
};

/// Runs work that gets a function to report its progress with, which says whether to go on: an interrupt ends
/// the work. Returns the exit code of an ended program, or 0. Errors: those of the work.
template <typename Work>
[[nodiscard]] Result<int> run_interruptible(const std::string& label, bool quiet, const Work& work) {
  const InterruptScope interrupt;
  ProgressBar progress(label, quiet);
  const auto done_work = work([&progress](std::int64_t done, std::int64_t all) {
    progress.update(done, all);
    return !InterruptScope::flag();
  });
  if (!done_work && InterruptScope::flag()) return InterruptScope::exit_code();
  if (!done_work) return tl::unexpected<Error>(done_work.error());
  return 0;
}

/// Nanoseconds between lines if stderr is not a terminal.
inline constexpr std::int64_t line_every_ns = 10'000'000'000;

/// Text of the line: "label  42 %  about 12 s left". `elapsed_ns` is the time since the start.
[[nodiscard]] std::string progress_text(const std::string& label, std::int64_t done, std::int64_t all,
                                        std::int64_t elapsed_ns);

}  // namespace draftscope::cli
