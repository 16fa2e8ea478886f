// SPDX-License-Identifier: GPL-3.0-or-later
#include "what_if/drafted_rounds.h"

#include <draftscope/speculation/rules/rules_of.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "drafts/redrafted_run.h"
#include "drafts/run_specification.h"
#include "drafts/same_draft.h"
#include "replay/policy_choice.h"
#include "what_if/own_times.h"
#include "what_if/recorded_statistics.h"

namespace draftscope::simulator {

namespace {

using speculation::PartKind;
using speculation::StrategySpecification;

std::vector<DraftedPositions> positions_of(const TrainedRecording& trained, const RunRows& run) {
  std::vector<DraftedPositions> positions;
  positions.reserve(run.requests.size());
  for (const RequestRows& rows : run.requests)
    positions.push_back(drafted_positions(*trained.recording, rows));
  return positions;
}

/// What other runs of the same draft saw of the same texts.
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
  std::vector<DraftedPositions> positions = positions_of(trained, first);
  fill_from_others(trained, runs, first, positions);
  return drafted_texts(trained, std::move(first), positions);
}

/// Everything of a strategy but when its mask searches: who shares it has the same rounds.
nlohmann::json rules_beside_search(const StrategySpecification& strategy) {
  auto parameters = nlohmann::json::parse(strategy.json());
  for (const char* const of_the_search :
       {"interval", "unit", "carry-set", "window", "scored-on", "every", "gp-interval", "max-score",
        "max-iterations", "max-tolerance", "search-seed"})
    if (strategy.part(PartKind::mask) == "clasp" || strategy.part(PartKind::mask) == "swift")
      parameters.erase(of_the_search);
  return {{"parts", strategy.parts()}, {"parameters", std::move(parameters)}};
}

struct Source {
  const RunRows* run = nullptr;
  bool has_same_rules = false;  ///< all but when it searches
};

/// The run of the same rules if there is one, else the one whose drafts saw most positions.
Source source_of(const TrainedRecording& trained, const StrategySpecification& strategy,
                 std::span<const RunRows* const> runs) {
  Source best;
  std::int64_t most_seen = -1;
  for (const RunRows* const run : runs) {
    const auto recorded = run_specification(*run->run, trained.n_layers());
    if (recorded && strategy.has_parts() && recorded->has_parts() &&
        rules_beside_search(*recorded) == rules_beside_search(strategy))
      return {run, true};
    std::int64_t seen = 0;
    for (const DraftedPositions& positions : positions_of(trained, first_repeat(*run)))
      seen += std::ranges::count_if(
          positions, [](const DraftedPosition& position) { return position.bit != AcceptanceBit::unseen; });
    if (seen > most_seen) best = {run, false};
    most_seen = std::max(most_seen, seen);
  }
  return best;
}

/// Whether a draft at any place predicts what it predicted at its place in the recorded draft: keys and
/// values of an exit are the target's, those of another model its own.
bool predicts_alike_everywhere(const StrategySpecification& strategy) {
  return !strategy.has_parts() || strategy.part(PartKind::mask) == "exit";
}

/// Both ends of what a replay leaves open, as runs.
struct Redrafted {
  std::unique_ptr<RedraftedRun> least, most;
  AnswerStatus status = AnswerStatus::exact;
  std::int64_t drawn_rounds = 0;
  std::int64_t rounds = 0;
};

Redrafted redraft(const DraftedTexts& texts, const StrategySpecification& strategy, Policy& policy,
                  const ReplayConditions& conditions) {
  Redrafted redrafted{.least = std::make_unique<RedraftedRun>(*texts.run.run, strategy),
                      .most = std::make_unique<RedraftedRun>(*texts.run.run, strategy)};
  const std::int64_t searches = ended_searches(texts.run);
  SearchSchedule least_schedule(strategy, searches);
  SearchSchedule most_schedule(strategy, searches);
  for (std::size_t i = 0; i < texts.tables.size(); ++i) {
    const RequestRows& rows = texts.run.requests[i];
    const auto replayed = replay_rounds(texts.tables[i].table, policy, conditions);
    for (const ReplayedRound& round : replayed) {
      redrafted.status = std::max(redrafted.status, round.status);
      redrafted.drawn_rounds += has_drawn(texts.tables[i], round) ? 1 : 0;
    }
    redrafted.rounds += static_cast<std::int64_t>(replayed.size());
    auto least = as_recorded(rows, replayed, Waste::least);
    auto most = as_recorded(rows, replayed, Waste::most);
    mark_searches(least_schedule, least);
    mark_searches(most_schedule, most);
    redrafted.least->add(rows, std::move(least));
    redrafted.most->add(rows, std::move(most));
  }
  return redrafted;
}

/// The recorded rounds, with the searches of another schedule.
Redrafted rescheduled(const RunRows& run, const StrategySpecification& strategy) {
  Redrafted same{.least = std::make_unique<RedraftedRun>(*run.run, strategy),
                 .status = AnswerStatus::approximate};
  SearchSchedule schedule(strategy, ended_searches(run));
  for (const RequestRows& rows : run.requests) {
    std::vector<traces::Round> rounds(rows.rounds.begin(), rows.rounds.end());
    mark_searches(schedule, rounds);
    same.least->add(rows, std::move(rounds));
  }
  return same;
}

/// Fills in all that accounts of recorded rounds say.
Result<void> put_statistics(const TrainedRecording& trained, const Redrafted& redrafted,
                            StrategyRounds& rounds) {
  const auto statistics_of = [&](const RedraftedRun& run) {
    return recorded_statistics(run.rows(), trained.layer_sets, trained.recording->meta,
                               trained.costs.model.shape);
  };
  DRAFTSCOPE_TRY_ASSIGN(RecordedStatistics least, statistics_of(*redrafted.least));
  rounds.setting.least = std::move(least.requests);
  rounds.drafts = std::move(least.drafts);
  rounds.own_passes = std::move(least.own_passes);
  rounds.draft_model = std::move(least.draft_model);
  rounds.lacks_draft_model = least.lacks_draft_model;
  if (redrafted.most == nullptr || redrafted.status == AnswerStatus::exact) return {};
  DRAFTSCOPE_TRY_ASSIGN(RecordedStatistics most, statistics_of(*redrafted.most));
  // Both number their drafts and own passes in the order in which rounds have them.
  const auto is_same = [](const speculation::DraftSublayers& a, const speculation::DraftSublayers& b) {
    return a.attention == b.attention && a.mlp == b.mlp;
  };
  const bool is_alike =
      std::ranges::equal(most.drafts, rounds.drafts, is_same) && most.own_passes == rounds.own_passes;
  if (is_alike) rounds.setting.most = std::move(most.requests);
  return {};
}

void add_notes(const Redrafted& redrafted, const Source& source, bool is_exact, StrategyRounds& rounds) {
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

/// One line that says why no rounds follow from recorded drafts.
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

Result<DraftedTexts> drafted_texts(const TrainedRecording& trained, RunRows run,
                                   const std::vector<DraftedPositions>& positions) {
  const std::optional<AcceptanceModel>& model = trained.acceptance->of(run.run->id, [&] {
    std::vector<AcceptanceBits> bits(positions.size());
    std::ranges::transform(positions, bits.begin(), bits_at);
    return fit_markov_acceptance(bits);
  });
  if (!model)
    return fail("run {}: found no draft token that was judged, expected one", run.run->specification);
  const SeenConfidences confidences = seen_confidences(positions);
  DraftedTexts texts{.run = std::move(run), .tables = {}, .has_confidences = !confidences.empty()};
  for (std::size_t i = 0; i < positions.size(); ++i)
    texts.tables.push_back(drafted_table(texts.run.requests[i], positions[i], *model, confidences));
  return texts;
}

bool has_drawn(const DraftedTable& table, const ReplayedRound& round) {
  const std::int32_t first = round.root_position + 1 - table.table.first;
  const std::int32_t end = std::min(first + std::min(round.least.drafted, round.least.accepted + 1),
                                    static_cast<std::int32_t>(table.is_drawn.size()));
  for (std::int32_t i = first; i < end; ++i)
    if (table.is_drawn[static_cast<std::size_t>(i)]) return true;
  return false;
}

Result<StrategyRounds> drafted_rounds(const TrainedRecording& trained, std::string_view text) {
  if (const PolicyChoice choice = text_choice(*trained.recording); choice.status == AnswerStatus::invalid)
    return fail("strategy {}: {}", text, choice.reason);
  DRAFTSCOPE_TRY_ASSIGN(const StrategySpecification strategy,
                        speculation::parse_strategy(text, trained.n_layers()));
  DRAFTSCOPE_TRY_ASSIGN(const std::string key, draft_key_of(trained, strategy));
  const auto runs = runs_of_draft(trained.runs, key, trained.n_layers());
  if (runs.empty())
    return fail("strategy {}: {}, expected a recorded run of the same draft ({})", text,
                strategy.no_replay().empty() ? trained.no_tables_reason : strategy.no_replay(), key);
  const Source source = source_of(trained, strategy, runs);
  const RunRows first = first_repeat(*source.run);
  StrategyRounds rounds{.strategy = std::string(text), .source = RoundSource::modelled};
  for (const RequestRows& rows : first.requests) {
    rounds.vanilla.push_back(vanilla_steps_of(rows, emitted_tokens(rows)));
    rounds.categories.push_back(rows.prompt->category);
  }
  Redrafted redrafted;
  bool is_exact = false;
  if (source.has_same_rules) {
    redrafted = rescheduled(first, strategy);
  } else {
    DRAFTSCOPE_TRY_ASSIGN(const std::unique_ptr<Policy> policy, chain_policy(strategy, drafted_layer));
    if (!trained.no_conditions_reason.empty())
      return fail("strategy {}: {}", text, trained.no_conditions_reason);
    DRAFTSCOPE_TRY_ASSIGN(const DraftedTexts texts, texts_of(trained, *source.run, runs));
    if (!texts.has_confidences && speculation::threshold_rule(strategy))
      return fail("strategy {}: run {} has no confidences of draft tokens, expected them for a stop rule",
                  text, first.run->specification);
    redrafted = redraft(texts, strategy, *policy, trained.conditions);
    is_exact = predicts_alike_everywhere(strategy) && redrafted.drawn_rounds == 0;
    if (!is_exact) redrafted.status = AnswerStatus::approximate;
  }
  rounds.setting.status = redrafted.status;
  DRAFTSCOPE_TRY(put_statistics(trained, redrafted, rounds));
  rounds.verified_layers = rounds.drafts.empty() ? specified_verified_layers(text) : VerifiedLayers::all;
  if (const auto host = std::ranges::find(trained.hosts, first.run->id, &HostOfRun::run_id);
      host != trained.hosts.end() && host->ns_per_round > 0.0)
    add_host_time(host->ns_per_round, rounds);
  add_notes(redrafted, source, is_exact, rounds);
  return rounds;
}

}  // namespace draftscope::simulator
