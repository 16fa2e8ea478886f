// SPDX-License-Identifier: GPL-3.0-or-later
#include "round_times.h"

#include <draftscope/base/statistics.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

namespace draftscope::gui {

namespace {

/// Sets the percentiles of `values` values; `ranked` gives the value at a rank.
template <typename Ranked>
void set_percentiles(std::size_t values, const Ranked& ranked, PartPercentiles& into) {
  const auto at = [&](double share) { return ranked(nearest_rank(share, values)); };
  into.p50_ns = at(0.5);
  into.p95_ns = at(0.95);
  into.p99_ns = at(0.99);
  into.max_ns = at(1.0);
}

std::int64_t total(const PartTimes& times) {
  return std::accumulate(times.begin(), times.end(), std::int64_t{0});
}

}  // namespace

std::string_view round_part_name(RoundPart part) {
  return traces::phase_name(phase_of(part));
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
    case RoundPart::idle:
      break;
  }
  return traces::Phase::idle;
}

PartTimes part_times(const traces::Round& round) {
  PartTimes times{round.draft_ns, round.verify_ns, round.accept_ns, round.optimise_ns, round.control_ns, 0};
  times.back() = round.end_ns - round.start_ns - total(times);
  return times;
}

RoundTimes::RoundTimes(const OpenedRecording& opened, std::size_t run_index) {
  const std::vector<std::uint32_t>& rounds = opened.runs()[run_index].rounds;
  sums_.reserve(rounds.size() + 1);
  sums_.push_back({});
  for (const std::uint32_t round_index : rounds) {
    PartTimes sum = sums_.back();
    const PartTimes times = part_times(opened.round(round_index));
    for (std::size_t part = 0; part < round_parts; ++part) sum[part] += times[part];
    sums_.push_back(sum);
  }
  std::vector<std::int64_t> durations(rounds.size());
  for (std::size_t part = 0; part <= round_parts; ++part) {
    for (std::size_t place = 0; place < durations.size(); ++place) durations[place] = part_ns(place, part);
    quantiles_[part] = Quantiles(durations);
  }
}

PartTimes RoundTimes::sum(std::size_t first, std::size_t last) const {
  PartTimes times{};
  for (std::size_t part = 0; part < round_parts; ++part) times[part] = sums_[last][part] - sums_[first][part];
  return times;
}

std::int64_t RoundTimes::part_ns(std::size_t place, std::size_t part) const {
  return part < round_parts ? sums_[place + 1][part] - sums_[place][part] : total(sum(place, place + 1));
}

RoundPercentiles RoundTimes::percentiles(std::size_t first, std::size_t last) const {
  RoundPercentiles all;
  if (last <= first) return all;
  const std::size_t count = last - first;
  const PartTimes whole = sum(first, last);
  std::vector<std::int64_t> sorted(count <= max_exact ? count : 0);
  for (std::size_t part = 0; part <= round_parts; ++part) {
    const std::int64_t sum_ns = part < round_parts ? whole[part] : total(whole);
    all[part].mean_ns = static_cast<double>(sum_ns) / static_cast<double>(count);
    if (count > max_exact) {
      set_percentiles(
          count, [&](std::size_t rank) { return quantiles_[part].ranked_ns(first, last, rank); }, all[part]);
      continue;
    }
    for (std::size_t i = 0; i < count; ++i) sorted[i] = part_ns(first + i, part);
    std::sort(sorted.begin(), sorted.end());
    set_percentiles(
        count, [&](std::size_t rank) { return sorted[rank]; }, all[part]);
  }
  return all;
}

namespace {

constexpr std::size_t times_rounds_per_block = 64;

}  // namespace

PartedTimes::PartedTimes(std::vector<std::string> names, std::size_t rounds, std::vector<PartTime> times)
    : names_(std::move(names)), first_(rounds + 1) {
  const auto is_before = [](const PartTime& a, const PartTime& b) {
    return std::tie(a.place, a.part) < std::tie(b.place, b.part);
  };
  if (!std::is_sorted(times.begin(), times.end(), is_before))
    std::sort(times.begin(), times.end(), is_before);
  for (std::size_t i = 0; i < times.size(); ++i) {
    const bool is_same = i > 0 && times[i - 1].place == times[i].place && times[i - 1].part == times[i].part;
    if (is_same && ns_.back() <= std::numeric_limits<std::uint32_t>::max() - times[i].ns) {
      ns_.back() += times[i].ns;
      continue;
    }
    ++first_[times[i].place + 1];
    part_.push_back(times[i].part);
    ns_.push_back(times[i].ns);
  }
  for (std::size_t place = 0; place < rounds; ++place) first_[place + 1] += first_[place];
  pyramid_ = SumPyramid<std::int64_t>(
      names_.size(), rounds, times_rounds_per_block,
      [this](std::size_t place, std::span<std::int64_t> row) { add_round(place, row); });
}

void PartedTimes::add_round(std::size_t place, std::span<std::int64_t> row) const {
  for (std::size_t i = first_[place]; i < first_[place + 1]; ++i) row[part_[i]] += ns_[i];
}

std::vector<std::int64_t> PartedTimes::sum(std::size_t first, std::size_t last) const {
  std::vector<std::int64_t> row(names_.size());
  pyramid_.add(first, last, row,
               [this](std::size_t place, std::span<std::int64_t> into) { add_round(place, into); });
  return row;
}

}  // namespace draftscope::gui
