// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/device_table.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <unordered_set>
#include <utility>

namespace draftscope::simulator {

namespace {

constexpr std::array<std::pair<const char*, std::int64_t traces::Round::*>, 5> timed_phases{
    {{"draft", &traces::Round::draft_ns},
     {"verify", &traces::Round::verify_ns},
     {"accept", &traces::Round::accept_ns},
     {"optimise", &traces::Round::optimise_ns},
     {"control", &traces::Round::control_ns}}};

double time_of(const std::optional<TokenTime>& time) {
  return time ? time->ns : 0.0;
}

/// Phases of the rounds, and the rest of their time; not yet divided by tokens.
std::vector<TokenTime> phases_of(const std::vector<const traces::Round*>& rounds) {
  std::vector<TokenTime> phases;
  std::int64_t outside_ns = 0;
  for (const traces::Round* round : rounds) outside_ns += round->end_ns - round->start_ns;
  for (const auto& [name, member] : timed_phases) {
    std::int64_t sum_ns = 0;
    for (const traces::Round* round : rounds) sum_ns += round->*member;
    outside_ns -= sum_ns;
    if (sum_ns != 0) phases.push_back({name, static_cast<double>(sum_ns), {}});
  }
  if (outside_ns != 0) phases.push_back({"outside", static_cast<double>(outside_ns), {}});
  return phases;
}

}  // namespace

TokenTimes token_times(const traces::Recording& recording, std::optional<std::uint32_t> run,
                       const DeviceTimeline* timeline, DeviceNames by, std::optional<traces::Phase> phase) {
  std::unordered_set<std::int64_t> requests;
  for (const traces::Request& request : recording.requests)
    if (!run || recording.runs[*run].id == request.run_id) requests.insert(request.id.value());
  std::vector<const traces::Round*> rounds;
  for (const traces::Round& round : recording.rounds)
    if (requests.contains(round.request_id.value())) rounds.push_back(&round);
  std::ranges::sort(rounds, {}, &traces::Round::start_ns);
  TokenTimes times{.rounds = static_cast<std::int64_t>(rounds.size()), .phases = phases_of(rounds)};
  DeviceSelection selection{.windows = {}, .phase = phase};
  selection.windows.reserve(rounds.size());
  for (const traces::Round* round : rounds) {
    times.tokens += round->emitted;
    // Requests that were served together have rounds at the same time.
    const std::int64_t begin_ns = selection.windows.empty()
                                      ? round->start_ns
                                      : std::max(round->start_ns, selection.windows.back().end_ns);
    if (begin_ns < round->end_ns) selection.windows.push_back({begin_ns, round->end_ns});
  }
  if (timeline != nullptr && !timeline->empty()) {
    times.has_device = true;
    const DeviceTable table = device_table(*timeline, selection, by);
    times.operations.reserve(table.rows.size());
    for (const DeviceRow& row : table.rows)
      times.operations.push_back({timeline->names[row.name], static_cast<double>(row.own_ns), row.median_ns});
    const auto sums = sums_of(device_gaps(*timeline, selection));
    for (std::size_t kind = 0; kind < sums.size(); ++kind)
      times.gaps.push_back({std::string(gap_kind_names[kind]), static_cast<double>(sums[kind].ns), {}});
  }
  const double tokens = static_cast<double>(std::max<std::int64_t>(times.tokens, 1));
  for (std::vector<TokenTime>* part : {&times.phases, &times.operations, &times.gaps})
    for (TokenTime& time : *part) time.ns /= tokens;
  for (const TokenTime& time : times.phases) times.ns += time.ns;
  return times;
}

std::vector<ComparedTime> side_by_side(const std::vector<TokenTime>& first,
                                       const std::vector<TokenTime>& other) {
  std::vector<ComparedTime> rows;
  rows.reserve(first.size() + other.size());
  for (const TokenTime& time : first) rows.push_back({time.name, time, {}, {}});
  for (const TokenTime& time : other) {
    const auto found = std::ranges::find(rows, time.name, &ComparedTime::name);
    if (found == rows.end())
      rows.push_back({time.name, {}, time, {}});
    else
      found->other = time;
  }
  const bool are_both_known = !first.empty() && !other.empty();
  for (ComparedTime& row : rows)
    if (are_both_known) row.difference_ns = time_of(row.other) - time_of(row.first);
  std::ranges::stable_sort(rows, std::greater{}, [](const ComparedTime& row) {
    return std::abs(row.difference_ns.value_or(time_of(row.first) + time_of(row.other)));
  });
  return rows;
}

}  // namespace draftscope::simulator
