// SPDX-License-Identifier: GPL-3.0-or-later
// Settings whose draft a run recorded: with another length or stop rule, or another schedule of its searches.
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/speculation/skip_set_text.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "analysis/run_specification.h"
#include "rounds/drafts/same_draft.h"
#include "rounds/drafts/set_agreement.h"
#include "rounds/redraft.h"
#include "rounds/replay/policy_choice.h"
#include "rounds/round_sources.h"
#include "rounds/trained_recording.h"
#include "strategies/predict.h"

namespace draftscope::simulator {

namespace {

using speculation::MaskLayers;
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

/// A set with this number of sublayers; the choice does not change the time of a pass.
SkippedSublayers any_set(std::int32_t attention, std::int32_t mlp, std::int32_t n_layers) {
  SkippedSublayers skipped(2 * static_cast<std::size_t>(n_layers));
  for (std::int32_t layer = 0; layer < n_layers; ++layer) {
    skipped[2 * static_cast<std::size_t>(layer)] = layer < attention;
    skipped[2 * static_cast<std::size_t>(layer) + 1] = layer < mlp;
  }
  return skipped;
}

/// The number of sublayers that a searching strategy leaves out, as a set of that size.
SkippedSublayers searched_set(const StrategySpecification& strategy, std::int32_t n_layers) {
  const PartPrediction* const mask = part_prediction(strategy, PartKind::mask);
  if (mask == nullptr || mask->skipped == nullptr) return any_set(0, 0, n_layers);
  const SkippedSublayerCounts skipped = mask->skipped(strategy, n_layers);
  return any_set(skipped.attention, skipped.mlp, n_layers);
}

double count_of(const SkippedSublayers& skipped) {
  return static_cast<double>(std::ranges::count(skipped, true));
}

/// Positions that a run's drafts saw, and the number of right ones.
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

/// Whether the strategy leaves out sublayers in the middle: a given set, or a number of them that its search
/// chooses.
bool skips_sublayers(const StrategySpecification& strategy) {
  const PartPrediction* const mask = part_prediction(strategy, PartKind::mask);
  return strategy.drafts_with(MaskLayers::beside_listed_set) || (mask != nullptr && mask->skipped != nullptr);
}

struct SetSource {
  const RunRows* run = nullptr;
  bool is_same_search = false;
  double judged = 0.0;
};

/// The run without some sublayers whose drafts saw most positions; runs of the same search are preferred.
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

/// Agreement of a search that leaves out another number of sublayers. Each sublayer leaves the average share
/// of tokens right, as in the recorded search; the change has an error of a third.
ExpectedAgreement of_the_search(const Seen& seen, double recorded_count, double asked_count) {
  constexpr double doubt = 1.0 / 3.0;
  const double recorded = -std::log((seen.right + 0.5) / (seen.judged + 1.0));
  const double change = recorded * (asked_count / std::max(recorded_count, 1.0) - 1.0);
  const auto share_at = [&](double factor) { return std::exp(-recorded - factor * change); };
  const auto [low, high] = std::minmax({share_at(1.0 - doubt), share_at(1.0 + doubt)});
  return {share_at(1.0), low, high};
}

/// A seen position with the order in which its token turns wrong, or right.
struct Place {
  double confidence = 0.0;
  std::size_t request = 0;
  std::size_t position = 0;
};

/// Positions of which the share `agreement` is right: as the draft agrees less often, its least confident
/// tokens turn wrong first.
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

/// The recorded trees, drafted by another number of sublayers; siblings that were not drafted are unknown.
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

/// Drafts of a set of sublayers that was not recorded: those of a run with another set, made right or wrong
/// as often as a model of sets expects (set_agreement.h). The two cases are at the model's two standard
/// errors. Errors: no tried set determines the agreement, a set that only a file names, those of redraft().
Result<StrategyRounds> unrecorded_set_rounds(const TrainedRecording& trained,
                                             const StrategySpecification& strategy, std::string_view text) {
  const SetSource source = set_source_of(trained, strategy);
  const bool is_listed = strategy.drafts_with(MaskLayers::beside_listed_set);
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
  if (!strategy.part_row(PartKind::shape)->no_replay.empty())
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

using speculation::PartKind;
using speculation::StrategySpecification;

/// Fills in positions that other runs of the same draft saw in the same texts.
void fill_from_others(const TrainedRecording& trained, std::span<const RunRows* const> runs,
                      const RunRows& first, std::vector<DraftedPositions>& positions) {
  for (const RunRows* const other : runs)
    for (const RequestRows& rows : other->requests)
      for (std::size_t i = 0; i < first.requests.size(); ++i) {
        const RequestRows& own = first.requests[i];
        if (rows.request == own.request || rows.prompt != own.prompt || rows.rounds.empty() ||
            rows.request->tokens.empty() || rows.request->tokens != own.request->tokens)
          continue;
        fill_unseen(drafted_positions(*trained.recording, rows), positions[i]);
      }
}

Result<DraftedTexts> texts_of(const TrainedRecording& trained, const RunRows& run,
                              std::span<const RunRows* const> runs) {
  RunRows first = first_repeat(run);
  std::vector<DraftedPositions> positions = positions_of_run(*trained.recording, first);
  fill_from_others(trained, runs, first, positions);
  return drafted_texts(trained, std::move(first), positions);
}

/// Whether the parameter of a searching mask controls when and how it searches, not its draft tokens.
bool is_of_search(const StrategySpecification& strategy, const std::string& parameter) {
  const speculation::PartRow* const mask = strategy.part_row(PartKind::mask);
  return mask != nullptr && std::ranges::any_of(mask->parameters, [&](const speculation::ParameterRow& row) {
           return row.name == parameter && row.is_of_search;
         });
}

/// All rules of a strategy except when its mask searches; strategies with equal rules have the same rounds.
nlohmann::json rules_beside_search(const StrategySpecification& strategy) {
  const auto parameters = nlohmann::json::parse(strategy.json());
  auto rules = nlohmann::json::object();
  for (const auto& [name, value] : parameters.items())
    if (!is_of_search(strategy, name)) rules[name] = value;
  return {{"parts", strategy.parts()}, {"parameters", std::move(rules)}};
}

struct DraftSource {
  const RunRows* run = nullptr;
  bool has_same_rules = false;  ///< Equal except for when it searches.
};

/// The run of the same rules if there is one, else the one whose drafts saw most positions.
DraftSource draft_source_of(const TrainedRecording& trained, const StrategySpecification& strategy,
                            std::span<const RunRows* const> runs) {
  DraftSource best;
  std::int64_t max_seen = -1;
  for (const RunRows* const run : runs) {
    const auto recorded = run_specification(*run->run, trained.n_layers());
    if (recorded && strategy.has_parts() && recorded->has_parts() &&
        rules_beside_search(*recorded) == rules_beside_search(strategy))
      return {run, true};
    std::int64_t seen = 0;
    for (const DraftedPositions& positions : positions_of_run(*trained.recording, first_repeat(*run)))
      seen += std::ranges::count_if(
          positions, [](const DraftedPosition& position) { return position.bit != AcceptanceBit::unseen; });
    if (seen > max_seen) best = {run, false};
    max_seen = std::max(max_seen, seen);
  }
  return best;
}

/// Whether a draft predicts the same at any place as at its place in the recorded draft: an exit uses the
/// target's keys and values, another model its own.
bool predicts_alike_everywhere(const StrategySpecification& strategy) {
  return !strategy.has_parts() || strategy.drafts_with(speculation::MaskLayers::below_exit);
}

void add_drafted_notes(const Redrafted& redrafted, const DraftSource& source, bool is_exact,
                       StrategyRounds& rounds) {
  const std::string& name = source.run->run->specification;
  if (source.has_same_rules) {
    rounds.notes.push_back(fmt::format(
        "rounds are those of run {}: another schedule of searches is taken to find layers that draft as well",
        name));
    return;
  }
  rounds.notes.push_back(fmt::format("rounds follow from what run {} drafted", name));
  if (redrafted.drawn_rounds > 0)
    rounds.notes.push_back(
        fmt::format("{} of {} rounds go by positions that were not drafted, drawn from a model of acceptance "
                    "(two hidden states); record with --shadow to know those of exits",
                    redrafted.drawn_rounds, redrafted.rounds));
  if (!is_exact && redrafted.drawn_rounds == 0)
    rounds.notes.emplace_back(
        "a draft that begins elsewhere is taken to predict the same, though it reads other keys and values "
        "of its own");
}

/// Key of the draft, or one line that says why no rounds follow from recorded drafts.
Result<std::string> draft_key_of(const TrainedRecording& trained, const StrategySpecification& strategy) {
  std::string key = draft_key(strategy);
  if (!key.empty()) return key;
  const std::string& reason = strategy.no_replay().empty() ? trained.no_tables_reason : strategy.no_replay();
  return fail("strategy {}: {} (approximate), expected a recorded run of it", strategy.given(), reason);
}

}  // namespace

void fit_acceptance(const TrainedRecording& trained) {
  if (!trained.shadowed.tables.empty()) return;
  for (const RunRows& run : trained.runs) {
    const auto strategy = run_specification(*run.run, trained.n_layers());
    if (!strategy) continue;
    const auto runs = runs_of_draft(trained.runs, draft_key(*strategy), trained.n_layers());
    if (std::ranges::find(runs, &run) != runs.end()) (void)texts_of(trained, run, runs);
  }
}

Result<StrategyRounds> drafted_rounds(const TrainedRecording& trained, std::string_view text) {
  if (const PolicyChoice choice = text_choice(*trained.recording); choice.status == AnswerStatus::invalid)
    return fail("strategy {}: {}", text, choice.reason);
  DRAFTSCOPE_TRY_ASSIGN(const StrategySpecification strategy,
                        speculation::parse_strategy(text, trained.n_layers()));
  DRAFTSCOPE_TRY_ASSIGN(const std::string key, draft_key_of(trained, strategy));
  const auto runs = runs_of_draft(trained.runs, key, trained.n_layers());
  if (runs.empty() && skips_sublayers(strategy)) return unrecorded_set_rounds(trained, strategy, text);
  if (runs.empty())
    return fail("strategy {}: {}, expected a recorded run of the same draft ({})", text,
                strategy.no_replay().empty() ? trained.no_tables_reason : strategy.no_replay(), key);
  const DraftSource source = draft_source_of(trained, strategy, runs);
  const RunRows first = first_repeat(*source.run);
  StrategyRounds rounds = rounds_on_texts(first, text);
  Redrafted redrafted;
  bool is_exact = false;
  if (source.has_same_rules) {
    redrafted = rescheduled(first, strategy, trained.n_layers());
  } else {
    DRAFTSCOPE_TRY_ASSIGN(const DraftedTexts texts, texts_of(trained, *source.run, runs));
    DRAFTSCOPE_TRY_ASSIGN(redrafted, redraft(trained, texts, strategy));
    is_exact = predicts_alike_everywhere(strategy) && redrafted.drawn_rounds == 0;
    if (!is_exact) redrafted.status = AnswerStatus::approximate;
  }
  DRAFTSCOPE_TRY(put_statistics(trained, trained.layer_sets, redrafted, first.run->id, rounds));
  if (rounds.drafts.empty()) rounds.verified_layers = specified_verified_layers(text);
  add_drafted_notes(redrafted, source, is_exact, rounds);
  return rounds;
}

}  // namespace draftscope::simulator
