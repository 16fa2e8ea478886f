// SPDX-License-Identifier: GPL-3.0-or-later
#include "prices/fit/cost_observations.h"

#include <draftscope/base/number.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/speculation/catalogue/strategy_catalogue.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "analysis/explain/interruptions.h"
#include "analysis/explain/thresholds.h"
#include "analysis/run_specification.h"
#include "prices/fit/cost_parameters.h"
#include "prices/fit/engine_law.h"
#include "prices/fit/operation_times.h"
#include "prices/fit/pass_times.h"

namespace draftscope::simulator {

namespace {

constexpr std::int64_t warm_up_rounds = 20;
constexpr std::int64_t longer_recording = 200;
constexpr std::int32_t max_round_rows = 1 << 16;  // Rounds that verify more rows are left out.

/// Rows of a pass, and those that its layers are launched for (0 = as many).
struct Rows {
  std::int32_t count = 1;
  std::int32_t planned = 0;

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 of a rewritten comparison for a pointer.
  friend auto operator<=>(const Rows&, const Rows&) = default;
};

/// The last row step that `planned` rows reach and `rows` do not; 0 if they reach the same steps.
std::int32_t step_beyond(std::int32_t rows, std::int32_t planned) {
  std::int32_t last = 0;
  for (const std::int32_t step : row_steps)
    if (rows < step && step <= planned) last = step;
  return last;
}

/// Coefficients of whole passes, cached per number of rows.
class Passes {
 public:
  explicit Passes(const CostObservations& of) : of_(of) {}

  /// Draft step on the target's weights, or on weights of another type.
  [[nodiscard]] CostCoefficients draft_step(const MeasuredPassKind& draft) {
    CostCoefficients sum;
    const PassForm one_row;
    const auto weights = draft.weights;
    add(sum, weights ? attention_coefficients(of_.shape, *weights, of_.width_law, one_row) : attention({}),
        draft.attention);
    add(sum, weights ? mlp_coefficients(of_.shape, *weights, of_.width_law, one_row) : mlp({}), draft.mlp);
    add(sum, head({}));
    sum.fixed[draft_step_parameter] += 1.0;
    return sum;
  }

  [[nodiscard]] CostCoefficients draft_start(const MeasuredPassKind& draft) const {
    return draft_start_coefficients(of_.shape, draft.weights.value_or(of_.weights), of_.width_law,
                                    draft.attention, draft.mlp);
  }

  /// Coefficients of a target pass whose first `few` layers run one row, the others all.
  [[nodiscard]] CostCoefficients target(Rows rows, std::int32_t few) {
    CostCoefficients sum;
    for (const auto& [count, width] : {std::pair{few, Rows{}}, std::pair{of_.shape.n_layers - few, rows}}) {
      if (count == 0) continue;
      add(sum, attention(width), count);
      add(sum, mlp(width), count);
    }
    add(sum, head(rows));
    sum.fixed[target_pass_parameter] += 1.0;
    return sum;
  }

  [[nodiscard]] CostCoefficients attention(Rows rows) {
    return part(attention_, rows, [&](const PassForm& form) {
      return attention_coefficients(of_.shape, of_.weights, of_.width_law, form);
    });
  }
  [[nodiscard]] CostCoefficients mlp(Rows rows) {
    return part(mlp_, rows, [&](const PassForm& form) {
      return mlp_coefficients(of_.shape, of_.weights, of_.width_law, form);
    });
  }

 private:
  using Cache = std::map<Rows, CostCoefficients>;

  template <typename Make>
  static CostCoefficients part(Cache& cache, Rows rows, const Make& make) {
    const auto found = cache.find(rows);
    if (found != cache.end()) return found->second;
    const PassForm form{.rows = static_cast<double>(rows.count),
                        .planned = static_cast<double>(rows.planned)};
    return cache.emplace(rows, make(form)).first->second;
  }
  CostCoefficients head(Rows rows) {
    return part(head_, rows, [&](const PassForm& form) {
      return operation_coefficients(speculation::Operation::head, of_.shape, of_.weights, of_.width_law,
                                    form);
    });
  }

