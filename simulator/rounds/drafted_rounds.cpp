// SPDX-License-Identifier: GPL-3.0-or-later
// Settings whose draft a run recorded: with another length or stop rule, or another schedule of its searches.
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/speculation/skip_set_text.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "analysis/run_specification.h"
#include "rounds/drafts/drafted_table.h"
#include "rounds/drafts/same_draft.h"
#include "rounds/redraft.h"
#include "rounds/replay/policy_choice.h"
#include "rounds/round_sources.h"
#include "rounds/searches/redrafted_run.h"
#include "rounds/searches/replayed_search.h"
#include "rounds/searches/set_agreement.h"
#include "rounds/trained_recording.h"
#include "strategies/parts/rule.h"
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

std::int64_t rounds_of_run(const RunRows& run) {
  std::int64_t rounds = 0;
  for (const RequestRows& rows : run.requests) rounds += static_cast<std::int64_t>(rows.rounds.size());
  return rounds;
}

double count_of(const SkippedSublayers& skipped) {
  return static_cast<double>(std::ranges::count(skipped, true));
}

/// Whether the strategy leaves out sublayers in the middle: a given set, or a number of them that its search
/// chooses.
bool skips_sublayers(const StrategySpecification& strategy) {
  const PartPrediction* const mask = part_prediction(strategy, PartKind::mask);
  return strategy.drafts_with(MaskLayers::beside_listed_set) || (mask != nullptr && mask->skipped != nullptr);
}

bool is_of_search(const StrategySpecification& strategy, const std::string& parameter) {
  return parameter_row(strategy, parameter).is_of_search;
}

/// Parameters of the search that differ, as "every=4 for 1, window=16 for 32"; empty if none does.
std::string other_search(const StrategySpecification& asked, const StrategySpecification& recorded) {
  std::vector<std::string> others;
  for (const ParameterDifference& other : parameter_differences(asked, recorded))
    if (is_of_search(asked, other.name))
      others.push_back(fmt::format("{}={} for {}", other.name, other.asked, other.recorded));
  return fmt::format("{}", fmt::join(others, ", "));
}

struct SetSource {
  const RunRows* run = nullptr;
  StrategySpecification strategy;
};

/// The run without some sublayers whose drafts tell most: of the same search, with siblings for a tree, with
/// the nearest number of sublayers, with most positions.
std::optional<SetSource> set_source_of(const TrainedRecording& trained, const StrategySpecification& asked) {
  std::optional<SetSource> best;
  std::tuple<bool, bool, double, double> rank;
  const double count = count_of(searched_set(asked, trained.n_layers()));
  for (const RunRows& run : trained.runs) {
    auto recorded = run_specification(*run.run, trained.n_layers());
    if (!recorded || !skips_sublayers(*recorded) || run.requests.empty()) continue;
    const bool is_same = recorded->part(PartKind::mask) == asked.part(PartKind::mask);
    const double judged = seen_of(positions_of_run(*trained.recording, first_repeat(run))).judged;
    const std::tuple of_run(
        is_same, speculation::widths_of(asked).empty() || !speculation::widths_of(*recorded).empty(),
        -std::abs(count_of(searched_set(*recorded, trained.n_layers())) - count), judged);
    if (judged > 0.0 && (!best || of_run > rank)) {
      best = SetSource{&run, *std::move(recorded)};
      rank = of_run;
    }
  }
  return best;
}

/// Agreement of a search that leaves out another number of sublayers, or is done at other times. Each
/// sublayer leaves the average share of tokens right, as in the recorded search; the change has an error of a
/// third.
ExpectedAgreement of_the_search(const Seen& seen, double recorded_count, double asked_count, double doubt) {
  constexpr double doubt_of_change = 1.0 / 3.0;
  const double recorded = seen.cost();
  const double cost = recorded * asked_count / std::max(recorded_count, 1.0);
  const double error = std::hypot(doubt_of_change * (cost - recorded), doubt * cost);
  return agreement_of_cost(cost, error);
}

