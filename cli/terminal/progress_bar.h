// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// One line on stderr that says how far a long task is and when it will end. Only on a terminal, only after
// two seconds, never with --quiet; the line is gone when the bar is.

#include <cstdint>
#include <string>
#include <utility>

namespace draftscope::cli {

class ProgressBar {
 public:
  ProgressBar(std::string label, bool quiet);
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar();

  /// Sets the text that ends the line from the next drawing on.
  void note(std::string text) { note_ = std::move(text); }

  /// Cheap enough to call for every row: draws at most ten times a second.
  void update(std::int64_t done, std::int64_t all);

 private:
  std::string label_;
  std::string note_;
  bool enabled_;
  bool drawn_ = false;
  std::int64_t start_ns_;
  std::int64_t next_draw_ns_;
};

/// The line's text: "label  42 %  about 12 s left". `elapsed_ns` since the start.
[[nodiscard]] std::string progress_text(const std::string& label, std::int64_t done, std::int64_t all,
                                        std::int64_t elapsed_ns);

}  // namespace draftscope::cli