  const CostObservations& of_;
  Cache attention_;
  Cache mlp_;
  Cache head_;
};

/// Kind of a group; with its context it identifies the group.
enum class GroupKind : std::uint8_t { draft, target, drafting_round, step_round, operation, layer };

struct GroupKey {
  GroupKind kind;
  std::int32_t a = 0;  ///< draft: steps; target: rows; operation: which
  std::int32_t b = 0;  ///< draft: attention sublayers; target: layers of one row; operation: rows
  std::int32_t c = 0;  ///< draft: MLP sublayers; target: rows that it is launched for, 0 = its own
  std::int64_t bucket = 0;

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 of a rewritten comparison for a pointer.
  friend auto operator<=>(const GroupKey&, const GroupKey&) = default;
};

struct RoundContext {
  speculation::DraftSublayers draft;  ///< None for guesses.
  bool above_exit = false;            ///< Whether the verification runs one row below the exit.
  traces::RunId run_id;
  std::int64_t block = 0;
  /// The row step that its verification is launched for beyond those of the rows that it has; 0 = none.
  std::int32_t launched_rows = 0;
  bool is_vanilla = false;  ///< Whether its target steps are those of vanilla decoding, or replace them.
  /// Whether the time of its rounds outside passes is the usual one: its strategy makes no auxiliary passes,
  /// or all do.
  bool has_usual_rest = true;
};

/// Relative deviation of one time, over all groups of a kind, since a few times do not determine theirs.
std::map<GroupKind, double> relative_deviations(const std::map<GroupKey, RegularTime>& groups) {
  std::map<GroupKind, double> sums;
  std::map<GroupKind, double> counts;
  for (const auto& [key, time] : groups) {
    sums[key.kind] += time.count * time.relative_deviation;
    counts[key.kind] += time.count;
  }
  std::map<GroupKind, double> deviations;
  for (const auto& [kind, sum] : sums) deviations[kind] = sum / counts[kind];
  return deviations;
}

class CostCollector {
 public:
  explicit CostCollector(CostObservations& out) : out_(out), passes_(out) {}

  void add_round(const traces::Round& round, const RoundContext& of) {
    const double root = round.root_position;
    const bool has_draft = of.draft.attention + of.draft.mlp > 0;
    const bool is_round = round.drafted > 0 || round.verify_rows > 1;
    const std::int32_t few =
        of.above_exit && has_draft ? std::clamp(round.exit_layer, 0, out_.shape.n_layers) : 0;
    const std::int64_t draft_ns = round.draft_ns;
    const std::int64_t rest_ns =
        round.end_ns - round.start_ns - draft_ns - round.verify_ns - round.optimise_ns;
    const auto verify_ns = static_cast<double>(round.verify_ns);
    if (is_round || of.is_vanilla)
      put({GroupKind::target, round.verify_rows, few, of.launched_rows, bucket(root)}, root, verify_ns);
    if (verify_ns > 0.0 && of.launched_rows == 0)
      pass_times_[{.is_vanilla = !is_round && of.is_vanilla,
                   .rows = round.verify_rows,
                   .one_row = few,
                   .n_layers = out_.shape.n_layers}]
          .push_back({.ns = verify_ns, .context = root, .run_id = of.run_id, .block = of.block});
    if (is_round ? of.has_usual_rest : of.is_vanilla)
      put({is_round ? GroupKind::drafting_round : GroupKind::step_round, 0, 0, 0, 0}, 0.0,
          static_cast<double>(std::max<std::int64_t>(rest_ns, 1)));
    if (is_round) ++out_.drafting_rounds;
    if (has_draft) {
      const std::int32_t steps = round.tree_depth;
      const double middle = root + 0.5 * (steps - 1);
      // The law is for the target's weights; other weights have separate passes.
      const auto own_weights = of.draft.weights;
      if (!own_weights)
        put({GroupKind::draft, steps, of.draft.attention, of.draft.mlp, bucket(middle)}, middle,
            static_cast<double>(draft_ns));
      if (draft_ns > 0)
        pass_times_[{.is_draft = true,
                     .attention = of.draft.attention,
                     .mlp = of.draft.mlp,
                     .n_layers = out_.shape.n_layers,
                     .weights = own_weights ? std::optional(weight_type_of(*own_weights)) : std::nullopt}]
            .push_back(
                {static_cast<double>(draft_ns), static_cast<double>(steps), middle, of.run_id, of.block});
    }
    out_.total_wall_ns +=
        static_cast<double>(round.end_ns - round.start_ns - round.optimise_ns - (has_draft ? 0 : draft_ns)) -
        (of.launched_rows > 0 ? verify_ns : 0.0);
    out_.rounds += 1;
    out_.largest_rows = std::max(out_.largest_rows, round.verify_rows);
    out_.largest_context = std::max(out_.largest_context, root + round.tree_depth);
  }

