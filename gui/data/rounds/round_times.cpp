// SPDX-License-Identifier: GPL-3.0-or-later
#include "round_times.h"

#include <draftscope/base/statistics.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

namespace draftscope::gui {

namespace {

constexpr int code_bits = 12;
constexpr int kept_bits = 7;  // Significant bits of a duration.
constexpr std::uint64_t first_rounded = 1U << kept_bits;
constexpr std::size_t word_bits = 64;

/// The code rises with the duration; each octave from 128 ns on has 64 codes.
std::uint16_t code_of(std::int64_t duration_ns) {
  const auto duration = static_cast<std::uint64_t>(std::max<std::int64_t>(duration_ns, 0));
  if (duration < first_rounded) return static_cast<std::uint16_t>(duration);
  const int dropped = static_cast<int>(std::bit_width(duration)) - kept_bits;
  return static_cast<std::uint16_t>((static_cast<std::uint64_t>(dropped) << (kept_bits - 1)) +
                                    (duration >> dropped));
}

/// Middle of the durations that have the code.
std::int64_t duration_of(std::uint64_t code) {
  if (code < first_rounded) return static_cast<std::int64_t>(code);
  constexpr std::uint64_t half = first_rounded / 2;
  const auto dropped = static_cast<int>(code / half) - 1;
  const std::uint64_t least = (code % half + half) << dropped;
  return static_cast<std::int64_t>(least + (std::uint64_t{1} << dropped) / 2);
}

}  // namespace

std::size_t Quantiles::Level::zeros_in(std::size_t places) const {
  const std::size_t word = places / word_bits;
  const std::size_t rest = places % word_bits;
  if (rest == 0) return word < zeros_before.size() ? zeros_before[word] : zeros;
  const std::uint64_t mask = (std::uint64_t{1} << rest) - 1;
  return zeros_before[word] + rest - static_cast<std::size_t>(std::popcount(ones[word] & mask));
}

Quantiles::Quantiles(std::span<const std::int64_t> durations_ns)
    : size_(durations_ns.size()), levels_(size_ == 0 ? 0 : code_bits) {
  std::vector<std::uint16_t> codes(size_);
  std::transform(durations_ns.begin(), durations_ns.end(), codes.begin(), code_of);
  std::vector<std::uint16_t> ordered(size_);
  for (int bit = code_bits - 1; bit >= 0 && size_ > 0; --bit) {
    Level& level = levels_[static_cast<std::size_t>(code_bits - 1 - bit)];
    const std::size_t words = (size_ + word_bits - 1) / word_bits;
    level.ones.resize(words);
    level.zeros_before.resize(words);
    for (std::size_t i = 0; i < size_; ++i) {
      if (i % word_bits == 0) level.zeros_before[i / word_bits] = static_cast<std::uint32_t>(level.zeros);
      const bool is_one = ((codes[i] >> bit) & 1) != 0;
      level.ones[i / word_bits] |= std::uint64_t{is_one} << (i % word_bits);
      // Zeros keep their order at the front; ones follow in the second pass.
      if (!is_one) ordered[level.zeros++] = codes[i];
    }
    std::size_t next = level.zeros;
    for (const std::uint16_t code : codes)
      if (((code >> bit) & 1) != 0) ordered[next++] = code;
    codes.swap(ordered);
  }
}

std::int64_t Quantiles::ranked_ns(std::size_t first, std::size_t last, std::size_t rank) const {
  std::uint64_t code = 0;
  for (const Level& level : levels_) {
    const std::size_t zeros_first = level.zeros_in(first);
    const std::size_t zeros_last = level.zeros_in(last);
    const std::size_t zeros = zeros_last - zeros_first;
    code <<= 1;
    if (rank < zeros) {
      first = zeros_first;
      last = zeros_last;
    } else {
      code |= 1;
      rank -= zeros;
      first = level.zeros + first - zeros_first;
      last = level.zeros + last - zeros_last;
    }
  }
  return duration_of(code);
}

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
