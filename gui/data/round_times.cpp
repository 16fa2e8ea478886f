// SPDX-License-Identifier: GPL-3.0-or-later
#include "round_times.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace draftscope::gui {

namespace {

/// The smallest value that at least `share` of all do not exceed. Reorders them.
std::int64_t percentile(std::vector<std::int64_t>& values, double share) {
  if (values.empty()) return 0;
  const auto rank = static_cast<std::size_t>(std::llround(share * static_cast<double>(values.size() - 1)));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(rank), values.end());
  return values[rank];
}

}  // namespace

std::string_view round_part_name(RoundPart part) {
  return part == RoundPart::rest ? "rest" : traces::phase_name(phase_of(part));
}

traces::Phase phase_of(RoundPart part) {
  switch (part) {
    case RoundPart::draft:
      return traces::Phase::draft;
    case RoundPart::verify:
      return traces::Phase::verify;
    case RoundPart::accept:
      return traces::Phase::accept;
    case RoundPart::optimise:
      return traces::Phase::optimise;
    case RoundPart::control:
      return traces::Phase::control;
    case RoundPart::rest:
      break;
  }
  return traces::Phase::idle;
}

PartTimes part_times(const traces::Round& round) {
  PartTimes times{round.draft_ns, round.verify_ns, round.accept_ns, round.optimise_ns, round.control_ns, 0};
  const std::int64_t covered = std::accumulate(times.begin(), times.end(), std::int64_t{0});
  times.back() = round.end_ns - round.start_ns - covered;
  return times;
}

RoundTimes::RoundTimes(const OpenedRecording& opened, std::size_t run) {
  const std::vector<std::uint32_t>& rounds = opened.runs()[run].rounds;
  sums_.reserve(rounds.size() + 1);
  sums_.push_back({});
  for (const std::uint32_t round : rounds) {
    PartTimes sum = sums_.back();
    const PartTimes times = part_times(opened.round(round));
    for (std::size_t part = 0; part < round_parts; ++part) sum[part] += times[part];
    sums_.push_back(sum);
  }
}

PartTimes RoundTimes::sum(std::size_t first, std::size_t last) const {
  PartTimes times{};
  for (std::size_t part = 0; part < round_parts; ++part) times[part] = sums_[last][part] - sums_[first][part];
  return times;
}

std::array<PartPercentiles, round_parts + 1> part_percentiles(const RoundTimes& times, std::size_t first,
                                                              std::size_t last) {
  std::array<PartPercentiles, round_parts + 1> all;
  if (last <= first) return all;
  std::vector<std::int64_t> values(last - first);
  for (std::size_t part = 0; part <= round_parts; ++part) {
    for (std::size_t place = first; place < last; ++place) {
      const PartTimes one = times.sum(place, place + 1);
      values[place - first] =
          part < round_parts ? one[part] : std::accumulate(one.begin(), one.end(), std::int64_t{0});
    }
    PartPercentiles& of = all[part];
    of.mean_ns = static_cast<double>(std::accumulate(values.begin(), values.end(), std::int64_t{0})) /
                 static_cast<double>(values.size());
    of.p50_ns = percentile(values, 0.5);
    of.p95_ns = percentile(values, 0.95);
    of.p99_ns = percentile(values, 0.99);
    of.most_ns = *std::max_element(values.begin(), values.end());
  }
  return all;
}

}  // namespace draftscope::gui