  void add_operation(const TimedOperation& timed, std::int32_t rows, double context) {
    if (timed.is_layer)
      put({GroupKind::layer, 0, rows, 0, bucket(context)}, context, timed.ns);
    else
      put({GroupKind::operation, static_cast<std::int32_t>(timed.operation), rows, 0, bucket(context)},
          context, timed.ns);
  }

  void finish() {
    const bool is_busy = out_.interrupted_share >= thresholds::interrupted_share;
    const double beyond_ns = interruption_ns(pass_times_, is_busy);
    std::map<GroupKey, RegularTime> regular_times;
    for (const auto& [key, times] : groups_) {
      const bool is_part = key.kind == GroupKind::operation || key.kind == GroupKind::layer;
      const bool is_rest = key.kind == GroupKind::drafting_round || key.kind == GroupKind::step_round;
      // The time outside passes is short, and other machines do not have its waits.
      const bool is_told = is_busy ? is_rest : is_part;
      regular_times[key] = regular_of(times, uninterrupted_medians, is_told ? 0.0 : beyond_ns, is_busy);
    }
    const auto deviations = relative_deviations(regular_times);
    for (const auto& [key, times] : groups_) {
      const RegularTime& regular = regular_times[key];
      if (!(regular.ns > 0.0)) continue;
      CostObservation observation;
      observation.ns = regular.ns;
      observation.samples = static_cast<double>(times.size());
      const double dependence = is_busy ? 1.0 : dependence_of_passes;  // Interruptions are independent.
      observation.relative_error = dependence * deviations.at(key.kind) / std::sqrt(regular.count);
      fill(key, regular.context, observation);
      out_.groups.push_back(observation);
      if (observation.level != CostLevel::round) continue;
      for (const TimedPass& time : times) out_.interruptions_ns += static_cast<double>(time.ns) - regular.ns;
    }
    MeasuredPasses measured =
        measure(pass_times_, beyond_ns, [this](const MeasuredPassKind& kind, double steps, double context) {
          return kind.is_draft ? draft(kind, steps, context)
                               : at_context(passes_.target({kind.rows}, kind.one_row), context);
        });
    std::erase_if(measured.passes, [](const MeasuredPass& pass) { return pass.ns <= 0.0; });
    out_.passes = std::move(measured.passes);
    out_.runs = std::move(measured.runs);
    out_.interruptions_ns += measured.interruptions_ns;
  }

 private:
  void put(const GroupKey& key, double context, double ns) {
    groups_[key].push_back({static_cast<float>(ns), static_cast<float>(context)});
  }
  static std::int64_t bucket(double context) { return static_cast<std::int64_t>(context / 64.0); }

  CostVector draft(const MeasuredPassKind& kind, double steps, double context) {
    CostVector sum{};
    add_to(sum, at_context(passes_.draft_step(kind), context), steps);
    add_to(sum, passes_.draft_start(kind).fixed);
    return sum;
  }

  void fill(const GroupKey& key, double context, CostObservation& observation) {
    switch (key.kind) {
      case GroupKind::draft:
        observation.coefficients = draft({.attention = key.b, .mlp = key.c}, key.a, context);
        break;
      case GroupKind::target:
        observation.coefficients = at_context(passes_.target({key.a, key.c}, key.b), context);
        break;
      case GroupKind::drafting_round:
      case GroupKind::step_round:
        observation.level = CostLevel::round;
        observation
            .coefficients[key.kind == GroupKind::drafting_round ? round_parameter : step_round_parameter] =
            1.0;
        break;
      case GroupKind::layer: {
        observation.level = CostLevel::layer;
        CostCoefficients layer = passes_.attention({key.b});
        add(layer, passes_.mlp({key.b}));
        observation.coefficients = at_context(layer, context);
        break;
      }
      case GroupKind::operation:
        observation.level = CostLevel::operation;
        fill_operation(static_cast<speculation::Operation>(key.a), key.b, context, observation);
        break;
    }
  }

