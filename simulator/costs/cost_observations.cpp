// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/cost_observations.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "observation_groups.h"
#include "operation_times.h"

namespace draftscope::simulator {

namespace {

constexpr std::int64_t warm_up_rounds = 20;
constexpr std::int64_t longer_recording = 200;

std::string meta_text(const traces::Meta& meta, const std::string& key) {
  const auto found = meta.find(key);
  return found == meta.end() ? std::string() : found->second;
}

/// Layers of the draft whose attention and whose MLP run.
std::unordered_map<std::int64_t, DraftLayers> layers_by_set(const traces::Recording& recording) {
  std::unordered_map<std::int64_t, DraftLayers> layers;
  for (const traces::LayerSet& set : recording.layer_sets) {
    DraftLayers counts;
    const std::size_t bits =
        std::min(set.skipped.size() * 8, 2 * static_cast<std::size_t>(std::max(set.n_layers, 0)));
    for (std::size_t bit = 0; bit < bits; ++bit)
      if ((set.skipped[bit / 8] >> (bit % 8) & 1U) == 0) ++(bit % 2 == 0 ? counts.attention : counts.mlp);
    layers.emplace(set.id, counts);
  }
  return layers;
}

bool verifies_above_exit(const traces::Run& run) {
  const auto parameters = nlohmann::json::parse(run.parameters, nullptr, false);
  if (!parameters.is_object()) return false;
  const auto found = parameters.find("verify");
  return found != parameters.end() && found->is_string() && found->get<std::string>() == "above-exit";
}

/// Coefficients of whole passes; those of each number of rows are computed once.
class Passes {
 public:
  explicit Passes(const CostObservations& of) : of_(of) {}

  [[nodiscard]] CostCoefficients draft_step(const DraftLayers& layers) {
    CostCoefficients sum;
    add(sum, attention(1), layers.attention);
    add(sum, mlp(1), layers.mlp);
    add(sum, head(1));
    sum.fixed[draft_step_parameter] += 1.0;
    return sum;
  }

  /// The first `few` layers run one row, the others all.
  [[nodiscard]] CostCoefficients target(std::int32_t rows, std::int32_t few) {
    CostCoefficients sum;
    for (const auto& [count, width] : {std::pair{few, 1}, std::pair{of_.shape.n_layers - few, rows}}) {
      if (count == 0) continue;
      add(sum, attention(width), count);
      add(sum, mlp(width), count);
    }
    add(sum, head(rows));
    sum.fixed[target_pass_parameter] += 1.0;
    return sum;
  }

  [[nodiscard]] CostCoefficients attention(std::int32_t rows) {
    return part(attention_, rows, [&](const PassForm& form) {
      return attention_coefficients(of_.shape, of_.weights, of_.width_law, form);
    });
  }
  [[nodiscard]] CostCoefficients mlp(std::int32_t rows) {
    return part(mlp_, rows, [&](const PassForm& form) {
      return mlp_coefficients(of_.shape, of_.weights, of_.width_law, form);
    });
  }

 private:
  using Cache = std::map<std::int32_t, CostCoefficients>;

  template <typename Make>
  static CostCoefficients part(Cache& cache, std::int32_t rows, const Make& make) {
    const auto found = cache.find(rows);
    if (found != cache.end()) return found->second;
    return cache.emplace(rows, make(PassForm{.rows = static_cast<double>(rows)})).first->second;
  }
  CostCoefficients head(std::int32_t rows) {
    return part(head_, rows, [&](const PassForm& form) {
      return operation_coefficients(Operation::head, of_.shape, of_.weights, of_.width_law, form);
    });
  }

  const CostObservations& of_;
  Cache attention_;
  Cache mlp_;
  Cache head_;
};

CostVector at_context(const CostCoefficients& coefficients, double context) {
  CostVector sum = coefficients.fixed;
  for (std::size_t i = 0; i < cost_parameter_count; ++i) sum[i] += context * coefficients.a_context_row[i];
  return sum;
}

void add_to(CostVector& sum, const CostVector& part, double count = 1.0) {
  for (std::size_t i = 0; i < cost_parameter_count; ++i) sum[i] += count * part[i];
}

/// What identifies a group beside its context.
enum class Kind : std::uint8_t { draft, target, drafting_round, step_round, operation, layer };

struct GroupKey {
  Kind kind;
  std::int32_t a = 0;  ///< draft: steps; target: rows; operation: which
  std::int32_t b = 0;  ///< draft: attention sublayers; target: layers of one row; operation: rows
  std::int32_t c = 0;  ///< draft: MLP sublayers
  std::int64_t bucket = 0;

