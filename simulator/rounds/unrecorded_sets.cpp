// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/unrecorded_sets.h"

#include <draftscope/speculation/rules/rules_of.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "analysis/run_specification.h"
#include "rounds/drafts/set_agreement.h"
#include "rounds/redraft.h"

namespace draftscope::simulator {

namespace {

using speculation::PartKind;
using speculation::StrategySpecification;

void mark_layers(std::string_view layers, std::size_t kind, SkippedSublayers& skipped) {
  for (const std::int32_t layer : speculation::listed_layers(layers))
    if (const std::size_t bit = 2 * static_cast<std::size_t>(layer) + kind; bit < skipped.size())
      skipped[bit] = true;
}

SkippedSublayers listed_set(const StrategySpecification& strategy, std::int32_t n_layers) {
  SkippedSublayers skipped(2 * static_cast<std::size_t>(n_layers));
  mark_layers(strategy.text("skip-attention"), 0, skipped);
  mark_layers(strategy.text("skip-mlp"), 1, skipped);
  return skipped;
}

/// A set of so many sublayers; which ones makes no difference to what a pass takes.
SkippedSublayers any_set(std::int32_t attention, std::int32_t mlp, std::int32_t n_layers) {
  SkippedSublayers skipped(2 * static_cast<std::size_t>(n_layers));
  for (std::int32_t layer = 0; layer < n_layers; ++layer) {
    skipped[2 * static_cast<std::size_t>(layer)] = layer < attention;
    skipped[2 * static_cast<std::size_t>(layer) + 1] = layer < mlp;
  }
  return skipped;
}

/// The number of sublayers that a searching strategy leaves out, as a set of that many.
SkippedSublayers searched_set(const StrategySpecification& strategy, std::int32_t n_layers) {
  if (strategy.part(PartKind::mask) == "clasp")
    return any_set(strategy.integer("skip"), strategy.integer("skip"), n_layers);
  if (strategy.part(PartKind::mask) == "conflayers") {
    const std::int32_t layers =
        speculation::ConfidenceSearches(speculation::confidence_options(strategy, n_layers)).least();
    return any_set(layers, layers, n_layers);
  }
  const std::int32_t skipped = speculation::swift_skipped_sublayers(n_layers, strategy.number("ratio"));
  return any_set(skipped / 2, skipped - skipped / 2, n_layers);
}

double count_of(const SkippedSublayers& skipped) {
  return static_cast<double>(std::ranges::count(skipped, true));
}

/// Positions that a run's drafts saw, and how many of them were right.
struct Seen {
  double judged = 0.0;
  double right = 0.0;
};

Seen seen_of(const std::vector<DraftedPositions>& requests) {
  Seen seen;
  for (const DraftedPositions& positions : requests)
    for (const DraftedPosition& position : positions) {
      if (position.bit == AcceptanceBit::unseen) continue;
      seen.judged += 1.0;
      seen.right += position.bit == AcceptanceBit::accepted ? 1.0 : 0.0;
    }
  return seen;
}

struct SetSource {
  const RunRows* run = nullptr;
  bool is_same_search = false;
  double judged = 0.0;
};

/// The run that leaves out sublayers whose drafts saw most positions; one of the same search before others.
SetSource set_source_of(const TrainedRecording& trained, const StrategySpecification& strategy) {
  SetSource best;
  for (const RunRows& run : trained.runs) {
    const auto recorded = run_specification(*run.run, trained.n_layers());
    if (!recorded || !skips_sublayers(*recorded) || run.requests.empty()) continue;
    const bool is_same = recorded->part(PartKind::mask) == strategy.part(PartKind::mask);
    const double judged = seen_of(positions_of_run(*trained.recording, first_repeat(run))).judged;
    if (judged > 0.0 && std::pair(is_same, judged) > std::pair(best.is_same_search, best.judged))
      best = {&run, is_same, judged};
  }
  return best;
}

/// Agreement of a search that leaves out another number: each sublayer leaves the share of tokens right that
/// those of the recorded search left on average; the change is so, give or take a third.
ExpectedAgreement of_the_search(const Seen& seen, double recorded_count, double asked_count) {
  constexpr double doubt = 1.0 / 3.0;
  const double recorded = -std::log((seen.right + 0.5) / (seen.judged + 1.0));
  const double change = recorded * (asked_count / std::max(recorded_count, 1.0) - 1.0);
  const auto share_at = [&](double factor) { return std::exp(-recorded - factor * change); };
  const auto [low, high] = std::minmax({share_at(1.0 - doubt), share_at(1.0 + doubt)});
  return {share_at(1.0), low, high};
}

/// A seen position, in the order in which its token turns wrong, or right.
struct Place {
  double confidence = 0.0;
  std::size_t request = 0;
  std::size_t position = 0;
};

/// The same positions, of which the share `agreement` is right: as the draft agrees less often, the tokens
/// that it was least sure of turn wrong first.
std::vector<DraftedPositions> shifted(std::vector<DraftedPositions> requests, double agreement) {
  const Seen seen = seen_of(requests);
  const double change = std::round(agreement * seen.judged) - seen.right;
  const AcceptanceBit from = change < 0.0 ? AcceptanceBit::accepted : AcceptanceBit::rejected;
  const AcceptanceBit to = change < 0.0 ? AcceptanceBit::rejected : AcceptanceBit::accepted;
  std::vector<Place> places;
  for (std::size_t request = 0; request < requests.size(); ++request)
    for (std::size_t i = 0; i < requests[request].size(); ++i) {
      const DraftedPosition& position = requests[request][i];
      if (position.bit != from) continue;
      const double confidence = std::isnan(position.confidence) ? 0.5 : position.confidence;
      places.push_back({change < 0.0 ? confidence : -confidence, request, i});
    }
  const auto turned = std::min(places.size(), static_cast<std::size_t>(std::abs(change)));
  std::ranges::sort(places, {}, [](const Place& place) {
    return std::tuple(place.confidence, place.request, place.position);
  });
  for (std::size_t i = 0; i < turned; ++i) requests[places[i].request][places[i].position].bit = to;
  return requests;
}

traces::LayerSet layer_set_of(const SkippedSublayers& skipped, traces::LayerSetId id) {
  const auto n_layers = static_cast<std::int32_t>(skipped.size() / 2);
  traces::LayerSet set{.id = id, .n_layers = n_layers, .exit_layer = n_layers, .origin = "modelled"};
  set.skipped.resize((skipped.size() + 7) / 8);
  for (std::size_t bit = 0; bit < skipped.size(); ++bit)
    if (skipped[bit]) set.skipped[bit / 8] |= static_cast<std::uint8_t>(1U << (bit % 8));
  return set;
}

traces::LayerSetId free_id(const LayerSetsById& sets) {
  std::int64_t last = 0;
  for (const auto& [id, set] : sets) last = std::max(last, id.value());
  return traces::LayerSetId::from(last + 1);
}

/// Rounds with this share of right tokens, drafted by `set`.
Result<Redrafted> redrafted_at(const TrainedRecording& trained, const RunRows& run,
                               const std::vector<DraftedPositions>& positions, double agreement,
                               const StrategySpecification& strategy) {
  const std::vector<DraftedPositions> asked = shifted(positions, agreement);
  std::vector<AcceptanceBits> bits(asked.size());
  std::ranges::transform(asked, bits.begin(), bits_at);
  const auto model = fit_markov_acceptance(bits);
  if (!model)
    return fail("run {}: found no draft token that was judged, expected one", run.run->specification);
  return redraft(trained, drafted_texts(run, asked, *model), strategy);
}

/// The recorded trees, drafted by another number of sublayers: siblings that were not drafted are unknown.
Result<StrategyRounds> same_trees(const TrainedRecording& trained, const RunRows& run,
                                  const LayerSetsById& sets, traces::LayerSetId set_id,
                                  const StrategySpecification& strategy, std::string_view text) {
  Redrafted redrafted = rescheduled(run, strategy, trained.n_layers());
  redrafted.least->draft_with(set_id);
  StrategyRounds rounds = rounds_on_texts(run, text);
  DRAFTSCOPE_TRY(put_statistics(trained, sets, redrafted, run.run->id, rounds));
  rounds.notes.push_back(fmt::format(
      "rounds are those of run {}: another number of sublayers is taken to draft as well, and what "
      "they take is counted",
      run.run->specification));
  return rounds;
}

}  // namespace

bool skips_sublayers(const StrategySpecification& strategy) {
  if (!strategy.has_parts()) return false;
  const std::string& mask = strategy.part(PartKind::mask);
  return mask == "skip-set" || mask == "clasp" || mask == "swift" || mask == "conflayers";
}

Result<StrategyRounds> unrecorded_set_rounds(const TrainedRecording& trained,
                                             const StrategySpecification& strategy, std::string_view text) {
  const SetSource source = set_source_of(trained, strategy);
  const bool is_listed = strategy.part(PartKind::mask) == "skip-set";
  const bool is_modelled = is_listed ? trained.set_agreement != nullptr : source.is_same_search;
  if (source.run == nullptr || !is_modelled)
    return fail("strategy {}: {} (approximate), expected a recorded run of it, or of {}", text,
                strategy.no_replay(), is_listed ? "another set" : "the same search");
  if (is_listed && !strategy.text("skip-set").empty())
    return fail("strategy {}: found a file of sets, expected skip-attention and skip-mlp to model a set",
                text);
  const RunRows first = first_repeat(*source.run);
  const std::vector<DraftedPositions> positions = positions_of_run(*trained.recording, first);
  const SkippedSublayers set =
      is_listed ? listed_set(strategy, trained.n_layers()) : searched_set(strategy, trained.n_layers());
  if (is_listed && count_of(set) == 0.0)
    return fail("strategy {}: found no sublayer that is skipped, expected skip-attention or skip-mlp", text);
  DRAFTSCOPE_TRY_ASSIGN(const auto recorded, run_specification(*source.run->run, trained.n_layers()));
  const ExpectedAgreement agreement =
      is_listed ? trained.set_agreement->of(set)
                : of_the_search(seen_of(positions), count_of(searched_set(recorded, trained.n_layers())),
                                count_of(set));
  const traces::LayerSet drafts = layer_set_of(set, free_id(trained.layer_sets));
  LayerSetsById sets = trained.layer_sets;
  sets.emplace(drafts.id, &drafts);
  if (strategy.part(PartKind::shape) != "chain")
    return same_trees(trained, first, sets, drafts.id, strategy, text);
  DRAFTSCOPE_TRY_ASSIGN(Redrafted high, redrafted_at(trained, first, positions, agreement.high, strategy));
  DRAFTSCOPE_TRY_ASSIGN(Redrafted low, redrafted_at(trained, first, positions, agreement.low, strategy));
  Redrafted both{.least = std::move(high.least),
                 .most = std::move(low.most != nullptr ? low.most : low.least),
                 .status = AnswerStatus::approximate};
  both.least->draft_with(drafts.id);
  both.most->draft_with(drafts.id);
  StrategyRounds rounds = rounds_on_texts(first, text);
  DRAFTSCOPE_TRY(put_statistics(trained, sets, both, first.run->id, rounds));
  rounds.notes.push_back(fmt::format(
      "nobody drafted with this set: it is taken to agree on {:.0f} to {:.0f} % of the tokens, "
      "by a model of {}; "
      "the two cases are these, on what run {} drafted",
      100.0 * agreement.low, 100.0 * agreement.high,
      is_listed
          ? fmt::format("{} sets that were tried (their sublayers' shares multiply)", trained.tried_sets)
          : "what each sublayer of the recorded search cost",
      first.run->specification));
  return rounds;
}

}  // namespace draftscope::simulator
