// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/to_size.h>
#include <draftscope/simulator/analysis/decisions.h>
#include <draftscope/traces/text_share.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace draftscope::simulator {

namespace {

using Json = nlohmann::json;

constexpr double none = std::numeric_limits<double>::quiet_NaN();

constexpr std::array<SeriesRow, 28> series_rows{{
    {"layer set", "matchness", "matchness",
     "Share of the window's tokens that the candidate predicts (SWIFT)", "", "candidate"},
    {"layer set", "best_matchness", "best before", "The best matchness before this candidate", "best_before"},
    {"layer set", "tolerance", "tolerance", "Candidates since the last better one", "tolerance"},
    {"layer set", "cosine", "cosine",
     "Cosine of the kept layers' hidden state with the whole model's (CLaSp)", "cosine"},
    {"layer set", "agreement", "agreement",
     "Share of the last tokens after which the chosen layers predict what the model does (KnapSpec)",
     "agreement"},
    {"layer set", "lambda", "λ",
     "Standard deviations by which a skipped layer is less sure than those around (ConfLayers)", "lambda"},
    {"exit", "exit", "exit", "The exit that drafts next, in layers (DEL)", "exit"},
    {"exit", "gamma", "gamma", "The speculation length that goes with it", "gamma"},
    {"exit", "tpl", "TPL", "Tokens per loaded layer that this choice expects", "tpl"},
    {"exit", "exit_acceptance", "acceptance", "Expected acceptance of a draft token at the exit",
     "acceptance_rates", "", true},
    {"exit", "exit_threshold", "threshold", "Draft-exit threshold at the exit", "thresholds", "", true},
    {"exit", "positions", "positions", "Positions learnt from", "positions"},
    {"exit", "exit_matches", "right", "Right shadow tokens among them", "matches", "", true},
    {"exit", "exit_right_confidence", "confidence, right", "Their mean confidence so far",
     "right_confidences", "", true},
    {"exit", "exit_wrong_confidence", "confidence, wrong", "Mean confidence of wrong shadow tokens so far",
     "wrong_confidences", "", true},
    {"threshold", "threshold", "threshold", "Draft-exit threshold after the round", "after"},
    {"threshold", "recent_acceptance", "acceptance", "The moving acceptance rate that moves the threshold",
     "acceptance_rate"},
    {"speculation length", "gamma", "gamma", "The speculation length after the round", "after"},
    {"draft choice", "expected_gain", "expected gain",
     "Tokens that the round was expected to emit for each vanilla round that it was expected to take", ""},
    {"draft choice", "length", "length", "Draft tokens that the round may have (auto)", "length"},
    {"draft choice", "expected_tokens", "expected tokens", "Tokens that the round was expected to emit",
     "expected_tokens"},
    {"draft choice", "tokens", "tokens", "Tokens that it emitted", "tokens"},
    {"draft choice", "expected_cost", "expected time", "Expected time of the round, in vanilla rounds",
     "expected_cost"},
    {"draft choice", "may_lose", "may lose", "Vanilla rounds that the account may lose", "may_lose"},
    {"guard", "may_lose", "may lose", "Vanilla rounds that the account may lose", "may_lose"},
    {"cascade", "expected_tokens", "expected tokens", "Tokens that the round was expected to emit",
     "expected_tokens"},
    {"cascade", "tokens", "tokens", "Tokens that it emitted", "tokens"},
    {"cascade", "expected_time", "expected time", "Expected time of the round, in vanilla rounds",
     "expected_time"},
}};

constexpr std::array<WordsRow, 8> words_rows{{
    {"layer set", "origin", "candidates", "What proposed the candidate (SWIFT)", "candidate"},
    {"phase", "to", "phases", "Phase that follows (SWIFT)", "to"},
    {"phase", "because", "ended by", "Why the search ended (SWIFT)", "because"},
    {"draft choice", "choice", "choices", "What drafted the round, if anything (auto)", "choice"},
    {"draft choice", "reason", "reasons", "Why it did", "reason"},
    {"draft choice", "drafter", "drafters", "Which part of the target drafted", "drafter"},
    {"guard", "state", "states", "Whether the strategy goes on", "state"},
    {"guard", "reason", "reasons", "Why it was stopped, or came back", "reason"},
}};

double number_in(const Json& detail, std::string_view field) {
  const auto found = detail.find(field);
  return found != detail.end() && found->is_number() ? found->get<double>() : none;
}

/// Finds or adds a series by its row and exit; a series that is added late has no values for earlier
/// decisions.
DecisionSeries& series_of(DecisionsOfKind& decisions, const SeriesRow& row, std::int32_t exit) {
  for (DecisionSeries& series : decisions.series)
    if (series.row == &row && series.exit == exit) return series;
  decisions.series.push_back({&row, exit, std::vector<double>(decisions.start_ns.size() - 1, none)});
  return decisions.series.back();
}

void add_values(DecisionsOfKind& decisions, const traces::Decision& decision, const Json& detail) {
  // Maximum number of exits, which is one per layer; a damaged file may claim more.
  constexpr std::size_t max_exits = 1024;
  for (const SeriesRow& row : series_rows) {
    if (row.kind != decisions.kind) continue;
    if (!row.only_with.empty() && !detail.contains(row.only_with)) continue;
    if (row.per_exit) {
      const auto found = detail.find(row.field);
      if (found == detail.end() || !found->is_array()) continue;
      for (std::size_t i = 0; i < std::min(found->size(), max_exits); ++i)
        series_of(decisions, row, static_cast<std::int32_t>(i) + 1)
            .values.push_back((*found)[i].is_number() ? (*found)[i].get<double>() : none);
    } else if (row.field.empty() || detail.contains(row.field)) {
      series_of(decisions, row, 0)
          .values.push_back(row.field.empty() ? decision.score : number_in(detail, row.field));
    }
  }
  for (DecisionSeries& series : decisions.series) series.values.resize(decisions.start_ns.size(), none);
}

void add_words(DecisionsOfKind& decisions, const Json& detail) {
  for (const WordsRow& row : words_rows) {
    if (row.kind != decisions.kind) continue;
    const auto value = detail.find(row.field);
    if (value == detail.end() || !value->is_string()) continue;
    auto found = std::find_if(decisions.words.begin(), decisions.words.end(),
                              [&](const DecisionWords& words) { return words.row == &row; });
    if (found == decisions.words.end()) found = decisions.words.insert(found, {&row, {}});
    // Earlier decisions have no value.
    found->values.resize(decisions.start_ns.size() - 1);
    found->values.push_back(value->get<std::string>());
  }
  for (DecisionWords& words : decisions.words) words.values.resize(decisions.start_ns.size());
}

/// Layers that a decision skips, and its position.
struct PlacedSet {
  traces::RequestId request_id;
  std::int64_t position = 0;
  std::set<std::int64_t> skipped;
};

std::optional<PlacedSet> placed_set(const traces::Decision& decision, const Json& detail) {
  const auto skipped = detail.find("skipped");
  const auto position = detail.find("anchor_position");
  if (skipped == detail.end() || !skipped->is_array() || position == detail.end() ||
      !position->is_number_integer())
    return std::nullopt;
  PlacedSet set{decision.request_id, position->get<std::int64_t>(), {}};
  for (const Json& layer : *skipped)
    if (layer.is_number_integer()) set.skipped.insert(layer.get<std::int64_t>());
  return set;
}

double jaccard(const std::set<std::int64_t>& a, const std::set<std::int64_t>& b) {
  const auto common =
      std::count_if(a.begin(), a.end(), [&](std::int64_t layer) { return b.contains(layer); });
  const auto all = static_cast<std::int64_t>(a.size() + b.size()) - common;
  return all == 0 ? 1.0 : static_cast<double>(common) / static_cast<double>(all);
}

/// Computes the persistence with gaps in powers of two: 1, 2 to 3, 4 to 7, … tokens.
std::vector<Persistence> persistence_of(const std::vector<PlacedSet>& sets) {
  constexpr std::size_t max_later = 256;  // Per set, since pairs grow with the square of searches.
  constexpr std::int64_t max_gap = 1 << 20;
  std::map<std::int32_t, Persistence> by_gap;
  for (std::size_t i = 0; i < sets.size(); ++i)
    for (std::size_t j = i + 1; j < std::min(sets.size(), i + 1 + max_later); ++j) {
      if (sets[j].request_id != sets[i].request_id) break;
      if (sets[i].position < 0 || sets[j].position <= sets[i].position) continue;
      const std::int64_t gap = sets[j].position - sets[i].position;
      if (gap > max_gap) continue;
      std::int32_t min_gap = 1;
      while (2 * std::int64_t{min_gap} <= gap) min_gap *= 2;
      Persistence& entry = by_gap[min_gap];
      entry.min_gap = min_gap;
      entry.max_gap = 2 * min_gap - 1;
      entry.jaccard += jaccard(sets[i].skipped, sets[j].skipped);
      ++entry.pairs;
    }
  std::vector<Persistence> result;
  for (auto& [gap, entry] : by_gap) {
    entry.jaccard /= static_cast<double>(entry.pairs);
    result.push_back(entry);
  }
  return result;
}

/// Accumulates the decisions of a run.
struct RunInProgress {
  RunDecisions decisions;
  std::vector<PlacedSet> sets;
  std::map<std::pair<std::int32_t, std::string_view>, ExitByCategory> exits;
};

void add_decision(RunInProgress& of_run, const std::string& kind, const traces::Decision& decision,
                  std::int32_t round) {
  std::vector<DecisionsOfKind>& kinds = of_run.decisions.kinds;
  auto found = std::find_if(kinds.begin(), kinds.end(),
                            [&](const DecisionsOfKind& decisions) { return decisions.kind == kind; });
  if (found == kinds.end()) {
    found = kinds.emplace(kinds.end());
    found->kind = kind;
  }
  Json detail = Json::parse(decision.detail, nullptr, false);
  if (!detail.is_object()) detail = Json::object();
  found->requests.push_back(decision.request_id);
  found->rounds.push_back(round);
  found->start_ns.push_back(decision.start_ns);
  found->duration_ns.push_back(decision.end_ns - decision.start_ns);
  found->adopted.push_back(decision.adopted);
  add_values(*found, decision, detail);
  add_words(*found, detail);
  if (auto set = placed_set(decision, detail)) of_run.sets.push_back(std::move(*set));
}

void add_exits(const traces::Recording& recording,
               const std::unordered_map<traces::RequestId, std::size_t>& run_of,
               std::vector<RunInProgress>& runs) {
  std::unordered_map<traces::PromptId, std::string_view> category_of_prompt;
  for (const traces::Prompt& prompt : recording.prompts)
    category_of_prompt.emplace(prompt.id, prompt.category);
  std::unordered_map<traces::RequestId, std::string_view> category_of;
  std::unordered_map<traces::RequestId, traces::RequestStop> stop_of;
  for (const traces::Request& request : recording.requests) {
    stop_of.emplace(request.id, request.stop);
    if (const auto category = category_of_prompt.find(request.prompt_id);
        category != category_of_prompt.end())
      category_of.emplace(request.id, category->second);
  }
  for (const traces::Round& round : recording.rounds) {
    const auto run = run_of.find(round.request_id);
    const auto category = category_of.find(round.request_id);
    if (run == run_of.end() || category == category_of.end() || round.drafted <= 0) continue;
    ExitByCategory& entry = runs[run->second].exits[{round.exit_layer, category->second}];
    entry.exit = round.exit_layer;
    entry.category = std::string(category->second);
    ++entry.rounds;
    entry.drafted += round.drafted;
    entry.accepted += traces::tokens_of(round).accepted_in_text(stop_of.at(round.request_id));
  }
}

RunDecisions finished(RunInProgress&& gathered) {
  RunDecisions decisions = std::move(gathered.decisions);
  decisions.persistence = persistence_of(gathered.sets);
  // With a mask that skips layers, the "exit" is no separate choice.
  if (std::any_of(decisions.kinds.begin(), decisions.kinds.end(),
                  [](const DecisionsOfKind& of_kind) { return of_kind.kind == "exit"; }))
    for (auto& [key, entry] : gathered.exits) decisions.exits.push_back(std::move(entry));
  return decisions;
}

}  // namespace

