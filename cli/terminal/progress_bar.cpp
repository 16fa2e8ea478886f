// SPDX-License-Identifier: GPL-3.0-or-later
#include "terminal/progress_bar.h"

#include <draftscope/base/clock.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <new>
#include <system_error>
#include <utility>

#include "terminal/messages.h"

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
      enabled_(!quiet),
      on_terminal_(isatty(STDERR_FILENO) != 0),
      start_ns_(now_ns()),
      next_draw_ns_(start_ns_ + (on_terminal_ ? quiet_ns : line_every_ns)) {
  if (!enabled_) return;
  try {
    watcher_ = std::thread([this] { watch(); });
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): update() alone draws then
  }
}

ProgressBar::~ProgressBar() {
  if (watcher_.joinable()) {
    {
      const std::scoped_lock lock(mutex_);
      has_ended_ = true;
    }
    ended_.notify_one();
    watcher_.join();
  }
  if (drawn_ && on_terminal_) draw(clear_line);
}

void ProgressBar::note(std::string text) {
  const std::scoped_lock lock(mutex_);
  note_ = std::move(text);
}

void ProgressBar::update(std::int64_t done, std::int64_t all) {
  if (!enabled_) return;
  const std::scoped_lock lock(mutex_);
  done_ = done;
  all_ = all;
  draw_if_due(now_ns());
}

/// Wakes when a line is due, and redraws a terminal's line once per second.
void ProgressBar::watch() {
  std::unique_lock lock(mutex_);
  const auto pause = std::chrono::nanoseconds(on_terminal_ ? second_ns : line_every_ns);
  try {
    while (!ended_.wait_for(lock, pause, [this] { return has_ended_; })) draw_if_due(now_ns());
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): the task goes on, and says less
  }
}

void ProgressBar::draw_if_due(std::int64_t now_ns) {
  if (now_ns < next_draw_ns_) return;
  next_draw_ns_ = now_ns + (on_terminal_ ? redraw_ns : line_every_ns);
  drawn_ = true;
  const std::int64_t elapsed_ns = now_ns - start_ns_;
  std::string line = progress_text(label_, done_, all_, elapsed_ns);
  if (!note_.empty()) line += "  " + note_;
  if (on_terminal_)
    draw(clear_line + line);
  else
    draw(fmt::format("{}  {} so far\n", line, rough_time(elapsed_ns / second_ns)));
}

}  // namespace draftscope::cli