/// Whether a draft predicts the same at any place as at its place in the recorded draft: an exit uses the
/// target's keys and values, another model its own. A next-token layer goes on from its own states.
bool predicts_alike_everywhere(const StrategySpecification& strategy) {
  if (drafts_with_next_token_layer(strategy.name())) return false;
  return !strategy.has_parts() || strategy.drafts_with(MaskLayers::below_exit);
}

/// Lets drafts that go on after a wrong token end as the run's did. Those that predict alike everywhere keep
/// their bounds, since the rest of their rounds is exact.
void add_off_text(const TrainedRecording& trained, const StrategySpecification& strategy,
                  DraftedTexts& texts) {
  if (predicts_alike_everywhere(strategy)) return;
  const std::vector<float> off_text = confidences_off_text(*trained.recording, texts.run);
  for (DraftedTable& drafted : texts.tables) drafted.table.off_text = off_text;
}

/// Lets the first token of a next-token layer's draft be right more often than further ones, as recorded.
void add_places(const StrategySpecification& strategy, const std::vector<DraftedPositions>& positions,
                DraftedTexts& texts) {
  if (!drafts_with_next_token_layer(strategy.name())) return;
  const PlaceShares shares = place_shares(positions);
  const SeenSteps seen = seen_steps(positions);
  for (std::size_t i = 0; i < texts.tables.size(); ++i)
    put_places(positions[i], shares, seen, texts.tables[i]);
}

/// Rounds with these positions.
Result<Redrafted> redrafted_at(const TrainedRecording& trained, const RunRows& run,
                               const std::vector<DraftedPositions>& asked,
                               const StrategySpecification& strategy, std::int64_t searches) {
  std::vector<AcceptanceBits> bits(asked.size());
  std::ranges::transform(asked, bits.begin(), bits_at);
  const auto model = fit_markov_acceptance(bits);
  if (!model)
    return fail("run {}: found no draft token that was judged, expected one", run.run->specification);
  DraftedTexts texts = drafted_texts(run, asked, *model);
  add_off_text(trained, strategy, texts);
  return redraft(trained, texts, strategy, searches);
}

/// Two cases, at both ends of each group's agreement. Errors: those of redraft().
Result<Redrafted> redrafted_between(const TrainedRecording& trained, const RunRows& run,
                                    const std::vector<DraftedPositions>& positions,
                                    const PositionGroups& groups, const StrategySpecification& strategy,
                                    std::int64_t searches) {
  const auto at = [&](double ExpectedAgreement::*end) {
    std::vector<double> agreement(groups.agreement.size());
    std::ranges::transform(groups.agreement, agreement.begin(), end);
    return redrafted_at(trained, run, shifted(positions, groups, agreement), strategy, searches);
  };
  DRAFTSCOPE_TRY_ASSIGN(Redrafted high, at(&ExpectedAgreement::high));
  DRAFTSCOPE_TRY_ASSIGN(Redrafted low, at(&ExpectedAgreement::low));
  return Redrafted{.least = std::move(high.least),
                   .most = std::move(low.most != nullptr ? low.most : low.least),
                   .status = AnswerStatus::approximate};
}