  [[nodiscard]] bool operator<(const GroupKey& other) const {
    return std::tie(kind, a, b, c, bucket) < std::tie(other.kind, other.a, other.b, other.c, other.bucket);
  }
};

class Collector {
 public:
  explicit Collector(CostObservations& out) : out_(out), passes_(out) {}

  void add_round(const traces::Round& round, const DraftLayers& layers, bool above_exit) {
    const double root = round.root_position;
    const std::int32_t few =
        above_exit && round.drafted > 0 ? std::min(round.exit_layer, out_.shape.n_layers) : 0;
    const std::int64_t rest_ns =
        round.end_ns - round.start_ns - round.draft_ns - round.verify_ns - round.optimise_ns;
    put({Kind::target, round.verify_rows, few, 0, bucket(root)}, root, static_cast<double>(round.verify_ns));
    put({round.drafted > 0 ? Kind::drafting_round : Kind::step_round, 0, 0, 0, 0}, 0.0,
        static_cast<double>(std::max<std::int64_t>(rest_ns, 1)));
    add_to(out_.total_coefficients, at_context(passes_.target(round.verify_rows, few), root));
    out_.total_coefficients[round.drafted > 0 ? round_parameter : step_round_parameter] += 1.0;
    if (round.drafted > 0) {
      const double middle = root + 0.5 * (round.drafted - 1);
      put({Kind::draft, round.drafted, layers.attention, layers.mlp, bucket(middle)}, middle,
          static_cast<double>(round.draft_ns));
      add_to(out_.total_coefficients, at_context(passes_.draft_step(layers), middle), round.drafted);
    }
    out_.total_wall_ns += static_cast<double>(round.end_ns - round.start_ns - round.optimise_ns);
    out_.rounds += 1;
    out_.largest_rows = std::max(out_.largest_rows, round.verify_rows);
    out_.largest_context = std::max(out_.largest_context, root + round.drafted);
  }

  void add_operation(const TimedOperation& timed, std::int32_t rows, double context) {
    if (timed.is_layer)
      put({Kind::layer, 0, rows, 0, bucket(context)}, context, timed.ns);
    else
      put({Kind::operation, static_cast<std::int32_t>(timed.operation), rows, 0, bucket(context)}, context,
          timed.ns);
  }

  void finish() {
    for (auto& [key, times] : groups_) {
      const TypicalTime typical = typical_of(times);
      if (typical.ns <= 0.0) continue;
      CostObservation observation;
      observation.ns = typical.ns;
      observation.samples = static_cast<double>(times.size());
      fill(key, typical.context, observation);
      out_.groups.push_back(observation);
    }
  }

 private:
  void put(const GroupKey& key, double context, double ns) {
    groups_[key].push_back({static_cast<float>(ns), static_cast<float>(context)});
  }
  static std::int64_t bucket(double context) { return static_cast<std::int64_t>(context / 64.0); }

  void fill(const GroupKey& key, double context, CostObservation& observation) {
    switch (key.kind) {
      case Kind::draft:
        add_to(observation.coefficients, at_context(passes_.draft_step({key.b, key.c}), context), key.a);
        break;
      case Kind::target:
        observation.coefficients = at_context(passes_.target(key.a, key.b), context);
        break;
      case Kind::drafting_round:
      case Kind::step_round:
        observation.level = CostLevel::round;
        observation.coefficients[key.kind == Kind::drafting_round ? round_parameter : step_round_parameter] =
            1.0;
        break;
      case Kind::layer: {
        observation.level = CostLevel::layer;
        CostCoefficients layer = passes_.attention(key.b);
        add(layer, passes_.mlp(key.b));
        observation.coefficients = at_context(layer, context);
        break;
      }
      case Kind::operation:
        observation.level = CostLevel::operation;
        fill_operation(static_cast<Operation>(key.a), key.b, context, observation);
        break;
    }
  }

