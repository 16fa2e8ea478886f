// SPDX-License-Identifier: GPL-3.0-or-later
#include "decision_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace draftscope::gui {

namespace {

/// First round of a request, as an index into Recording::rounds; the number of rounds if it has none.
std::size_t first_round(const traces::Recording& rows, traces::RequestId request_id) {
  const auto found =
      std::partition_point(rows.rounds.begin(), rows.rounds.end(),
                           [&](const traces::Round& round) { return round.request_id < request_id; });
  return found == rows.rounds.end() || found->request_id != request_id
             ? rows.rounds.size()
             : static_cast<std::size_t>(found - rows.rounds.begin());
}

std::uint32_t place_of(const OpenedRecording& opened, traces::RequestId request_id, std::int32_t index) {
  const traces::Recording& rows = opened.recording();
  std::size_t at = first_round(rows, request_id);
  if (at == rows.rounds.size()) return no_index;
  const auto round =
      std::partition_point(rows.rounds.begin() + static_cast<std::ptrdiff_t>(at), rows.rounds.end(),
                           [&](const traces::Round& candidate) {
                             return candidate.request_id == request_id && candidate.index < index;
                           });
  if (round != rows.rounds.end() && round->request_id == request_id)
    at = static_cast<std::size_t>(round - rows.rounds.begin());
  return opened.place_in_run(static_cast<std::uint32_t>(at));
}

}  // namespace

const simulator::DecisionsOfKind* RunHistory::kind(std::string_view name) const {
  const std::size_t index = kind_index(name);
  return index == decisions.kinds.size() ? nullptr : &decisions.kinds[index];
}

std::size_t RunHistory::kind_index(std::string_view name) const {
  const auto found =
      std::find_if(decisions.kinds.begin(), decisions.kinds.end(),
                   [&](const simulator::DecisionsOfKind& candidate) { return candidate.kind == name; });
  return static_cast<std::size_t>(found - decisions.kinds.begin());
}

DecisionHistory decision_history(const RecordingPointer& recording,
                                 std::vector<simulator::RunDecisions> runs) {
  DecisionHistory history{recording, {}};
  for (simulator::RunDecisions& run : runs) {
    RunHistory of_run{std::move(run), {}};
    for (const simulator::DecisionsOfKind& decisions : of_run.decisions.kinds) {
      std::vector<std::uint32_t>& places = of_run.places.emplace_back();
      places.reserve(decisions.rounds.size());
      for (std::size_t i = 0; i < decisions.rounds.size(); ++i)
        places.push_back(place_of(*recording, decisions.requests[i], decisions.rounds[i]));
    }
    history.runs.push_back(std::move(of_run));
  }
  return history;
}

Result<DecisionHistory> read_decision_history(const RecordingPointer& recording,
                                              const std::function<bool()>& should_continue) {
  DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(recording->recording().path));
  DRAFTSCOPE_TRY_ASSIGN(auto runs, simulator::read_decisions(reader, recording->recording()));
  if (!should_continue()) return fail("cancelled");
  return decision_history(recording, std::move(runs));
}

std::string decision_text(const simulator::DecisionsOfKind& decisions, std::size_t index) {
  std::string parts;
  const auto add = [&](std::string_view title, const std::string& value) {
    parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", title, value);
  };
  for (const simulator::DecisionSeries& series : decisions.series)
    // A list of all exits is shown as a picture instead.
    if (!series.row->per_exit && !std::isnan(series.values[index]))
      add(series.row->title, fmt::format("{:.4g}", series.values[index]));
  for (const simulator::DecisionWords& words : decisions.words)
    if (!words.values[index].empty()) add(words.row->key, words.values[index]);
  return fmt::format("{}: {}{}{}", decisions.kind, parts, parts.empty() ? "" : "; ",
                     decisions.adopted[index] ? "took effect" : "did not take effect");
}

double series_value(const simulator::DecisionsOfKind& decisions, std::string_view key, std::size_t index) {
  for (const simulator::DecisionSeries& series : decisions.series)
    if (series.row->key == key && series.exit == 0) return series.values[index];
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace draftscope::gui
