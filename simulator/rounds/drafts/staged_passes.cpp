// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/drafts/staged_passes.h"

#include <draftscope/speculation/next_token_name.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

namespace draftscope::simulator {

namespace {

constexpr std::string_view staged_decision = "cascade";       // The kind of decision that lists them.
constexpr std::string_view choice_decision = "draft choice";  // The kind that names the drafter of a round.

/// Whether a choice of a draft takes the next-token layer.
bool is_next_token(const std::string& text) {
  const auto detail = nlohmann::json::parse(text, nullptr, false);
  return detail.is_object() &&
         detail.value("drafter", nlohmann::json()) == speculation::next_token_layer_name;
}

/// Passes of a list of [drafter, attentions, MLPs, rows]; invalid entries are left out.
std::vector<AuxiliaryPass> passes_of(const std::string& text) {
  std::vector<AuxiliaryPass> passes;
  const auto detail = nlohmann::json::parse(text, nullptr, false);
  if (!detail.is_object() || !detail.contains("passes") || !detail["passes"].is_array()) return passes;
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

}  // namespace

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
  StagedPasses staged;
  DRAFTSCOPE_TRY_ASSIGN(const auto strings, reader.strings());
  const auto with_text = [&](std::string_view text) {
    return std::ranges::find_if(strings, [text](const auto& known) { return known.second == text; });
  };
  const auto stages = with_text(staged_decision);
  const auto choices = with_text(choice_decision);
  if (stages == strings.end() && choices == strings.end()) return staged;
  DRAFTSCOPE_TRY(reader.decisions([&](const traces::Decision& decision) {
    if (stages != strings.end() && decision.kind_id == stages->first)
      staged.emplace(decision.round_id, passes_of(decision.detail));
    if (choices != strings.end() && decision.kind_id == choices->first && is_next_token(decision.detail))
      staged.emplace(decision.round_id, std::vector{next_token_step});
    return true;
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
