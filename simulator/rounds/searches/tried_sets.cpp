// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/searches/tried_sets.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>
#include <utility>

#include "analysis/run_specification.h"
#include "rounds/drafts/drafted_positions.h"

namespace draftscope::simulator {

namespace {

/// Marks the listed layers; false if one is no layer of the model.
bool mark(const nlohmann::json& layers, std::size_t kind, SkippedSublayers& skipped) {
  if (!layers.is_array()) return false;
  for (const auto& layer : layers) {
    if (!layer.is_number_unsigned()) return false;
    const std::size_t bit = 2 * layer.get<std::size_t>() + kind;
    if (bit >= skipped.size()) return false;
    skipped[bit] = true;
  }
  return true;
}

/// Number of tokens per request on which a run tried sets, for the runs that logged the sets.
std::unordered_map<traces::RequestId, std::int32_t> windows_of(std::span<const RunRows> runs,
                                                               std::int32_t n_layers) {
  std::unordered_map<traces::RequestId, std::int32_t> windows;
  for (const RunRows& run : runs) {
    const auto strategy = run_specification(*run.run, n_layers);
    const speculation::PartRow* mask = strategy ? strategy->part_row(speculation::PartKind::mask) : nullptr;
    if (mask == nullptr || mask->tried_on.empty()) continue;
    for (const RequestRows& rows : run.requests)
      windows.emplace(rows.request->id, strategy->integer(mask->tried_on));
  }
  return windows;
}

std::optional<ScoredCandidate> candidate_of(const traces::Decision& decision, std::int32_t window,
                                            std::int32_t n_layers) {
  const auto detail = nlohmann::json::parse(decision.detail, nullptr, false);
  if (!detail.is_object() || !detail.contains("skipped_attention") || !detail.contains("skipped_mlp"))
    return std::nullopt;
  if (!(decision.score >= 0.0 && decision.score <= 1.0)) return std::nullopt;
  ScoredCandidate candidate{.round_id = decision.round_id,
                            .set = {.skipped = SkippedSublayers(2 * static_cast<std::size_t>(n_layers)),
                                    .judged = static_cast<double>(window),
                                    .right = decision.score * window},
                            .hits = {}};
  if (const auto hits = detail.find("hits"); hits != detail.end() && hits->is_string())
    candidate.hits = hits->get<std::string>();
  SkippedSublayers& skipped = candidate.set.skipped;
  if (!mark(detail["skipped_attention"], 0, skipped) || !mark(detail["skipped_mlp"], 1, skipped))
    return std::nullopt;
  return candidate;
}

}  // namespace

SkippedSublayers skipped_by(const traces::LayerSet& set) {
  SkippedSublayers skipped(2 * static_cast<std::size_t>(std::max(set.n_layers, 0)));
  for (std::size_t i = 0; i < skipped.size(); ++i) skipped[i] = is_skipped(set, static_cast<std::int32_t>(i));
  return skipped;
}

Result<ScoredCandidates> scored_candidates(traces::Reader& reader, std::span<const RunRows> runs,
                                           std::int32_t n_layers) {
  const auto windows = windows_of(runs, n_layers);
  ScoredCandidates candidates;
  if (windows.empty()) return candidates;
  DRAFTSCOPE_TRY(reader.decisions([&](const traces::Decision& decision) {
    const auto window = windows.find(decision.request_id);
    if (window == windows.end()) return true;
    if (auto candidate = candidate_of(decision, window->second, n_layers))
      candidates.push_back(*std::move(candidate));
    return true;
  }));
  return candidates;
}

std::vector<TriedSet> drafted_sets(const traces::Recording& recording, std::span<const RunRows> runs,
                                   const LayerSetsById& sets, std::int32_t n_layers) {
  std::map<traces::LayerSetId, TriedSet> tried;
  for (const RunRows& run : runs)
    for (const RequestRows& rows : run.requests)
      for (std::size_t i = 0; i < rows.rounds.size(); ++i) {
        const auto set = sets.find(rows.rounds[i].layer_set_id);
        if (set == sets.end() || set->second->n_layers != n_layers || is_exit(*set->second)) continue;
        const RequestRows one{.request = rows.request, .rounds = rows.rounds.subspan(i, 1)};
        TriedSet& known = tried[set->first];
        if (known.skipped.empty()) known.skipped = skipped_by(*set->second);
        for (const DraftedPosition& position : drafted_positions(recording, one)) {
          if (position.bit == AcceptanceBit::unseen) continue;
          known.judged += 1.0;
          known.right += position.bit == AcceptanceBit::accepted ? 1.0 : 0.0;
        }
      }
  std::vector<TriedSet> drafted;
  for (auto& [id, set] : tried)
    if (set.judged > 0.0) drafted.push_back(std::move(set));
  return drafted;
}

}  // namespace draftscope::simulator
