// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/drafts/round_notes.h"

#include <draftscope/speculation/next_token_name.h>
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <utility>

namespace draftscope::simulator {

namespace {

/// Passes of a list of [drafter, attentions, MLPs, rows]; invalid entries are left out.
std::vector<AuxiliaryPass> passes_of(const nlohmann::json& detail) {
  std::vector<AuxiliaryPass> passes;
  if (!detail.contains("passes") || !detail["passes"].is_array()) return passes;
  for (const nlohmann::json& pass : detail["passes"]) {
    constexpr std::size_t fields = 4;
    const bool is_pass =
        pass.is_array() && pass.size() == fields &&
        std::ranges::all_of(pass, [](const auto& field) { return field.is_number_unsigned(); });
    if (is_pass && pass[3] > 0)
      passes.push_back({AuxiliaryPassKind::stage, pass[3].get<std::int32_t>(), pass[1].get<std::int32_t>(),
                        pass[2].get<std::int32_t>(), true});
  }
  return passes;
}

/// Visits the decisions of these kinds whose detail is a JSON object; others are left out. Errors: those of
/// the reader.
Result<void> visit_details(
    traces::Reader& reader, std::span<const std::string_view> kinds,
    const std::function<void(traces::RoundId, std::string_view kind, const nlohmann::json& detail)>& visit) {
  DRAFTSCOPE_TRY_ASSIGN(auto strings, reader.strings());
  std::erase_if(strings, [&](const auto& known) {
    return std::ranges::find(kinds, std::string_view(known.second)) == kinds.end();
  });
  if (strings.empty()) return {};
  return reader.decisions([&](const traces::Decision& decision) {
    const auto kind = strings.find(decision.kind_id);
    if (kind == strings.end()) return true;
    const auto detail = nlohmann::json::parse(decision.detail, nullptr, false);
    if (detail.is_object()) visit(decision.round_id, kind->second, detail);
    return true;
  });
}

}  // namespace

Result<NotedTokens> noted_tokens(traces::Reader& reader) {
  constexpr std::array<std::string_view, 2> kinds{"guesses", "n-grams"};
  NotedTokens noted;
  DRAFTSCOPE_TRY(visit_details(
      reader, kinds, [&](traces::RoundId round_id, std::string_view /*kind*/, const nlohmann::json& detail) {
        for (const auto& [name, list] : detail.items()) {
          if (!list.is_array()) continue;
          std::vector<std::int32_t>& tokens = noted[round_id][name];
          for (const nlohmann::json& token : list)
            tokens.push_back(token.is_number_integer() ? token.get<std::int32_t>() : -1);
        }
      }));
  return noted;
}

Result<TargetProbabilities> target_probabilities(traces::Reader& reader) {
  constexpr std::array<std::string_view, 1> kinds{"target probabilities"};
  TargetProbabilities found;
  DRAFTSCOPE_TRY(visit_details(
      reader, kinds, [&](traces::RoundId round_id, std::string_view /*kind*/, const nlohmann::json& detail) {
        const auto list = detail.find("probabilities");
        if (list == detail.end()) return;
        std::vector<double> probabilities;
        for (const nlohmann::json& probability : *list)
          if (probability.is_number()) probabilities.push_back(probability.get<double>());
        found.emplace(round_id, std::move(probabilities));
      }));
  return found;
}

bool is_of_next_token_layer(const StagedPasses& staged, traces::RoundId round) {
  const auto found = staged.find(round);
  return found != staged.end() && found->second == std::vector{next_token_step};
}

void count_next_token_layer(const RequestRows& request,
                            const std::function<bool(const traces::Round&)>& drafts, AuxiliaryPasses& passes,
                            std::vector<PassCount>& counts) {
  // Rows of the layer's K/V that hold the text. The prefill reads all of the prompt but its last state.
  std::int32_t valid = request.rounds.empty() ? 0 : request.rounds.front().root_position - 1;
  for (const traces::Round& round : request.rounds) {
    if (round.tree_depth < 1 || !drafts(round)) continue;
    const std::int32_t first = round.root_position - 1;
    if (valid < first) {
      AuxiliaryPass reading = next_token_step;
      reading.rows = first - valid;
      reading.has_head = false;
      passes.count(reading, 1, valid, counts);
    }
    for (std::int32_t step = 0; step < round.tree_depth; ++step)
      passes.count(next_token_step, 1, first + step, counts);
    valid = round.root_position;
  }
}

Result<StagedPasses> staged_passes(traces::Reader& reader) {
  // The kind of decision that lists the passes, and the kind that names the drafter of a round.
  constexpr std::array<std::string_view, 2> kinds{"cascade", "draft choice"};
  StagedPasses staged;
  DRAFTSCOPE_TRY(visit_details(
      reader, kinds, [&](traces::RoundId round_id, std::string_view kind, const nlohmann::json& detail) {
        if (kind == kinds.front())
          staged.emplace(round_id, passes_of(detail));
        else if (detail.value("drafter", nlohmann::json()) == speculation::next_token_layer_name)
          staged.emplace(round_id, std::vector{next_token_step});
      }));
  return staged;
}

void count_staged_passes(const StagedPasses& staged, const RequestRows& request, AuxiliaryPasses& passes,
                         std::vector<PassCount>& counts) {
  if (staged.empty()) return;
  count_next_token_layer(
      request, [&](const traces::Round& round) { return is_of_next_token_layer(staged, round.id); }, passes,
      counts);
  for (const traces::Round& round : request.rounds) {
    const auto found = staged.find(round.id);
    if (found == staged.end() || is_of_next_token_layer(staged, round.id)) continue;
    for (const AuxiliaryPass& pass : found->second) passes.count(pass, 1, round.root_position, counts);
  }
}

void add_staged_passes(const StagedPasses& staged, const RunRows& run, RecordedStatistics& statistics) {
  if (staged.empty() || !statistics.auxiliary_passes.empty()) return;
  AuxiliaryPasses passes;
  for (std::size_t i = 0; i < run.requests.size(); ++i)
    count_staged_passes(staged, run.requests[i], passes, statistics.requests[i].auxiliary);
  statistics.auxiliary_passes = passes.kinds();
}

}  // namespace draftscope::simulator
