// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// How far a long task is and when it will end, on stderr: on a terminal one line, after two seconds, that is
// gone when the bar is; elsewhere a line every ten seconds. Never with --quiet.

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace draftscope::cli {

/// A thread of its own says that time passes where update() is not called for long, in a prefill for
/// instance.
class ProgressBar {
 public:
  ProgressBar(std::string label, bool quiet);
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar();

  /// Sets the text that ends the line from the next drawing on.
  void note(std::string text);

  /// Cheap enough to call for every row: draws at most ten times a second.
  void update(std::int64_t done, std::int64_t all);

 private:
  void watch();
  void draw_if_due(std::int64_t now_ns);

  std::string label_;
  bool enabled_;
  bool on_terminal_;
  std::int64_t start_ns_;
  std::mutex mutex_;  ///< of all below
  std::condition_variable ended_;
  bool has_ended_ = false;
  std::string note_;
  std::int64_t done_ = 0;
  std::int64_t all_ = 0;
  bool drawn_ = false;
  std::int64_t next_draw_ns_;
  std::thread watcher_;
};

/// Nanoseconds from one line to the next where stderr is no terminal.
inline constexpr std::int64_t line_every_ns = 10'000'000'000;

/// The line's text: "label  42 %  about 12 s left". `elapsed_ns` since the start.
[[nodiscard]] std::string progress_text(const std::string& label, std::int64_t done, std::int64_t all,
                                        std::int64_t elapsed_ns);

}  // namespace draftscope::cli
