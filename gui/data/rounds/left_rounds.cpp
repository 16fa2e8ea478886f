// SPDX-License-Identifier: GPL-3.0-or-later
#include "left_rounds.h"

#include <algorithm>

namespace draftscope::gui {

LeftRounds::LeftRounds(RecordingPointer filtered) : filtered_(std::move(filtered)) {
  const auto starts_before = [&](std::uint32_t a, std::uint32_t b) {
    return filtered_->round(a).start_ns < filtered_->round(b).start_ns;
  };
  std::vector<std::uint32_t> all;
  for (const RunRounds& run : filtered_->runs()) {
    by_run_.push_back(times_of(run.rounds));
    const auto before = static_cast<std::ptrdiff_t>(all.size());
    all.insert(all.end(), run.rounds.begin(), run.rounds.end());
    std::inplace_merge(all.begin(), all.begin() + before, all.end(), starts_before);
  }
  all_ = times_of(all);
}

LeftRounds::Times LeftRounds::times_of(const std::vector<std::uint32_t>& rounds) const {
  Times times;
  times.start_ns.reserve(rounds.size());
  times.end_ns.reserve(rounds.size());
  for (const std::uint32_t round_index : rounds) {
    const traces::Round& round = filtered_->round(round_index);
    times.start_ns.push_back(round.start_ns);
    times.end_ns.push_back(times.end_ns.empty() ? round.end_ns : std::max(times.end_ns.back(), round.end_ns));
  }
  return times;
}

bool LeftRounds::any_in(std::size_t run_index, TimeRange time) const {
  const Times& of = run_index < by_run_.size() ? by_run_[run_index] : all_;
  const auto behind = std::lower_bound(of.start_ns.begin(), of.start_ns.end(), time.end_ns);
  if (behind == of.start_ns.begin()) return false;
  return of.end_ns[static_cast<std::size_t>(behind - of.start_ns.begin()) - 1] > time.start_ns;
}

}  // namespace draftscope::gui