/// Drafts of a set of sublayers that was not recorded: those of a run with another set, made right or wrong
/// as often as a model of sets expects (set_agreement.h). The two cases are at the model's two standard
/// errors. Errors: no tried set determines the agreement, a set that only a file names, those of redraft().
Result<StrategyRounds> unrecorded_set_rounds(const TrainedRecording& trained,
                                             const StrategySpecification& strategy, std::string_view text) {
  const bool is_listed = strategy.drafts_with(MaskLayers::beside_listed_set);
  const std::optional<SetSource> source = set_source_of(trained, strategy);
  const bool is_modelled =
      source && (is_listed ? trained.set_agreement != nullptr
                           : source->strategy.part(PartKind::mask) == strategy.part(PartKind::mask));
  if (!is_modelled)
    return fail("strategy {}: {} (approximate), expected a recorded run of it, or of {}", text,
                strategy.no_replay(), is_listed ? "another set" : "the same search");
  if (is_listed && !strategy.text("skip-set").empty())
    return fail("strategy {}: found a file of sets, expected skip-attention and skip-mlp to model a set",
                text);
  const RunRows first = first_repeat(*source->run);
  const std::vector<DraftedPositions> positions = positions_of_run(*trained.recording, first);
  const SkippedSublayers set =
      is_listed ? listed_set(strategy, trained.n_layers()) : searched_set(strategy, trained.n_layers());
  if (is_listed && count_of(set) == 0.0)
    return fail("strategy {}: found no sublayer that is skipped, expected skip-attention or skip-mlp", text);
  const std::string schedule = is_listed ? "" : other_search(strategy, source->strategy);
  const ExpectedAgreement agreement =
      is_listed
          ? trained.set_agreement->of(set)
          : of_the_search(seen_of(positions), count_of(searched_set(source->strategy, trained.n_layers())),
                          count_of(set), schedule.empty() ? doubt_of_a_set : doubt_of_a_schedule);
  constexpr double too_wide = 0.4;  // Speedups at both ends would differ by about a factor of two.
  if (is_listed && agreement.high - agreement.low > too_wide)
    return fail(
        "strategy {}: the {} sets that were tried say only that this one agrees on {:.0f} to {:.0f} % of the "
        "tokens, expected a recorded run of it, or of more sets (swift tries many)",
        text, trained.tried_sets, 100.0 * agreement.low, 100.0 * agreement.high);
  const traces::LayerSet drafts = new_layer_set(set, trained.layer_sets);
  LayerSetsById sets = trained.layer_sets;
  sets.emplace(drafts.id, &drafts);
  DRAFTSCOPE_TRY_ASSIGN(
      Redrafted both, redrafted_between(trained, first, positions, one_group(positions, agreement), strategy,
                                        ended_searches(first)));
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
  if (!schedule.empty()) rounds.notes.push_back("the search is another one, too: " + schedule);
  return rounds;
}

/// Positions of a run, [request of `first`], with those that other runs of the same draft saw in the same
/// texts.
std::vector<DraftedPositions> positions_of_draft(const TrainedRecording& trained, const RunRows& first,
                                                 std::span<const RunRows* const> runs) {
  std::vector<DraftedPositions> positions = positions_of_run(*trained.recording, first);
  for (const RunRows* const other : runs)
    for (const RequestRows& rows : other->requests)
      for (std::size_t i = 0; i < first.requests.size(); ++i) {
        const RequestRows& own = first.requests[i];
        if (rows.request == own.request || rows.prompt != own.prompt || rows.rounds.empty() ||
            rows.request->tokens.empty() || rows.request->tokens != own.request->tokens)
          continue;
        fill_unseen(drafted_positions(*trained.recording, rows), positions[i]);
      }
  return positions;
}

/// Acceptance of positions that were not drafted, if they are as hard as the least confident quarter of the
/// seen ones: a stop rule ends drafts before hard positions, which a model of the seen ones takes as easy.
/// Absent without confidences.
std::optional<AcceptanceModel> hard_acceptance(const std::vector<DraftedPositions>& requests) {
  constexpr std::size_t parts = 4;
  std::vector<std::pair<double, bool>> seen;
  for (const DraftedPositions& positions : requests)
    for (const DraftedPosition& position : positions)
      if (position.bit != AcceptanceBit::unseen && !std::isnan(position.confidence))
        seen.emplace_back(position.confidence, position.bit == AcceptanceBit::accepted);
  if (seen.size() < parts) return std::nullopt;
  std::ranges::stable_sort(seen, {}, &std::pair<double, bool>::first);
  seen.resize(seen.size() / parts);
  const auto right = static_cast<double>(std::ranges::count(seen, true, &std::pair<double, bool>::second));
  // A share of 0 or 1 would make the other bit impossible.
  const auto all = static_cast<double>(seen.size());
  return iid_acceptance(std::clamp(right / all, 0.5 / all, 1.0 - 0.5 / all));
}

