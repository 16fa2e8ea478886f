// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/drafts/auxiliary_times.h"

#include <draftscope/base/statistics.h>
#include <draftscope/speculation/catalogue/strategy_catalogue.h>
#include <draftscope/speculation/model_shape_json.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <unordered_set>

#include "analysis/run_specification.h"
#include "prices/passes/cost_prices.h"

namespace draftscope::simulator {

namespace {

bool is_two_model(const traces::Run& run) {
  return speculation::strategy_row(run.strategy).drafts_with_other_model &&
         !drafts_with_next_token_layer(run.strategy);
}

/// Rounds followed by a candidate from a model that was fitted first.
Result<std::unordered_set<traces::RoundId>> rounds_with_fits(traces::Reader& reader) {
  std::unordered_set<traces::RoundId> rounds;
  DRAFTSCOPE_TRY(reader.decisions([&](const traces::Decision& decision) {
    if (decision.detail.find(R"("candidate":"gaussian process")") != std::string::npos)
      rounds.insert(decision.round_id);
    return true;
  }));
  return rounds;
}

/// One interval of a request's time that went to auxiliary passes.
struct AuxiliaryPhase {
  std::vector<PassCount> counts;
  double ns = 0.0;
  std::size_t request = 0;  ///< Index among the requests of all runs.
  bool has_fit = false;
};

/// Auxiliary passes of a run, and their time by the law.
struct RunWork {
  const RunRows* run = nullptr;
  AuxiliaryPasses passes{};
  std::vector<AuxiliaryPhase> phases{};
  Prices law{};
  bool has_rules = false;         ///< Whether searches, and what precedes the first round, are phases.
  bool has_draft_phases = false;  ///< Whether drafts are phases.
};

using ByKind = std::array<double, auxiliary_pass_kind_count>;

/// Time of a phase's passes by the law.
ByKind law_by_kind(const RunWork& work, const AuxiliaryPhase& phase) {
  ByKind ns{};
  for (std::size_t i = 0; i < phase.counts.size(); ++i)
    ns[static_cast<std::size_t>(work.passes.kinds()[i].kind)] +=
        static_cast<double>(phase.counts[i].passes) * work.law.auxiliary[i].ns +
        static_cast<double>(phase.counts[i].context) * work.law.auxiliary[i].ns_per_context_row;
  return ns;
}

/// Measured times of one kind and their times by the law, per request.
struct KindTimes {
  struct Sum {
    double ns = 0.0;
    double law_ns = 0.0;
  };
  std::map<std::size_t, Sum> by_request;