  void fill_operation(speculation::Operation operation, std::int32_t rows, double context,
                      CostObservation& observation) {
    const CostCoefficients one = operation_coefficients(operation, out_.shape, out_.weights, out_.width_law,
                                                        {.rows = static_cast<double>(rows)});
    observation.coefficients = at_context(one, context);
  }

  CostObservations& out_;
  Passes passes_;
  std::map<GroupKey, std::vector<TimedPass>> groups_;
  PassTimes pass_times_;
};

/// Block of each request: one number per prompt and repeat.
std::unordered_map<traces::RequestId, std::int64_t> blocks_of_requests(const traces::Recording& recording) {
  std::map<std::pair<traces::PromptId, std::int32_t>, std::int64_t> numbers;
  std::unordered_map<traces::RequestId, std::int64_t> blocks;
  for (const traces::Request& request : recording.requests) {
    const auto next = static_cast<std::int64_t>(numbers.size());
    blocks.emplace(request.id, numbers.try_emplace({request.prompt_id, request.repeat}, next).first->second);
  }
  return blocks;
}

Result<void> read_identity(const traces::Recording& recording, CostObservations& out) {
  DRAFTSCOPE_TRY_ASSIGN(out.shape, recorded_shape(recording.meta));
  DRAFTSCOPE_TRY_ASSIGN(out.weights, recorded_weight_type(recording.meta));
  out.on_gpu = is_gpu_recording(recording.meta);
  out.width_law = out.on_gpu ? WidthLaw::steps : WidthLaw::ramp;
  out.launches_as_planned = out.on_gpu && recorded_engine(recording.meta).launches_as_planned;
  return {};
}

using RunOfRequest = std::unordered_map<traces::RequestId, const traces::Run*>;

RunOfRequest runs_of_requests(const traces::Recording& recording) {
  std::unordered_map<traces::RunId, const traces::Run*> runs;
  for (const traces::Run& run : recording.runs) runs.emplace(run.id, &run);
  RunOfRequest run_of_request;
  for (const traces::Request& request : recording.requests)
    run_of_request.emplace(request.id, runs.at(request.run_id));
  return run_of_request;
}

/// Runs whose strategy made auxiliary passes; empty if every run that drafts did.
std::unordered_set<traces::RunId> runs_with_auxiliary_passes(const std::vector<const traces::Round*>& rounds,
                                                             const RunOfRequest& run_of_request) {
  std::unordered_set<traces::RunId> with;
  std::unordered_set<traces::RunId> drafting;
  for (const traces::Round* round : rounds) {
    const traces::RunId run_id = run_of_request.at(round->request_id)->id;
    if (round->optimise_ns > 0) with.insert(run_id);
    if (round->drafted > 0) drafting.insert(run_id);
  }
  const bool has_others = std::any_of(drafting.begin(), drafting.end(),
                                      [&](traces::RunId run_id) { return !with.contains(run_id); });
  return has_others ? with : std::unordered_set<traces::RunId>();
}

struct UsedRounds {
  std::vector<const traces::Round*> rounds;  ///< Rounds in order of time, without those of the warm-up.
  bool has_vanilla = false;
};

UsedRounds used_rounds(const traces::Recording& recording, const RunOfRequest& run_of_request) {
  UsedRounds used;
  for (const traces::Round& round : recording.rounds) {
    if (round.end_ns <= round.start_ns) continue;
    used.rounds.push_back(&round);
    used.has_vanilla = used.has_vanilla || run_of_request.at(round.request_id)->is_baseline;
  }
  std::sort(used.rounds.begin(), used.rounds.end(), [](const traces::Round* a, const traces::Round* b) {
    return std::tie(a->start_ns, a->id) < std::tie(b->start_ns, b->id);
  });
  if (static_cast<std::int64_t>(used.rounds.size()) > longer_recording)
    used.rounds.erase(used.rounds.begin(), used.rounds.begin() + warm_up_rounds);
  return used;
}

/// Collects passes and rounds; returns the rounds whose operations can be separated.
OperationRounds collect_rounds(const traces::Recording& recording, const CostObservations& of,
                               CostCollector& collector) {
  const std::int32_t n_layers = of.shape.n_layers;
  const LayerSetsById sets = layer_sets_by_id(recording);
  const RunOfRequest run_of_request = runs_of_requests(recording);
  const auto blocks = blocks_of_requests(recording);
  std::unordered_set<traces::RunId> above_exit;
  std::unordered_map<traces::RunId, DraftWeights> draft_weights;
  for (const traces::Run& run : recording.runs) {
    if (verifies_above_exit(run)) above_exit.insert(run.id);
    draft_weights.emplace(run.id, DraftWeights(run, recording.meta, n_layers));
  }
  const UsedRounds used = used_rounds(recording, run_of_request);
  const auto with_auxiliary = runs_with_auxiliary_passes(used.rounds, run_of_request);
  std::unordered_map<traces::RequestId, std::int32_t> first_roots;
  if (of.launches_as_planned)
    for (const traces::Round& round : recording.rounds) {
      std::int32_t& first = first_roots.try_emplace(round.request_id, round.root_position).first->second;
      first = std::min(first, round.root_position);
    }
  const std::int32_t max_new_tokens = recorded_token_budget(recording.meta);
  OperationRounds timed_rounds;
  for (const traces::Round* round : used.rounds) {
    const auto set = sets.find(round->layer_set_id);
    if (round->verify_rows < 1 || round->verify_rows > max_round_rows || round->root_position < 0 ||
        (round->layer_set_id != 0 && (set == sets.end() || round->drafted < 1 || round->tree_depth < 1)))
      continue;
    const traces::Run& run = *run_of_request.at(round->request_id);
    const bool is_vanilla = run.is_baseline || !used.has_vanilla;
    const bool is_above = above_exit.contains(run.id);
    const speculation::DraftSublayers draft =
        draft_with(set == sets.end() ? nullptr : set->second, draft_weights.at(run.id));
    const std::int32_t launched_rows =
        of.launches_as_planned
            ? step_beyond(round->verify_rows,
                          planned_rows(*round, first_roots.at(round->request_id), max_new_tokens))
            : 0;
    collector.add_round(*round, {.draft = draft,
                                 .above_exit = is_above,
                                 .run_id = run.id,
                                 .block = blocks.at(round->request_id),
                                 .launched_rows = launched_rows,
                                 .is_vanilla = is_vanilla,
                                 .has_usual_rest = !with_auxiliary.contains(run.id)});
    if (round->tree_depth != round->drafted || draft.weights) continue;
    timed_rounds.emplace(round->id,
                         OperationRound{.verify_rows = round->verify_rows,
                                        .draft_steps = round->drafted,
                                        .root = round->root_position,
                                        .draft = draft,
                                        .n_layers = n_layers,
                                        .mixed_rows = (is_above && round->drafted > 0) || launched_rows > 0});
  }
  return timed_rounds;
}

}  // namespace

Result<CostObservations> read_cost_observations(traces::Reader& reader, const traces::Recording& recording,
                                                const std::function<bool()>& go_on) {
  CostObservations out;
  DRAFTSCOPE_TRY(read_identity(recording, out));
  out.interrupted_share = interruptions(rows_by_run(recording)).share();
  CostCollector collector(out);
  const OperationRounds timed_rounds = collect_rounds(recording, out, collector);
  if (out.rounds == 0)
    return fail("{}: no round is usable, expected rounds with chains of drafts or target steps",
                recording.path.string());
  DRAFTSCOPE_TRY(visit_operation_times(
      reader, recording, out.on_gpu, timed_rounds,
      [&](const TimedOperation& timed, std::int32_t rows, double context) {
        collector.add_operation(timed, rows, context);
      },
      go_on));
  collector.finish();
  return out;
}

}  // namespace draftscope::simulator