/// Adds the case in which drawn positions are hard, for a draft that reads its own keys and values.
Result<void> add_hard_case(const TrainedRecording& trained, const RunRows& first,
                           const std::vector<DraftedPositions>& positions,
                           const StrategySpecification& strategy, std::int64_t searches,
                           Redrafted& redrafted) {
  const auto model = hard_acceptance(positions);
  if (redrafted.drawn_rounds == 0 || predicts_alike_everywhere(strategy) || !model) return {};
  DraftedTexts texts = drafted_texts(first, positions, *model);
  add_off_text(trained, strategy, texts);
  add_places(strategy, positions, texts);
  DRAFTSCOPE_TRY_ASSIGN(Redrafted hard, redraft(trained, texts, strategy, searches));
  redrafted.most = std::move(hard.least);
  redrafted.has_hard_case = true;
  return {};
}

/// The search of a run with other parameters; nothing if it is not to be replayed.
std::optional<ReplayedSearch> replay_of(const TrainedRecording& trained, const RunRows& first,
                                        const StrategySpecification& recorded,
                                        const StrategySpecification& strategy) {
  const PartPrediction* const mask = part_prediction(strategy, PartKind::mask);
  if (mask == nullptr || mask->replay_search == nullptr) return std::nullopt;
  return mask->replay_search({first, recorded, trained.candidates, trained.layer_sets, trained.n_layers()},
                             strategy);
}

struct DraftSource {
  const RunRows* run = nullptr;
  std::string other_search;  ///< Parameters of the search that differ.
};

/// The run that tells most: of the same search, with siblings for a tree, of a search that can be replayed,
/// or the one whose drafts saw most positions.
DraftSource draft_source_of(const TrainedRecording& trained, const StrategySpecification& strategy,
                            std::span<const RunRows* const> runs) {
  DraftSource best;
  std::tuple<bool, bool, bool, std::int64_t> rank;
  for (const RunRows* const run : runs) {
    const auto recorded = run_specification(*run->run, trained.n_layers());
    if (!recorded) continue;
    DraftSource source{run, other_search(strategy, *recorded)};
    const RunRows first = first_repeat(*run);
    std::int64_t seen = 0;
    for (const DraftedPositions& positions : positions_of_run(*trained.recording, first))
      seen += std::ranges::count_if(
          positions, [](const DraftedPosition& position) { return position.bit != AcceptanceBit::unseen; });
    const bool has_widths =
        speculation::widths_of(strategy).empty() || !speculation::widths_of(*recorded).empty();
    const bool is_replayed =
        !source.other_search.empty() && replay_of(trained, first, *recorded, strategy).has_value();
    const std::tuple of_run(source.other_search.empty(), has_widths, is_replayed, seen);
    if (best.run != nullptr && of_run <= rank) continue;
    best = std::move(source);
    rank = of_run;
  }
  return best;
}

void add_drafted_notes(const StrategySpecification& strategy, const Redrafted& redrafted,
                       const DraftSource& source, bool is_exact, StrategyRounds& rounds) {
  const std::string& name = source.run->run->specification;
  rounds.notes.push_back(fmt::format("rounds follow from what run {} drafted", name));
  if (redrafted.drawn_rounds > 0)
    rounds.notes.push_back(fmt::format(
        "{} of {} rounds go by positions that were not drafted, drawn from a model of acceptance "
        "(two hidden states){}",
        redrafted.drawn_rounds, redrafted.rounds,
        predicts_alike_everywhere(strategy) ? "; record with --shadow to know those of exits" : ""));
  if (redrafted.has_hard_case)
    rounds.notes.emplace_back(
        "in the other case the positions that were not drafted are as hard as the least confident quarter of "
        "the drafted ones");
  if (drafts_with_next_token_layer(strategy.name())) {
    if (redrafted.moved_rounds > 0)
      rounds.notes.push_back(fmt::format(
          "{} of {} rounds begin where no recorded one did: there a position is taken to be as hard as "
          "recorded, and the layer to be right as often as it was at the same place of a draft",
          redrafted.moved_rounds, redrafted.rounds));
  } else if (!is_exact && redrafted.drawn_rounds == 0) {
    rounds.notes.emplace_back(
        "a draft that begins elsewhere is taken to predict the same, though it reads other keys and values "
        "of its own");
  }
}