  void fill_operation(Operation operation, std::int32_t rows, double context, CostObservation& observation) {
    const CostCoefficients one = operation_coefficients(operation, out_.shape, out_.weights, out_.width_law,
                                                        {.rows = static_cast<double>(rows)});
    observation.coefficients = at_context(one, context);
  }

  CostObservations& out_;
  Passes passes_;
  ObservationGroups<GroupKey> groups_;
};

Result<void> read_identity(const traces::Recording& recording, CostObservations& out) {
  DRAFTSCOPE_TRY_ASSIGN(out.shape, recorded_shape(recording.meta));
  // "as-stored", "fp8", or nothing in older files.
  const std::string weights = meta_text(recording.meta, "weights");
  const bool is_stored = weights.empty() || weights == "as-stored";
  DRAFTSCOPE_TRY_ASSIGN(out.weights,
                        parse_weight_type(is_stored ? meta_text(recording.meta, "dtype") : weights));
  // A recording says "cpu", or the device's own name.
  const std::string device = meta_text(recording.meta, "device");
  out.on_gpu = !device.empty() && device != "cpu";
  out.width_law = out.on_gpu ? WidthLaw::steps : WidthLaw::ramp;
  return {};
}

}  // namespace

Result<CostObservations> read_cost_observations(traces::Reader& reader, const traces::Recording& recording,
                                                const std::function<bool(const traces::Run&)>& use) {
  CostObservations out;
  DRAFTSCOPE_TRY(read_identity(recording, out));
  const auto layers = layers_by_set(recording);
  std::unordered_map<std::int64_t, const traces::Run*> run_of_request;
  for (const traces::Request& request : recording.requests)
    for (const traces::Run& run : recording.runs)
      if (run.id == request.run && (!use || use(run))) run_of_request.emplace(request.id, &run);
  std::unordered_set<std::int64_t> above_exit;
  for (const traces::Run& run : recording.runs)
    if (verifies_above_exit(run)) above_exit.insert(run.id);

  std::vector<const traces::Round*> rounds;
  for (const traces::Round& round : recording.rounds)
    if (run_of_request.contains(round.request) && round.end_ns > round.start_ns) rounds.push_back(&round);
  std::sort(rounds.begin(), rounds.end(), [](const traces::Round* a, const traces::Round* b) {
    return std::tie(a->start_ns, a->id) < std::tie(b->start_ns, b->id);
  });
  if (static_cast<std::int64_t>(rounds.size()) > longer_recording)
    rounds.erase(rounds.begin(), rounds.begin() + warm_up_rounds);

  Collector collector(out);
  OperationRounds timed_rounds;
  constexpr std::int32_t most_rows = 1 << 16;
  for (const traces::Round* round : rounds) {
    const auto found = layers.find(round->layer_set);
    const bool has_layers = found != layers.end();
    if (round->tree_depth != round->drafted || round->verify_rows < 1 || round->verify_rows > most_rows ||
        round->root_position < 0 || (round->drafted > 0 && !has_layers))
      continue;
    const bool is_above = above_exit.contains(run_of_request[round->request]->id);
    const DraftLayers of_draft = has_layers ? found->second : DraftLayers{};
    collector.add_round(*round, of_draft, is_above);
    timed_rounds.emplace(round->id, OperationRound{.verify_rows = round->verify_rows,
                                                   .draft_steps = round->drafted,
                                                   .root = round->root_position,
                                                   .draft = of_draft,
                                                   .n_layers = out.shape.n_layers,
                                                   .mixed_rows = is_above && round->drafted > 0});
  }
  if (out.rounds == 0)
    return fail("{}: no round is usable, expected rounds with chains of drafts or target steps",
                recording.path.string());
  DRAFTSCOPE_TRY(visit_operation_times(reader, recording, out.on_gpu, timed_rounds,
                                       [&](const TimedOperation& timed, std::int32_t rows, double context) {
                                         collector.add_operation(timed, rows, context);
                                       }));
  collector.finish();
  return out;
}

}  // namespace draftscope::simulator
