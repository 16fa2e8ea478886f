// SPDX-License-Identifier: GPL-3.0-or-later
#include "race.h"

#include <algorithm>

namespace draftscope::gui {

Race::Race(std::vector<std::vector<std::int64_t>> times_ns) : times_ns_(std::move(times_ns)) {
  // Without a token a run can't take part, and so there is no race.
  if (std::ranges::any_of(times_ns_, [](const auto& times) { return times.empty(); })) times_ns_.clear();
  for (const std::vector<std::int64_t>& times : times_ns_)
    duration_ns_ = std::max(duration_ns_, times.back());
}

std::vector<RacePlace> Race::at(std::int64_t position_ns, Pace pace) const {
  std::vector<RacePlace> places;
  for (const std::vector<std::int64_t>& times : times_ns_) {
    const auto next = std::upper_bound(times.begin(), times.end(), position_ns);
    const auto token = static_cast<std::size_t>(std::max<std::ptrdiff_t>(next - times.begin() - 1, 0));
    places.push_back({.token = token, .known_ns = times[token]});
  }
  if (pace == Pace::real_time || places.empty()) return places;
  // A run that is through waits at its last token.
  const auto is_through = [&](std::size_t run) { return places[run].token + 1 == times_ns_[run].size(); };
  std::size_t slowest = places.size();
  for (std::size_t run = 0; run < places.size(); ++run)
    if (slowest == places.size() ||
        (!is_through(run) && (is_through(slowest) || places[run].token < places[slowest].token)))
      slowest = run;
  std::size_t token = places[slowest].token;
  if (is_through(slowest))
    for (const RacePlace& place : places) token = std::max(token, place.token);
  for (std::size_t run = 0; run < places.size(); ++run) {
    places[run].token = std::min(token, times_ns_[run].size() - 1);
    places[run].known_ns = times_ns_[run][places[run].token];
  }
  return places;
}

}  // namespace draftscope::gui