std::span<const SeriesRow> decision_series() {
  return series_rows;
}

std::span<const WordsRow> decision_words() {
  return words_rows;
}

Result<std::vector<RunDecisions>> read_decisions(traces::Reader& reader, const traces::Recording& recording) {
  DRAFTSCOPE_TRY_ASSIGN(const auto strings, reader.strings());
  std::vector<RunInProgress> runs(recording.runs.size());
  std::unordered_map<traces::RunId, std::size_t> index_of_run;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].decisions.run = &recording.runs[i];
    index_of_run.emplace(recording.runs[i].id, i);
  }
  std::unordered_map<traces::RequestId, std::size_t> run_of;
  for (const traces::Request& request : recording.requests)
    if (const auto run = index_of_run.find(request.run_id); run != index_of_run.end())
      run_of.emplace(request.id, run->second);
  std::unordered_map<traces::RoundId, std::int32_t> index_of_round;
  for (const traces::Round& round : recording.rounds) index_of_round.emplace(round.id, round.index);

  DRAFTSCOPE_TRY(reader.decisions([&](const traces::Decision& decision) {
    const auto run = run_of.find(decision.request_id);
    const auto kind = strings.find(decision.kind_id);
    if (run == run_of.end() || kind == strings.end()) return true;
    const auto round = index_of_round.find(decision.round_id);
    add_decision(runs[run->second], kind->second, decision,
                 round == index_of_round.end() ? -1 : round->second);
    return true;
  }));
  add_exits(recording, run_of, runs);
  std::vector<RunDecisions> result;
  result.reserve(runs.size());
  for (RunInProgress& run : runs) result.push_back(finished(std::move(run)));
  return result;
}

}  // namespace draftscope::simulator
