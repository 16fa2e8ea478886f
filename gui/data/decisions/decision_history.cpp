// SPDX-License-Identifier: GPL-3.0-or-later
#include "decision_history.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <bit>
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

namespace {

/// A kind of decisions that choose a mask: for the round itself, or for the rounds after it.
struct MaskKind {
  std::string_view kind;
  bool is_of_its_round = false;
};
constexpr std::array<MaskKind, 5> mask_kinds{
    {{"draft choice", true}, {"cascade", true}, {"layer set", false}, {"phase", false}, {"exit", false}}};

/// Last decision of a kind that began by `by_ns` and took effect; the number of decisions if there is none.
std::size_t last_adopted(const simulator::DecisionsOfKind& decisions, std::int64_t by_ns) {
  auto at = std::upper_bound(decisions.start_ns.begin(), decisions.start_ns.end(), by_ns) -
            decisions.start_ns.begin();
  while (at > 0 && !decisions.adopted[static_cast<std::size_t>(at - 1)]) --at;
  return at == 0 ? decisions.start_ns.size() : static_cast<std::size_t>(at - 1);
}

}  // namespace

std::optional<MaskChange> mask_change(const OpenedRecording& opened, std::size_t run_index,
                                      std::size_t place) {
  const std::vector<std::uint32_t>& rounds = opened.runs()[run_index].rounds;
  const traces::LayerSet* now = place < rounds.size() ? opened.layer_set(rounds[place]) : nullptr;
  if (now == nullptr) return std::nullopt;
  std::size_t before = place;
  const traces::LayerSet* then = nullptr;
  while (before > 0 && then == nullptr) then = opened.layer_set(rounds[--before]);
  if (then == nullptr || then->id == now->id) return std::nullopt;
  MaskChange change{.before = static_cast<std::uint32_t>(before), .sublayers = 2 * now->n_layers};
  std::int32_t both = 0;
  std::int32_t either = 0;
  for (std::size_t i = 0; i < std::max(now->skipped.size(), then->skipped.size()); ++i) {
    const unsigned a = i < now->skipped.size() ? now->skipped[i] : 0U;
    const unsigned b = i < then->skipped.size() ? then->skipped[i] : 0U;
    both += std::popcount(a & b);
    either += std::popcount(a | b);
  }
  change.differing = either - both;
  if (either > 0) change.in_common = static_cast<double>(both) / either;
  return change;
}

std::optional<DecisionPlace> mask_decision(const DecisionHistory& history, std::size_t run_index,
                                           std::size_t place) {
  const RunHistory& run = history.runs[run_index];
  const traces::Round& round = history.recording->round(history.recording->runs()[run_index].rounds[place]);
  std::optional<DecisionPlace> found;
  std::int64_t found_ns = 0;
  for (const MaskKind& mask : mask_kinds) {
    const std::size_t kind = run.kind_index(mask.kind);
    if (kind == run.decisions.kinds.size()) continue;
    const simulator::DecisionsOfKind& decisions = run.decisions.kinds[kind];
    if (mask.is_of_its_round) {
      // A round's own decision is logged at the end of the round.
      const std::size_t index = last_adopted(decisions, round.end_ns);
      if (index < decisions.start_ns.size() && run.places[kind][index] == place)
        return DecisionPlace{kind, index};
      continue;
    }
    const std::size_t index = last_adopted(decisions, round.start_ns);
    if (index == decisions.start_ns.size() || (found && decisions.start_ns[index] < found_ns)) continue;
    found = DecisionPlace{kind, index};
    found_ns = decisions.start_ns[index];
  }
  return found;
}

std::string mask_change_text(const DecisionHistory& history, std::size_t run_index, std::size_t place) {
  const std::optional<MaskChange> change = mask_change(*history.recording, run_index, place);
  if (!change) return {};
  std::string words = fmt::format(
      "the mask changed in {} of {} sublayers from round {}'s ({:.0f} % of the skipped in common)",
      change->differing, change->sublayers, change->before, 100.0 * change->in_common);
  const std::optional<DecisionPlace> decision = mask_decision(history, run_index, place);
  if (!decision) return words;
  const RunHistory& run = history.runs[run_index];
  return fmt::format("{}, because after round {} {}", words, run.places[decision->kind][decision->index],
                     decision_text(run.decisions.kinds[decision->kind], decision->index));
}

}  // namespace draftscope::gui
