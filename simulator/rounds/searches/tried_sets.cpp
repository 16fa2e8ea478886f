// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/searches/tried_sets.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
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

/// A seen position with the order in which its token turns wrong, or right.
struct Place {
  double confidence = 0.0;
  std::size_t request = 0;
  std::size_t position = 0;
};

/// Turns the first |change| places of a group: right ones wrong if `change` < 0, else wrong ones right.
void turn(std::vector<DraftedPositions>& requests, const PositionGroups& groups, std::int32_t group,
          double change) {
  const AcceptanceBit from = change < 0.0 ? AcceptanceBit::accepted : AcceptanceBit::rejected;
  const AcceptanceBit to = change < 0.0 ? AcceptanceBit::rejected : AcceptanceBit::accepted;
  std::vector<Place> places;
  for (std::size_t request = 0; request < requests.size(); ++request)
    for (std::size_t i = 0; i < requests[request].size(); ++i) {
      const DraftedPosition& position = requests[request][i];
      if (position.bit != from || groups.group[request][i] != group) continue;
      const double confidence = std::isnan(position.confidence) ? 0.5 : position.confidence;
      places.push_back({change < 0.0 ? confidence : -confidence, request, i});
    }
  const auto turned = std::min(places.size(), static_cast<std::size_t>(std::abs(change)));
  std::ranges::sort(places, {}, [](const Place& place) {
    return std::tuple(place.confidence, place.request, place.position);
  });
  for (std::size_t i = 0; i < turned; ++i) {
    DraftedPosition& position = requests[places[i].request][places[i].position];
    // Nothing is known of the siblings that a wrong token would have.
    position = {.bit = to, .confidence = position.confidence};
  }
}

}  // namespace

ExpectedAgreement agreement_of_cost(double cost, double error) {
  return {std::exp(-cost), std::exp(-cost - error), std::exp(-std::max(cost - error, 0.0))};
}

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

double Seen::cost() const {
  return -std::log((right + 0.5) / (judged + 1.0));
}

void add(const DraftedPosition& position, Seen& seen) {
  if (position.bit == AcceptanceBit::unseen) return;
  seen.judged += 1.0;
  seen.right += position.bit == AcceptanceBit::accepted ? 1.0 : 0.0;
}

Seen seen_of(const std::vector<DraftedPositions>& requests) {
  Seen seen;
  for (const DraftedPositions& positions : requests)
    for (const DraftedPosition& position : positions) add(position, seen);
  return seen;
}

std::vector<Seen> seen_by_group(const std::vector<DraftedPositions>& requests, const PositionGroups& groups) {
  std::vector<Seen> seen(groups.agreement.size());
  for (std::size_t request = 0; request < requests.size(); ++request)
    for (std::size_t i = 0; i < requests[request].size(); ++i)
      if (const std::int32_t group = groups.group[request][i]; group != PositionGroups::as_seen)
        add(requests[request][i], seen[static_cast<std::size_t>(group)]);
  return seen;
}

std::vector<DraftedPositions> shifted(std::vector<DraftedPositions> requests, const PositionGroups& groups,
                                      const std::vector<double>& agreement) {
  const std::vector<Seen> seen = seen_by_group(requests, groups);
  for (std::size_t group = 0; group < seen.size(); ++group)
    turn(requests, groups, static_cast<std::int32_t>(group),
         std::round(agreement[group] * seen[group].judged) - seen[group].right);
  return requests;
}

PositionGroups one_group(const std::vector<DraftedPositions>& requests, const ExpectedAgreement& agreement) {
  PositionGroups groups{.group = {}, .agreement = {agreement}};
  for (const DraftedPositions& positions : requests) groups.group.emplace_back(positions.size(), 0);
  return groups;
}

}  // namespace draftscope::simulator
