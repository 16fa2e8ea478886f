// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/redraft.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "rounds/drafts/auxiliary_times.h"
#include "rounds/drafts/recorded_statistics.h"
#include "rounds/replay/policy_choice.h"
#include "rounds/round_sources.h"
#include "strategies/parts/rule.h"

namespace draftscope::simulator {

namespace {

using speculation::StrategySpecification;

/// Adds one request's rounds to both runs.
void add_request(const RequestRows& rows, const std::vector<ReplayedRound>& replayed, SearchSchedule& for_min,
                 SearchSchedule& for_max, Redrafted& redrafted) {
  auto least = as_recorded(rows, replayed, Waste::least);
  auto most = as_recorded(rows, replayed, Waste::most);
  mark_searches(for_min, least);
  mark_searches(for_max, most);
  redrafted.least->add(rows, std::move(least));
  redrafted.most->add(rows, std::move(most));
}

/// Index of a kind, which is appended where it is new.
template <typename Kind>
std::size_t index_of(const Kind& kind, std::vector<Kind>& kinds) {
  const auto found = std::ranges::find(kinds, kind);
  if (found != kinds.end()) return static_cast<std::size_t>(found - kinds.begin());
  kinds.push_back(kind);
  return kinds.size() - 1;
}

/// Gives a request's drafts and auxiliary passes the numbers that their kinds have in `rounds`.
void renumber(const RecordedStatistics& other, RoundStatistics& request, StrategyRounds& rounds) {
  for (DraftStatistics& draft : request.drafts)
    if (draft.exit > 0 && !other.drafts.empty())
      draft.exit = static_cast<std::int32_t>(
                       index_of(other.drafts[static_cast<std::size_t>(draft.exit) - 1], rounds.drafts)) +
                   1;
  const std::vector<PassCount> counts = std::exchange(request.auxiliary, {});
  for (std::size_t kind = 0; kind < counts.size(); ++kind) {
    const std::size_t place = index_of(other.auxiliary_passes[kind], rounds.auxiliary_passes);
    if (request.auxiliary.size() <= place) request.auxiliary.resize(place + 1);
    request.auxiliary[place] = counts[kind];
  }
}

/// Adds the statistics of the other end. Where one end counts by exits and the other by sublayers, the other
/// end is left out.
template <typename StatisticsOf>
Result<void> put_other_end(const RedraftedRun& other_end, const StatisticsOf& statistics_of,
                           StrategyRounds& rounds) {
  DRAFTSCOPE_TRY_ASSIGN(RecordedStatistics most, statistics_of(other_end));
  if (most.drafts.empty() != rounds.drafts.empty()) return {};
  for (RoundStatistics& request : most.requests) renumber(most, request, rounds);
  rounds.setting.max_drafted = std::move(most.requests);
  return {};
}

}  // namespace

std::vector<DraftedPositions> positions_of_run(const traces::Recording& recording, const RunRows& run) {
  std::vector<DraftedPositions> positions;
  positions.reserve(run.requests.size());
  for (const RequestRows& rows : run.requests) positions.push_back(drafted_positions(recording, rows));
  return positions;
}

Result<DraftedTexts> drafted_texts(const TrainedRecording& trained, RunRows run,
                                   const std::vector<DraftedPositions>& positions) {
  const std::optional<AcceptanceModel>& model = trained.acceptance->of(run.run->id, [&] {
    std::vector<AcceptanceBits> bits(positions.size());
    std::ranges::transform(positions, bits.begin(), bits_at);
    return fit_markov_acceptance(bits);
  });
  if (!model)
    return fail("run {}: found no draft token that was judged, expected one", run.run->specification);
  return drafted_texts(std::move(run), positions, *model);
}

DraftedTexts drafted_texts(RunRows run, const std::vector<DraftedPositions>& positions,
                           const AcceptanceModel& model) {
  const SeenSteps seen = seen_steps(positions);
  DraftedTexts texts{.run = std::move(run),
                     .tables = {},
                     .has_confidences = seen.has_confidences(),
                     .has_siblings = seen.has_siblings};
  for (std::size_t i = 0; i < positions.size(); ++i)
    texts.tables.push_back(drafted_table(texts.run.requests[i], positions[i], model, seen));
  return texts;
}

bool has_drawn(const DraftedTable& table, const ReplayedRound& round) {
  const std::int32_t first = round.root_position + 1 - table.table.first;
  const std::int32_t end = std::min(first + std::min(round.least.steps(), round.least.accepted + 1),
                                    static_cast<std::int32_t>(table.is_drawn.size()));
  for (std::int32_t i = first; i < end; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const float confidence = table.table.cell(table.table.first + i, drafted_layer).probability;
    const std::int32_t width = speculation::width_at(round.plan.widths, static_cast<double>(confidence));
    if (table.is_drawn[at] || width > table.known_width[at]) return true;
  }
  return false;
}

Result<void> expect_replayable(const DraftedTexts& texts, const StrategySpecification& strategy) {
  if (!texts.has_confidences && speculation::threshold_rule(strategy))
    return fail("strategy {}: run {} has no confidences of draft tokens, expected them for a stop rule",
                strategy.given(), texts.run.run->specification);
  if (!texts.has_siblings && !speculation::widths_of(strategy).empty())
    return fail("strategy {}: run {} drafted no siblings, expected a run of the same draft with shape=tree",
                strategy.given(), texts.run.run->specification);
  return {};
}

Result<Redrafted> redraft(const TrainedRecording& trained, const DraftedTexts& texts,
                          const StrategySpecification& strategy, std::int64_t searches) {
  DRAFTSCOPE_TRY_ASSIGN(const std::unique_ptr<Policy> policy, chain_policy(strategy, drafted_layer));
  if (!trained.no_conditions_reason.empty())
    return fail("strategy {}: {}", strategy.given(), trained.no_conditions_reason);
  DRAFTSCOPE_TRY(expect_replayable(texts, strategy));
  Redrafted redrafted{.least = std::make_unique<RedraftedRun>(*texts.run.run, strategy),
                      .most = std::make_unique<RedraftedRun>(*texts.run.run, strategy)};
  SearchSchedule for_min(strategy, trained.n_layers(), searches);
  SearchSchedule for_max(strategy, trained.n_layers(), searches);
  for (std::size_t i = 0; i < texts.tables.size(); ++i) {
    const auto replayed = replay_rounds(texts.tables[i].table, *policy, trained.conditions);
    const std::span recorded(texts.run.requests[i].rounds);
    for (const ReplayedRound& round : replayed) {
      const bool is_moved =
          round.least.drafted > 0 &&
          !std::ranges::binary_search(recorded, round.root_position, {}, &traces::Round::root_position);
      redrafted.moved_rounds += is_moved ? 1 : 0;
      redrafted.status = std::max(redrafted.status, round.status);
      redrafted.drawn_rounds += has_drawn(texts.tables[i], round) ? 1 : 0;
    }
    redrafted.rounds += static_cast<std::int64_t>(replayed.size());
    add_request(texts.run.requests[i], replayed, for_min, for_max, redrafted);
  }
  if (redrafted.status == AnswerStatus::exact) redrafted.most.reset();
  return redrafted;
}

StrategyRounds rounds_on_texts(const RunRows& run, std::string_view strategy, RoundSource source) {
  StrategyRounds rounds{.strategy = std::string(strategy), .source = source};
  for (const RequestRows& rows : run.requests) {
    rounds.vanilla.push_back(vanilla_steps_of(rows, emitted_tokens(rows)));
    rounds.categories.push_back(rows.prompt->category);
    rounds.prompts.push_back(rows.prompt->id);
  }
  return rounds;
}

void put_statistics(RecordedStatistics statistics, StrategyRounds& rounds) {
  rounds.setting.min_drafted = std::move(statistics.requests);
  rounds.drafts = std::move(statistics.drafts);
  rounds.auxiliary_passes = std::move(statistics.auxiliary_passes);
  rounds.draft_model = std::move(statistics.draft_model);
  rounds.lacks_draft_model = statistics.lacks_draft_model;
}

Result<void> put_statistics(const TrainedRecording& trained, const LayerSetsById& sets,
                            const Redrafted& redrafted, traces::RunId like, StrategyRounds& rounds) {
  const auto statistics_of = [&](const RedraftedRun& run) {
    return recorded_statistics(run.rows(), sets, trained.recording->meta, trained.costs.model.shape);
  };
  DRAFTSCOPE_TRY_ASSIGN(RecordedStatistics least, statistics_of(*redrafted.least));
  put_statistics(std::move(least), rounds);
  rounds.setting.status = redrafted.status;
  if (redrafted.most != nullptr) DRAFTSCOPE_TRY(put_other_end(*redrafted.most, statistics_of, rounds));
  add_host_time(trained.hosts, like, rounds);
  return {};
}

}  // namespace draftscope::simulator