/// The recorded search with other parameters; where it is not to be replayed, every round's set is unknown.
ReplayedSearch replayed_search(const TrainedRecording& trained, const RunRows& first,
                               const StrategySpecification& recorded, const StrategySpecification& strategy) {
  if (auto search = replay_of(trained, first, recorded, strategy)) return *std::move(search);
  ReplayedSearch search;
  for (const RequestRows& rows : first.requests)
    search.rounds.emplace_back(rows.rounds.size(), SearchedRound{.draft = RoundSet::unknown});
  const std::int64_t ended = ended_searches(first);
  search.has_ended = ended >= 0;
  search.searches = ended;
  return search;
}

/// How often tokens go wrong as a set grows old, by all runs of this draft whose searches recur.
AgeSlope slope_of(const TrainedRecording& trained, std::span<const RunRows* const> runs) {
  AgeRegression regression;
  for (const RunRows* const run : runs) {
    const RunRows first = first_repeat(*run);
    regression.add(first, positions_of_run(*trained.recording, first));
  }
  return regression.slope();
}

/// Whether the two differ in nothing but their search.
bool differs_in_search_alone(const StrategySpecification& asked, const StrategySpecification& recorded) {
  return asked.parts() == recorded.parts() &&
         std::ranges::all_of(parameter_differences(asked, recorded), [&](const ParameterDifference& other) {
           const speculation::ParameterRow row = parameter_row(asked, other.name);
           return row.is_of_search || row.is_of_draws || row.name.empty();
         });
}

/// Key of the draft, or one line that says why no rounds follow from recorded drafts.
Result<std::string> draft_key_of(const TrainedRecording& trained, const StrategySpecification& strategy) {
  std::string key = draft_key(strategy);
  if (!key.empty()) return key;
  const std::string& reason = strategy.no_replay().empty() ? trained.no_tables_reason : strategy.no_replay();
  return fail("strategy {}: {} (approximate), expected a recorded run of it", strategy.given(), reason);
}

/// Rounds of the recorded draft with another length, stop rule or shape. `searches`: as of redraft().
Result<StrategyRounds> redrafted_rounds(const TrainedRecording& trained,
                                        const StrategySpecification& strategy, std::string_view text,
                                        const DraftSource& source, std::span<const RunRows* const> runs,
                                        std::int64_t searches) {
  const RunRows first = first_repeat(*source.run);
  StrategyRounds rounds = rounds_on_texts(first, text);
  const std::vector<DraftedPositions> positions = positions_of_draft(trained, first, runs);
  DRAFTSCOPE_TRY_ASSIGN(DraftedTexts texts, drafted_texts(trained, first, positions));
  add_off_text(trained, strategy, texts);
  add_places(strategy, positions, texts);
  DRAFTSCOPE_TRY_ASSIGN(Redrafted redrafted, redraft(trained, texts, strategy, searches));
  DRAFTSCOPE_TRY(add_hard_case(trained, first, positions, strategy, searches, redrafted));
  // A draft of the layer is a prefix of a longer one that begins at the same token.
  const bool is_prefix = drafts_with_next_token_layer(strategy.name()) && redrafted.moved_rounds == 0 &&
                         !speculation::threshold_rule(strategy);
  const bool is_exact = (is_prefix || predicts_alike_everywhere(strategy)) && redrafted.drawn_rounds == 0;
  if (!is_exact) redrafted.status = AnswerStatus::approximate;
  DRAFTSCOPE_TRY(put_statistics(trained, trained.layer_sets, redrafted, first.run->id, rounds));
  if (rounds.drafts.empty()) rounds.verified_layers = specified_verified_layers(text);
  add_drafted_notes(strategy, redrafted, source, is_exact, rounds);
  return rounds;
}

