// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Tables of a device's time over a selection: by operation or kernel, gaps as objects, use over time, and the
// durations of one name. In every selection the own times of the rows and the gaps add up to its wall time.
//
// Pure functions, safe from any thread; each is one pass over the timeline.

#include <draftscope/simulator/analysis/attribution.h>
#include <draftscope/simulator/analysis/device_timeline.h>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

/// A range of time that counts.
struct TimeWindow {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

struct DeviceSelection {
  std::vector<TimeWindow> windows;     ///< Ordered; no two overlap.
  std::optional<traces::Phase> phase;  ///< Absent = all.

  [[nodiscard]] std::int64_t wall_ns() const;
};

/// Choice of a selection; absent = all. A recording without requests counts from its first work to its last.
struct DeviceQuestion {
  std::optional<TimeWindow> range;
  std::optional<std::uint32_t> run;  ///< Index into Recording::runs.
  std::optional<traces::Phase> phase;
};
/// The requests of a run, or of all, cut to the range; the range itself where it is asked without a run.
[[nodiscard]] DeviceSelection select_device(const DeviceTimeline& timeline,
                                            const traces::Recording& recording,
                                            const DeviceQuestion& question);

enum class DeviceNames : std::uint8_t { operations, kernels };

/// All work of one name in a selection.
struct DeviceRow {
  std::uint32_t name = 0;  ///< Index into DeviceTimeline::names.
  std::int64_t count = 0;
  std::int64_t own_ns = 0;     ///< Time that it has to itself.
  std::int64_t open_ns = 0;    ///< Time from begin to end, other work at the same time or not.
  std::int64_t median_ns = 0;  ///< Median of the open times, which no window cuts.
  std::int64_t p99_ns = 0;
  double bytes = 0.0;         ///< Bytes that it must read; 0 = not known.
  std::int64_t bytes_ns = 0;  ///< Part of own_ns whose bytes are known.
  std::uint32_t longest = 0;  ///< Index into DeviceTimeline::work.
  /// Share of a multiprocessor's warps that fit of the kernel, a mean by open time; absent where not known.
  std::optional<double> occupancy;

  /// 10⁹ bytes per second; absent where bytes are not known.
  [[nodiscard]] std::optional<double> gb_s() const;
};

struct DeviceTable {
  std::int64_t wall_ns = 0;     ///< Wall time of the selection; of a phase alone, its work and gaps.
  std::int64_t busy_ns = 0;     ///< Sum of own times.
  std::vector<DeviceRow> rows;  ///< Ordered by falling own time.
};
[[nodiscard]] DeviceTable device_table(const DeviceTimeline& timeline, const DeviceSelection& selection,
                                       DeviceNames by);

inline constexpr std::uint32_t no_work = std::numeric_limits<std::uint32_t>::max();

/// A time in which the device did nothing.
struct DeviceGap {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t before = no_work;  ///< Work that ended at its begin; none at the edge of a window.
  std::uint32_t after = no_work;
  GapKind kind = GapKind::host;

  [[nodiscard]] std::int64_t ns() const { return end_ns - start_ns; }
};
/// Every gap, in order of time.
[[nodiscard]] std::vector<DeviceGap> device_gaps(const DeviceTimeline& timeline,
                                                 const DeviceSelection& selection);
/// Indices of the gaps, the longest first, at most `count`.
[[nodiscard]] std::vector<std::size_t> longest_gaps(const std::vector<DeviceGap>& gaps, std::size_t count);

struct GapSum {
  std::int64_t count = 0;
  std::int64_t ns = 0;
};
/// [kind]
[[nodiscard]] std::array<GapSum, gap_kind_names.size()> sums_of(const std::vector<DeviceGap>& gaps);

/// Counts of durations. Bins are half-open, but the last one has its end.
struct DurationHistogram {
  std::vector<double> edges_ns;  ///< One more than counts; empty without durations.
  std::vector<std::int64_t> counts;
};
/// Bins of 1, 2, 5, 10, … ns where the longest is twenty times the shortest, else equal ones of a round
/// width.
[[nodiscard]] DurationHistogram histogram_of(const std::vector<std::int64_t>& durations_ns);

/// Share of each of `bins` equal parts of the time in which the device was busy.
[[nodiscard]] std::vector<double> busy_shares(const DeviceTimeline& timeline, TimeWindow of,
                                              std::size_t bins);

/// Work of one name in a selection, in order of time, as indices into DeviceTimeline::work.
[[nodiscard]] std::vector<std::uint32_t> work_named(const DeviceTimeline& timeline,
                                                    const DeviceSelection& selection, DeviceNames by,
                                                    std::uint32_t name);

// Two runs side by side, of one recording or of two: what an output token took of each phase, of each
// operation or kernel, and of each kind of gap. Only rounds count, so that runs of different length and
// prompts of different length compare; the prefill does not.
//
// Phases come from the rounds, which every recording has. Operations and gaps need the times of a device;
// they add up to the time of the rounds, as the phases do.
//
// Pure functions, safe from any thread; each is one pass over the timeline.

struct TokenTime {
  std::string name;
  double ns = 0.0;                        ///< Per output token.
  std::optional<std::int64_t> median_ns;  ///< Median of the open times of an operation; absent for others.
};

/// Times of the output tokens of a run's rounds.
struct TokenTimes {
  std::int64_t tokens = 0;
  std::int64_t rounds = 0;
  double ns = 0.0;                      ///< Time of all rounds per output token.
  std::vector<TokenTime> phases;        ///< Draft to control, and "outside" of them; the sum is `ns`.
  bool has_device = false;              ///< Whether the two below were recorded.
  std::vector<TokenTime> operations{};  ///< Own times.
  std::vector<TokenTime> gaps{};        ///< By kind.
};

/// The times of a run (index into Recording::runs), or of all; `timeline` may be null. With a phase,
/// operations and gaps are those of the phase. Without tokens all is 0.
[[nodiscard]] TokenTimes token_times(const traces::Recording& recording, std::optional<std::uint32_t> run,
                                     const DeviceTimeline* timeline, DeviceNames by,
                                     std::optional<traces::Phase> phase = {});

/// A time in both; absent where one has no such name, or was not recorded.
struct ComparedTime {
  std::string name;
  std::optional<TokenTime> first;
  std::optional<TokenTime> other;
  /// The other's less the first's, where a name that only one has took no time in the other. Absent if
  /// nothing was recorded of one.
  std::optional<double> difference_ns;
};
/// All names of both, the largest difference first, or else the largest time.
[[nodiscard]] std::vector<ComparedTime> side_by_side(const std::vector<TokenTime>& first,
                                                     const std::vector<TokenTime>& other);

}  // namespace draftscope::simulator
