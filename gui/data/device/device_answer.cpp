// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_answer.h"

#include <algorithm>
#include <map>
#include <utility>

namespace draftscope::gui {

namespace {

constexpr std::size_t max_listed_gaps = 1000;
constexpr std::size_t use_bins = 240;

double median_of(std::vector<std::int64_t>& ns) {
  const auto middle = ns.begin() + static_cast<std::ptrdiff_t>((ns.size() - 1) / 2);
  std::nth_element(ns.begin(), middle, ns.end());
  return static_cast<double>(*middle);
}

}  // namespace

DeviceAnswer answer_device(const simulator::DeviceTimeline& timeline, const traces::Recording& recording,
                           const DeviceAsked& asked, const std::optional<OtherDevice>& other) {
  DeviceAnswer answer;
  answer.asked = asked;
  answer.selection = simulator::select_device(timeline, recording, asked.question);
  answer.table = simulator::device_table(timeline, answer.selection, asked.by);
  answer.gaps = simulator::device_gaps(timeline, answer.selection);
  answer.longest = simulator::longest_gaps(answer.gaps, max_listed_gaps);
  std::vector<std::int64_t> durations;
  durations.reserve(answer.gaps.size());
  for (const simulator::DeviceGap& gap : answer.gaps) durations.push_back(gap.ns());
  answer.gap_histogram = simulator::histogram_of(durations);
  if (!answer.selection.windows.empty()) {
    answer.whole = {answer.selection.windows.front().start_ns, answer.selection.windows.back().end_ns};
    answer.busy_shares = simulator::busy_shares(timeline, answer.whole, use_bins);
  }
  if (other) {
    simulator::DeviceQuestion question = asked.question;
    question.run = other->run;
    const traces::Recording& rows = other->recording->recording();
    DeviceBeside beside{*other, simulator::select_device(*other->timeline, rows, question), {}, {}, {}};
    beside.here =
        simulator::token_times(recording, asked.question.run, &timeline, asked.by, asked.question.phase);
    beside.there =
        simulator::token_times(rows, other->run, other->timeline.get(), asked.by, asked.question.phase);
    beside.names = simulator::side_by_side(beside.here.operations, beside.there.operations);
    answer.beside = std::move(beside);
  }
  return answer;
}

NamedDurations durations_of(const simulator::DeviceTimeline& timeline,
                            const simulator::DeviceSelection& selection, simulator::DeviceNames by,
                            std::uint32_t name) {
  NamedDurations found;
  std::map<std::int32_t, std::vector<std::int64_t>> layers;
  traces::RoundId round;
  std::int64_t in_round = 0;
  for (const std::uint32_t index : simulator::work_named(timeline, selection, by, name)) {
    const simulator::DeviceWork& work = timeline.work[index];
    found.ns.push_back(work.open_ns());
    if (work.layer >= 0) layers[work.layer].push_back(work.open_ns());
    if (work.round_id.is_none()) continue;
    if (work.round_id != round) {
      round = work.round_id;
      in_round = 0;
      found.by_round.push_back(0.0);
    }
    // The mean so far moves by the new value's distance over their number.
    in_round += 1;
    found.by_round.back() +=
        (static_cast<double>(work.open_ns()) - found.by_round.back()) / static_cast<double>(in_round);
  }
  found.histogram = simulator::histogram_of(found.ns);
  found.by_layer.reserve(layers.size());
  for (auto& [layer, ns] : layers) found.by_layer.emplace_back(layer, median_of(ns));
  return found;
}

}  // namespace draftscope::gui
