// SPDX-License-Identifier: GPL-3.0-or-later
#include "terminal/progress_bar.h"

#include <draftscope/profiler/clock.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace draftscope::cli {

namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::int64_t quiet_ns = 2 * second_ns;
constexpr std::int64_t redraw_ns = second_ns / 10;
constexpr const char* clear_line = "\r\033[K";

std::string rough_time(std::int64_t seconds) {
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return fmt::format("{} min {:02} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {:02} min", seconds / 3600, seconds / 60 % 60);
}

}  // namespace

std::string progress_text(const std::string& label, std::int64_t done, std::int64_t all,
                          std::int64_t elapsed_ns) {
  if (all <= 0) return label;
  const double share = std::clamp(static_cast<double>(done) / static_cast<double>(all), 0.0, 1.0);
  std::string text = fmt::format("{}  {:3.0f} %", label, 100.0 * share);
  if (share > 0.0) {
    const double left_ns = static_cast<double>(elapsed_ns) * (1.0 - share) / share;
    text += fmt::format("  about {} left", rough_time(std::llround(left_ns / second_ns)));
  }
  return text;
}

ProgressBar::ProgressBar(std::string label, bool quiet)
    : label_(std::move(label)),
      enabled_(!quiet && isatty(STDERR_FILENO) != 0),
      start_ns_(profiler::now_ns()),
      next_draw_ns_(start_ns_ + quiet_ns) {}

ProgressBar::~ProgressBar() {
  if (drawn_) std::fputs(clear_line, stderr);
}

void ProgressBar::update(std::int64_t done, std::int64_t all) {
  if (!enabled_) return;
  const std::int64_t now = profiler::now_ns();
  if (now < next_draw_ns_) return;
  next_draw_ns_ = now + redraw_ns;
  drawn_ = true;
  std::string line = clear_line + progress_text(label_, done, all, now - start_ns_);
  if (!note_.empty()) line += "  " + note_;
  std::fputs(line.c_str(), stderr);
}

}  // namespace draftscope::cli