  void add(std::size_t request, double ns, double law_ns) {
    Sum& sum = by_request[request];
    sum.ns += ns;
    sum.law_ns += law_ns;
  }
};

std::optional<MeasuredAuxiliaryPass> measured(AuxiliaryPassKind kind, const KindTimes& times) {
  KindTimes::Sum all;
  for (const auto& [request, sum] : times.by_request) {
    all.ns += sum.ns;
    all.law_ns += sum.law_ns;
  }
  if (!(all.ns > 0.0 && all.law_ns > 0.0)) return std::nullopt;
  MeasuredAuxiliaryPass pass{.kind = kind, .factor = all.ns / all.law_ns};
  double variance = 0.0;
  for (const auto& [request, sum] : times.by_request) {
    const double deviation = (sum.ns - pass.factor * sum.law_ns) / all.ns;
    variance += deviation * deviation;
  }
  constexpr double unknown_error = 0.1;
  const auto count = static_cast<double>(times.by_request.size());
  pass.relative_error = count > 1.0 ? std::sqrt(variance * count / (count - 1.0)) : unknown_error;
  return pass;
}

using TimesByKind = std::array<KindTimes, auxiliary_pass_kind_count>;

/// Factor of each kind; 0 where none was measured.
ByKind factors_of(const TimesByKind& times) {
  ByKind factors{};
  for (std::size_t kind = 0; kind < times.size(); ++kind)
    if (const auto pass = measured(static_cast<AuxiliaryPassKind>(kind), times[kind]))
      factors[kind] = pass->factor;
  return factors;
}

/// Adds phases of a single kind, or those of several: the time of the unknown kind is what the known ones
/// leave.
void add_phases_of(const RunWork& work, bool of_several, const ByKind& factors, TimesByKind& times) {
  for (const AuxiliaryPhase& phase : work.phases) {
    const ByKind law = law_by_kind(work, phase);
    const auto kinds = std::count_if(law.begin(), law.end(), [](double ns) { return ns > 0.0; });
    if (phase.has_fit || kinds == 0 || (kinds > 1) != of_several) continue;
    double rest_ns = phase.ns;
    std::optional<std::size_t> open;
    for (std::size_t kind = 0; kind < law.size(); ++kind) {
      if (law[kind] == 0.0) continue;
      if (factors[kind] > 0.0)
        rest_ns -= factors[kind] * law[kind];
      else
        open = kind;
    }
    if (open) times[*open].add(phase.request, std::max(rest_ns, 0.0), law[*open]);
  }
}

std::vector<MeasuredAuxiliaryPass> measured_passes(const std::vector<RunWork>& runs) {
  TimesByKind times;
  for (const RunWork& work : runs) add_phases_of(work, false, {}, times);
  const ByKind factors = factors_of(times);
  for (const RunWork& work : runs) add_phases_of(work, true, factors, times);
  std::vector<MeasuredAuxiliaryPass> passes;
  for (std::size_t kind = 0; kind < times.size(); ++kind)
    if (const auto pass = measured(static_cast<AuxiliaryPassKind>(kind), times[kind]))
      passes.push_back(*pass);
  return passes;
}

/// Time between a request's first token and its first round, in which a strategy may search.
std::int64_t before_first_round_ns(const RequestRows& request) {
  return std::max<std::int64_t>(request.rounds.front().start_ns - request.request->first_token_ns, 0);
}

AuxiliaryRound auxiliary_round(const RequestRows& request, const traces::Round& round) {
  return {.index = round.index,
          .prompt_tokens = static_cast<std::int32_t>(request.prompt->tokens.size()),
          .root_position = round.root_position,
          .accepted = round.accepted};
}

void add_phases(const RequestRows& request, bool is_first, const AuxiliaryWork& work, std::size_t number,
                const std::unordered_set<traces::RoundId>& fits, AuxiliaryPasses& passes,
                std::vector<AuxiliaryPhase>& phases) {
  AuxiliaryPhase first{
      .counts = {}, .ns = static_cast<double>(before_first_round_ns(request)), .request = number};
  work.after_prefill(static_cast<std::int32_t>(request.prompt->tokens.size()), is_first, passes,
                     first.counts);
  phases.push_back(std::move(first));
  for (const traces::Round& round : request.rounds) {
    if (round.optimise_ns <= 0) continue;
    AuxiliaryPhase phase{.counts = {},
                         .ns = static_cast<double>(round.optimise_ns),
                         .request = number,
                         .has_fit = fits.contains(round.id)};
    work.after_round(auxiliary_round(request, round), passes, phase.counts);
    phases.push_back(std::move(phase));
  }
}

/// Times of the host outside passes: after each round, up to the next one or the request's end, and before
/// the first round where no auxiliary passes ran.
void add_host_intervals(const RunWork& work, const RequestRows& request, std::vector<double>& intervals) {
  const std::int64_t before_ns = before_first_round_ns(request);
  if (!work.has_rules) intervals.push_back(static_cast<double>(before_ns));
  for (std::size_t i = 0; i < request.rounds.size(); ++i) {
    const traces::Round& round = request.rounds[i];
    const std::int64_t end_ns =
        i + 1 < request.rounds.size() ? request.rounds[i + 1].start_ns : request.request->end_ns;
    const bool has_priced_draft = round.layer_set_id != 0 || work.has_draft_phases;
    const std::int64_t passes_ns =
        round.verify_ns + (has_priced_draft ? round.draft_ns : 0) + (work.has_rules ? round.optimise_ns : 0);
    intervals.push_back(static_cast<double>(std::max<std::int64_t>(end_ns - round.start_ns - passes_ns, 0)));
  }
}

/// Sum without waits, which are the machine's and not the host's work: an interval far above the usual one
/// and beyond a tenth of a vanilla step counts as the usual one.
double without_waits(std::vector<double> intervals, double step_ns) {
  if (intervals.empty()) return 0.0;
  constexpr double usual_times = 10.0;
  constexpr double of_step = 0.1;
  const double usual = upper_median(intervals);
  const double longest = usual_times * usual + of_step * step_ns;
  return std::accumulate(intervals.begin(), intervals.end(), 0.0,
                         [&](double sum, double ns) { return sum + (ns > longest ? usual : ns); });
}

/// Time of a run's requests that prices of passes and rounds do not cover.
HostOfRun host_of(const RunWork& work, const std::vector<MeasuredAuxiliaryPass>& measured) {
  ByKind factors{};
  factors.fill(1.0);
  for (const MeasuredAuxiliaryPass& pass : measured)
    factors[static_cast<std::size_t>(pass.kind)] = pass.factor;
  std::vector<double> intervals;
  double covered_ns = 0.0;
  double rounds = 0.0;
  for (const RequestRows& request : work.run->requests) {
    if (request.rounds.empty()) continue;
    add_host_intervals(work, request, intervals);
    for (const traces::Round& round : request.rounds) {
      const bool is_step = round.drafted == 0 && round.verify_rows <= 1;
      rounds += 1.0;
      covered_ns += is_step ? work.law.step_round_ns : work.law.round_ns;
    }
  }
  double all_ns = without_waits(std::move(intervals), work.law.target_step.ns);
  for (const AuxiliaryPhase& phase : work.phases) {
    const ByKind law = law_by_kind(work, phase);
    all_ns += phase.ns;
    for (std::size_t kind = 0; kind < law.size(); ++kind) covered_ns += factors[kind] * law[kind];
  }
  HostOfRun host{.run_id = work.run->run->id, .strategy = work.run->run->strategy};
  if (rounds > 0.0) host.ns_per_round = (all_ns - covered_ns) / rounds;
  return host;
}

Result<RunWork> work_of_run(const RunRows& run, const traces::Recording& recording, const CostModel& model,
                            const std::unordered_set<traces::RoundId>& fits, const StagedPasses& staged,
                            std::size_t& requests) {
  RunWork work{.run = &run};
  Scenario scenario = fitted_scenario(model);
  const std::optional<AuxiliaryWork> rules = auxiliary_work_of(*run.run, model.shape);
  if (is_two_model(*run.run)) scenario.draft_model = draft_model_of(*run.run, recording.meta);
  for (std::size_t i = 0; i < run.requests.size(); ++i) {
    const RequestRows& request = run.requests[i];
    const std::size_t number = requests++;
    if (request.rounds.empty()) continue;
    work.has_rules = rules.has_value();
    if (rules)
      add_phases(request, is_first_of_repeat(run, i), *rules, number, fits, work.passes, work.phases);
    AuxiliaryPhase phase{.counts = {}, .ns = 0.0, .request = number};
    const bool drafts_beside = speculation::strategy_row(run.run->strategy).drafts_with_other_model;
    if (drafts_beside)
      count_draft_steps_beside(*run.run, request, scenario.draft_model.value_or(model.shape), work.passes,
                               phase.counts);
    else
      count_staged_passes(staged, request, work.passes, phase.counts);
    if (phase.counts.empty() && !drafts_beside) continue;
    work.has_draft_phases = true;
    for (const traces::Round& round : request.rounds)
      if (drafts_beside || staged.contains(round.id)) phase.ns += static_cast<double>(round.draft_ns);
    work.phases.push_back(std::move(phase));
  }
  scenario.auxiliary_passes = work.passes.kinds();
  DRAFTSCOPE_TRY_ASSIGN(work.law, prices(model, scenario));
  return work;
}

/// Adds the steps of another model of this shape that drafts, and its reads of earlier text.
void count_draft_model(const RequestRows& request, const ModelShape& shape, AuxiliaryPasses& passes,
                       std::vector<PassCount>& counts) {
  const std::int32_t layers = shape.n_layers;
  std::int32_t valid = 0;  // Rows of its K/V that contain the text.
  for (const traces::Round& round : request.rounds) {
    const std::int32_t steps = round.tree_depth;
    if (steps < 1) continue;
    const std::int32_t root = round.root_position;
    if (valid < root)
      passes.count({AuxiliaryPassKind::draft_model, root - valid, layers, layers, false}, 1, valid, counts);
    for (std::int32_t step = 0; step < steps; ++step)
      passes.count({AuxiliaryPassKind::draft_model, 1, layers, layers, true}, 1, root + step, counts);
    valid = std::min(root + steps, root + 1 + round.accepted);
  }
}

}  // namespace

std::optional<AuxiliaryWork> auxiliary_work_of(const traces::Run& run, const ModelShape& shape) {
  const auto parsed = run_specification(run, shape.n_layers);
  return parsed ? AuxiliaryWork::of(*parsed, shape) : std::nullopt;
}

std::optional<ModelShape> draft_model_of(const traces::Run& run, const traces::Meta& meta) {
  const nlohmann::json by_model = meta_object(meta, "draft_model_shapes");
  const auto parameters = nlohmann::json::parse(run.parameters, nullptr, false);
  if (!parameters.is_object()) return std::nullopt;
  const auto model = parameters.find("model");
  if (model == parameters.end() || !model->is_string()) return std::nullopt;
  const auto found = by_model.find(model->get_ref<const std::string&>());
  if (found == by_model.end()) return std::nullopt;
  auto shape = speculation::parse_recorded_shape(found->dump(), "meta draft_model_shapes");
  if (!shape) return std::nullopt;
  return *std::move(shape);
}

bool is_first_of_repeat(const RunRows& run, std::size_t request) {
  return request == 0 || run.requests[request].request->repeat != run.requests[request - 1].request->repeat;
}

void count_auxiliary_work(const RequestRows& request, bool is_first, const AuxiliaryWork& work,
                          AuxiliaryPasses& passes, std::vector<PassCount>& counts) {
  if (request.rounds.empty()) return;
  work.after_prefill(static_cast<std::int32_t>(request.prompt->tokens.size()), is_first, passes, counts);
  for (const traces::Round& round : request.rounds)
    if (round.optimise_ns > 0) work.after_round(auxiliary_round(request, round), passes, counts);
}

void count_draft_steps_beside(const traces::Run& run, const RequestRows& request, const ModelShape& shape,
                              AuxiliaryPasses& passes, std::vector<PassCount>& counts) {
  if (drafts_with_next_token_layer(run.strategy))
    count_next_token_layer(
        request, [](const traces::Round&) { return true; }, passes, counts);
  else
    count_draft_model(request, shape, passes, counts);
}

void add_host_time(std::span<const HostOfRun> hosts, traces::RunId like, StrategyRounds& rounds) {
  const auto host = std::ranges::find(hosts, like, &HostOfRun::run_id);
  if (host == hosts.end() || host->ns_per_round <= 0.0) return;
  for (auto* const side : {&rounds.setting.min_drafted, &rounds.setting.max_drafted})
    for (RoundStatistics& request : *side)
      request.host_ns += std::llround(host->ns_per_round * static_cast<double>(request.rounds));
}

Result<AuxiliaryTimes> auxiliary_times(traces::Reader& reader, const traces::Recording& recording,
                                       std::span<const RunRows> runs, const CostModel& model,
                                       const StagedPasses& staged) {
  DRAFTSCOPE_TRY_ASSIGN(const auto fits, rounds_with_fits(reader));
  std::vector<RunWork> works;
  std::size_t requests = 0;
  for (const RunRows& run : runs) {
    if (run.run->is_baseline) continue;
    DRAFTSCOPE_TRY_ASSIGN(RunWork work, work_of_run(run, recording, model, fits, staged, requests));
    works.push_back(std::move(work));
  }
  AuxiliaryTimes times;
  times.passes = measured_passes(works);
  for (const RunWork& work : works) times.hosts.push_back(host_of(work, times.passes));
  return times;
}

}  // namespace draftscope::simulator
