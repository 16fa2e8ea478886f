// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/drafts/staged_passes.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

namespace draftscope::simulator {

namespace {

constexpr std::string_view staged_decision = "cascade";  // The kind of decision that lists them.

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

Result<StagedPasses> staged_passes(traces::Reader& reader) {
  StagedPasses staged;
  DRAFTSCOPE_TRY_ASSIGN(const auto strings, reader.strings());
  const auto kind =
      std::ranges::find_if(strings, [](const auto& known) { return known.second == staged_decision; });
  if (kind == strings.end()) return staged;
  DRAFTSCOPE_TRY(reader.decisions([&](const traces::Decision& decision) {
    if (decision.kind_id == kind->first) staged.emplace(decision.round_id, passes_of(decision.detail));
    return true;
  }));
  return staged;
}

void count_staged_passes(const StagedPasses& staged, const RequestRows& request, AuxiliaryPasses& passes,
                         std::vector<PassCount>& counts) {
  for (const traces::Round& round : request.rounds) {
    const auto found = staged.find(round.id);
    if (found == staged.end()) continue;
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