/// Rounds of a recorded draft whose layers another search finds. Where each round drafts as recorded, they
/// are the recorded ones with the other search's passes.
Result<StrategyRounds> searched_rounds(const TrainedRecording& trained, const StrategySpecification& strategy,
                                       std::string_view text, const DraftSource& source,
                                       std::span<const RunRows* const> runs) {
  const RunRows first = first_repeat(*source.run);
  DRAFTSCOPE_TRY_ASSIGN(const auto recorded, run_specification(*source.run->run, trained.n_layers()));
  const ReplayedSearch search = replayed_search(trained, first, recorded, strategy);
  const std::int64_t searches = search.has_ended ? search.searches : -1;
  const SearchedRun searched(first, trained.layer_sets, search);
  const bool has_same_sets =
      search.is_exact && rounds_that_draft(search, RoundSet::recorded) == rounds_of_run(first);
  const bool is_same = has_same_sets && differs_in_search_alone(strategy, recorded);
  StrategyRounds rounds = rounds_on_texts(first, text);
  if (is_same && searches_as_recorded(search, first)) {
    DRAFTSCOPE_TRY_ASSIGN(rounds, recorded_rounds(trained, *source.run));
    rounds.strategy = std::string(text);
  } else if (is_same) {
    Redrafted same{.least = std::make_unique<RedraftedRun>(*source.run->run, strategy)};
    for (const RequestRows& rows : searched.rows().requests)
      same.least->add(rows, {rows.rounds.begin(), rows.rounds.end()});
    DRAFTSCOPE_TRY(put_statistics(trained, trained.layer_sets, same, first.run->id, rounds));
  } else if (has_same_sets) {
    DRAFTSCOPE_TRY_ASSIGN(rounds, redrafted_rounds(trained, strategy, text, source, runs, searches));
  } else {
    const std::vector<DraftedPositions> positions = positions_of_run(*trained.recording, first);
    const AgeSlope slope = slope_of(trained, runs);
    const PositionGroups groups = groups_of(search, first, positions, trained.set_agreement.get(), slope);
    DRAFTSCOPE_TRY_ASSIGN(const Redrafted redrafted,
                          redrafted_between(trained, searched.rows(), positions, groups, strategy, searches));
    DRAFTSCOPE_TRY(put_statistics(trained, searched.sets(), redrafted, first.run->id, rounds));
    rounds.notes = notes_of(search, groups, slope);
  }
  if (rounds.drafts.empty()) rounds.verified_layers = specified_verified_layers(text);
  const bool is_replayed = rounds_that_draft(search, RoundSet::unknown) < rounds_of_run(first);
  rounds.notes.push_back(fmt::format("the search of run {} is {} with {}{}", source.run->run->specification,
                                     is_replayed ? "replayed" : "not replayed: it would be one",
                                     source.other_search,
                                     has_same_sets ? ": every round drafts with the recorded set" : ""));
  return rounds;
}

}  // namespace

void fit_acceptance(const TrainedRecording& trained) {
  if (!trained.shadowed.tables.empty()) return;
  for (const RunRows& run : trained.runs) {
    const auto strategy = run_specification(*run.run, trained.n_layers());
    if (!strategy) continue;
    const auto runs = runs_of_draft(trained.runs, draft_key(*strategy), trained.n_layers());
    if (std::ranges::find(runs, &run) == runs.end()) continue;
    const RunRows first = first_repeat(run);
    (void)drafted_texts(trained, first, positions_of_draft(trained, first, runs));
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
  if (!source.other_search.empty()) return searched_rounds(trained, strategy, text, source, runs);
  return redrafted_rounds(trained, strategy, text, source, runs, ended_searches(first_repeat(*source.run)));
}

}  // namespace draftscope::simulator
