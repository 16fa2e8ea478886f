// SPDX-License-Identifier: GPL-3.0-or-later
#include "costs/cost_prices.h"

#include <draftscope/base/quote.h>
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "costs/cost_transfer.h"
#include "costs/fit/arithmetic_excess.h"
#include "costs/fit/pass_corrections.h"
#include "costs/normal_draws.h"
#include "hardware/regime.h"
#include "uncertainty/widened_levels.h"

namespace draftscope::simulator {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr auto price_unknowns = static_cast<Index>(cost_parameter_count);
/// Parts that passes are put together from, for one number of rows: rows of the map, two each (fixed, a
/// context row).
enum Part : Index { attention_part, mlp_part, draft_rest_part, target_rest_part, parts };

/// Costs around the kernels in another regime than the fitted one.
struct Surroundings {
  bool replaced = false;
  Regime regime = Regime::as_fitted;
  RegimeCosts costs;
};

Surroundings surroundings_of(const CostModel& model, const Scenario& scenario) {
  if (scenario.regime == Regime::as_fitted || scenario.regime == model.regime) return {};
  return {true, scenario.regime, regime_costs(scenario.regime)};
}

/// The very circumstances of the recording, but for drafts, widths and contexts.
bool is_recorded(const CostModel& model, const Scenario& scenario, const Surroundings& surroundings) {
  const auto key = [](const ModelShape& shape) {
    return std::tie(shape.n_layers, shape.d_model, shape.n_heads, shape.n_kv_heads, shape.head_dim,
                    shape.d_ff, shape.vocab);
  };
  const bool same_machine = !scenario.gpu || (model.gpu && model.gpu->name == scenario.gpu->name &&
                                              model.gpu->bandwidth_gb_s == scenario.gpu->bandwidth_gb_s);
  return model.from_trace && same_machine && key(model.shape) == key(scenario.shape) &&
         model.weights == scenario.weights && !surroundings.replaced && scenario.batch == 1 &&
         scenario.tensor_parallel == 1;
}

struct HostTimes {
  double attention_ns = 0.0;
  double mlp_ns = 0.0;
  double rest_ns = 0.0;
};

// Kernels of a sublayer and of what surrounds the layers, as the host launches them: products, attention, and
// its share of the three small ones; embedding, head and the choice of a token.
constexpr double attention_kernels = 4.5;
constexpr double mlp_kernels = 3.5;
constexpr double rest_kernels = 3.0;

HostTimes host_times(const RegimeCosts& costs) {
  return {attention_kernels * costs.host_ns_per_kernel + 0.5 * costs.host_ns_per_layer,
          mlp_kernels * costs.host_ns_per_kernel + 0.5 * costs.host_ns_per_layer,
          rest_kernels * costs.host_ns_per_kernel};
}

void replace_surroundings(const Surroundings& surroundings, CostCoefficients& part, bool is_rest) {
  if (!surroundings.replaced) return;
  part.fixed[layer_parameter] = 0.0;
  part.fixed[draft_step_parameter] = 0.0;
  part.fixed[target_pass_parameter] = 0.0;
  if (surroundings.regime != Regime::persistent) return;
  drop_launches(part);
  if (is_rest) part.fixed[common_launch_parameter] += 1.0;
}

/// Longer launch of attention whose K/V exceed the L2 cache: kernels then split a context and combine the
/// parts. Published kernel tables have 14 to 38 us there, of which this takes the middle, where a short
/// context has the specification's. Of a recording's own costs it is measured.
double long_context_ns(const TransferredCosts& costs, const Scenario& scenario, const ModelShape& shape) {
  if (!costs.is_specified || !costs.model.gpu) return 0.0;
  constexpr double in_cache = 1.5;  // of its size, up to which K/V are read as if they stayed there
  constexpr double usual_l2_mb = 50.0;
  constexpr double launch_ns = 26e3;
  const Work work =
      work_of(speculation::Operation::attention, shape, scenario.weights, 1.0, scenario.tensor_parallel);
  const double bytes = scenario.batch * scenario.context * work.kv_bytes_per_context_row;
  if (bytes <= in_cache * 1e6 * costs.model.gpu->l2_mb.value_or(usual_l2_mb)) return 0.0;
  return std::max(launch_ns - costs.model.values[launch_parameter(speculation::Operation::attention)], 0.0);
}

std::string draft_cost_text(const DraftCostInput& cost) {
  switch (cost.kind) {
    case DraftCostInput::Kind::share:
      return fmt::format("draft cost: {} vanilla steps per draft step, an input", cost.share);
    case DraftCostInput::Kind::one_layer:
      return fmt::format("draft cost: one layer and a head of {} rows, an input",
                         cost.vocabulary > 0 ? std::to_string(cost.vocabulary) : "the target's");
    case DraftCostInput::Kind::free:
      break;
  }
  return "draft cost: free, an input";
}

/// A square root of the covariance, without the directions that have no variance.
MatrixXd covariance_root(const std::vector<double>& covariance) {
  MatrixXd matrix(price_unknowns, price_unknowns);
  for (Index i = 0; i < price_unknowns; ++i)
    for (Index j = 0; j < price_unknowns; ++j)
      matrix(i, j) = covariance[static_cast<std::size_t>(i * price_unknowns + j)];
  const VectorXd deviation = matrix.diagonal().cwiseMax(0.0).cwiseSqrt();
  const VectorXd inverse = (deviation.array() > 0.0).select(deviation.cwiseMax(1e-300).cwiseInverse(), 0.0);
  const MatrixXd correlation = inverse.asDiagonal() * matrix * inverse.asDiagonal();
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(correlation);
  constexpr double smallest = 1e-9;
  const Index rank = (solver.eigenvalues().array() > smallest).count();
  const MatrixXd root =
      solver.eigenvectors().rightCols(rank) * solver.eigenvalues().tail(rank).cwiseSqrt().asDiagonal();
  return deviation.asDiagonal() * root;
}

}  // namespace

struct PriceMap::Implementation {
  class PassTimes;

  TransferredCosts costs;
  std::vector<speculation::DraftSublayers> drafts;
  std::int32_t n_layers = 0;
  std::int32_t widths = 0;
  bool above_exit = false;
  double share = 1.0;  ///< of a pass that is one request's, stalls included
  double context = 0.0;
  double draft_host_ns = 0.0;  ///< per pass, beside the kernels
  double target_host_ns = 0.0;
  HostTimes host;
  std::optional<HostTime> engine;  ///< beside the passes; of a specified machine alone
  std::optional<DraftCostInput> draft_cost;
  MatrixXd map;         ///< [(rows − 1) · parts · 2 + part · 2 + (fixed, context)][parameter]
  VectorXd arithmetic;  ///< the same rows: constants
  VectorXd link;
  MatrixXd root;                          ///< of the covariance
  std::vector<double> draft_start_bytes;  ///< [draft]
  /// Those of the scenario, then that of a draft of one layer if its cost is an input.
  std::vector<OwnPass> own_passes;
  std::size_t own_count = 0;        ///< of the scenario
  std::vector<double> own_repeats;  ///< [own pass]: passes that its rows take
  /// [own pass]: what it took where it was recorded, and how sure that is; a negative price where it was not.
  std::vector<AffineTime> own_measured;
  std::vector<double> own_error;
  std::optional<PassCorrections> corrections;  ///< of the passes that are priced
  Drift drift;                                 ///< CostModel::drift where it is used

  void put(std::int32_t rows, Part part, const CostCoefficients& coefficients, double arithmetic_ns,
           double link_ns);
  void fill_map(const Scenario& scenario, const Surroundings& surroundings);
  void fill_own(const Scenario& scenario, const Surroundings& surroundings);
  void correct_passes(const CostModel& model);
  void correct_own(const CostModel& model);
  /// Row of the map for what is fixed; a context row's is the next one.
  [[nodiscard]] Index own_row(std::size_t own) const {
    return (Index{widths} * parts + static_cast<Index>(own)) * 2;
  }
  /// One normal number for each kind of own passes.
  using OwnNoise = std::array<double, own_pass_kind_count>;
  /// The engine's share of a vanilla step and its time per step, `noise` being standard normal.
  struct EngineTime {
    double share = 0.0;
    double ns = 0.0;
  };
  [[nodiscard]] EngineTime engine_time(double noise) const;
  void add_engine(const EngineTime& time, Prices& into) const;
  void replace_draft_steps(const PassTimes& times, Prices& into) const;
  [[nodiscard]] VectorXd no_noise() const {
    return VectorXd::Zero(corrections ? corrections->noise_size() : 0);
  }
  /// [pass that is priced]: what its law is multiplied with; empty where nothing was measured.
  [[nodiscard]] VectorXd factors(const CostVector& values, const VectorXd& noise) const;
  void assemble(const CostVector& values, const VectorXd& corrections_of_passes, double link_factor,
                double host_factor, const OwnNoise& own_noise, double engine_noise, Prices& into) const;

  // Places of the passes that are priced: the target step, the drafts' steps, then verifications of 2 to
  // widths rows, of each draft anew if they depend on it.
  [[nodiscard]] static Index step_place(std::size_t draft) { return static_cast<Index>(1 + draft); }
  [[nodiscard]] Index verify_place(std::size_t draft, std::int32_t rows) const {
    const auto width = static_cast<std::size_t>(widths - 1);
    return static_cast<Index>(1 + drafts.size() + (above_exit ? draft * width : 0) +
                              static_cast<std::size_t>(rows - 2));
  }
};

void PriceMap::Implementation::put(std::int32_t rows, Part part, const CostCoefficients& coefficients,
                                   double arithmetic_ns, double link_ns) {
  const Index row = ((rows - 1) * parts + part) * 2;
  for (Index i = 0; i < price_unknowns; ++i) {
    map(row, i) = coefficients.fixed[static_cast<std::size_t>(i)];
    map(row + 1, i) = coefficients.a_context_row[static_cast<std::size_t>(i)];
  }
  arithmetic[row] = arithmetic_ns;
  link[row] = link_ns;
}

void PriceMap::Implementation::fill_map(const Scenario& scenario, const Surroundings& surroundings) {
  const CostModel& model = costs.model;
  const Index rows_of_map = own_row(own_passes.size());
  map = MatrixXd::Zero(rows_of_map, price_unknowns);
  arithmetic = VectorXd::Zero(rows_of_map);
  link = VectorXd::Zero(rows_of_map);
  const bool eager = surroundings.regime == Regime::eager_python || surroundings.regime == Regime::eager_cpp;
  const double gap_ns = surroundings.costs.gap_ns_per_kernel;
  constexpr std::array attention_products{speculation::Operation::qkv, speculation::Operation::output};
  constexpr std::array mlp_products{speculation::Operation::gate_up, speculation::Operation::down};
  constexpr std::array head_products{speculation::Operation::head};
  for (std::int32_t rows = 1; rows <= widths; ++rows) {
    const PassForm form{.rows = static_cast<double>(rows),
                        .batch = static_cast<double>(scenario.batch),
                        .tensor_parallel = scenario.tensor_parallel};
    double reduce_ns = 0.0;
    if (model.gpu && scenario.tensor_parallel > 1)
      reduce_ns = eager ? eager_all_reduce_ns()
                        : all_reduce_ns(*model.gpu, scenario.tensor_parallel,
                                        2.0 * form.rows * form.batch * scenario.shape.d_model);
    const auto excess = [&](std::span<const speculation::Operation> products) {
      return arithmetic_excess_ns(products, model, scenario, form);
    };
    CostCoefficients attention =
        attention_coefficients(scenario.shape, scenario.weights, model.width_law, form);
    CostCoefficients mlp = mlp_coefficients(scenario.shape, scenario.weights, model.width_law, form);
    replace_surroundings(surroundings, attention, false);
    replace_surroundings(surroundings, mlp, false);
    put(rows, attention_part, attention,
        excess(attention_products) + attention_kernels * gap_ns +
            long_context_ns(costs, scenario, scenario.shape),
        reduce_ns);
    put(rows, mlp_part, mlp, excess(mlp_products) + mlp_kernels * gap_ns, reduce_ns);

    const CostCoefficients head = operation_coefficients(speculation::Operation::head, scenario.shape,
                                                         scenario.weights, model.width_law, form);
    const double rest_ns = excess(head_products) + rest_kernels * gap_ns;
    CostCoefficients draft = head;
    CostCoefficients target = head;
    draft.fixed[draft_step_parameter] += 1.0;
    target.fixed[target_pass_parameter] += 1.0;
    replace_surroundings(surroundings, draft, true);
    replace_surroundings(surroundings, target, true);
    // The vocabulary's parts are brought together, which takes as long as a small all-reduce.
    put(rows, draft_rest_part, draft, rest_ns, reduce_ns);
    put(rows, target_rest_part, target, rest_ns, reduce_ns);
  }
  fill_own(scenario, surroundings);
  if (!surroundings.replaced) return;
  host = host_times(surroundings.costs);
  draft_host_ns = surroundings.costs.host_ns_per_draft_step;
  target_host_ns = surroundings.costs.host_ns_per_pass;
}

/// Own passes are put together from operations once, since each has rows of its own. Those of more rows than
/// a pass may have are several.
void PriceMap::Implementation::fill_own(const Scenario& scenario, const Surroundings& surroundings) {
  const CostModel& model = costs.model;
  const double gap_ns = surroundings.costs.gap_ns_per_kernel;
  constexpr std::array attention_products{speculation::Operation::qkv, speculation::Operation::output};
  constexpr std::array mlp_products{speculation::Operation::gate_up, speculation::Operation::down};
  constexpr std::array head_products{speculation::Operation::head};
  for (std::size_t i = 0; i < own_passes.size(); ++i) {
    const OwnPass& pass = own_passes[i];
    Scenario of_pass = scenario;
    if (i >= own_count) {
      if (draft_cost->vocabulary > 0) of_pass.shape.vocab = draft_cost->vocabulary;
    } else if (pass.kind == OwnPassKind::draft_model && scenario.draft_model) {
      of_pass.shape = *scenario.draft_model;
    }
    const ModelShape& shape = of_pass.shape;
    CostCoefficients sum;
    double arithmetic_ns = 0.0;
    double link_ns = 0.0;
    double repeats = 0.0;
    // Another model reads what it has not seen of the text as a prefill does.
    const std::int32_t widest =
        pass.kind == OwnPassKind::draft_model ? std::max(pass.rows, 1) : scenario.widest_own_pass;
    for (const auto& [rows, times] : {std::pair{widest, pass.rows / widest}, {pass.rows % widest, 1}}) {
      if (rows == 0 || times == 0) continue;
      const double count = times;
      const PassForm form{.rows = static_cast<double>(rows),
                          .batch = static_cast<double>(scenario.batch),
                          .tensor_parallel = scenario.tensor_parallel};
      const auto excess = [&](std::span<const speculation::Operation> products) {
        return arithmetic_excess_ns(products, model, of_pass, form);
      };
      const auto reduce_ns = model.gpu && scenario.tensor_parallel > 1
                                 ? all_reduce_ns(*model.gpu, scenario.tensor_parallel,
                                                 2.0 * form.rows * form.batch * shape.d_model)
                                 : 0.0;
      CostCoefficients one;
      add(one, attention_coefficients(shape, scenario.weights, model.width_law, form), pass.attention);
      add(one, mlp_coefficients(shape, scenario.weights, model.width_law, form), pass.mlp);
      double constant_ns = pass.attention * (excess(attention_products) + attention_kernels * gap_ns +
                                             long_context_ns(costs, scenario, shape)) +
                           pass.mlp * (excess(mlp_products) + mlp_kernels * gap_ns) + rest_kernels * gap_ns;
      double reductions = pass.attention + pass.mlp;
      if (pass.has_head) {
        add(one, operation_coefficients(speculation::Operation::head, shape, scenario.weights,
                                        model.width_law, form));
        constant_ns += excess(head_products);
        reductions += 1.0;
      }
      one.fixed[pass.kind == OwnPassKind::draft_model ? draft_step_parameter : target_pass_parameter] += 1.0;
      replace_surroundings(surroundings, one, true);
      add(sum, one, count);
      arithmetic_ns += count * constant_ns;
      link_ns += count * reductions * reduce_ns;
      repeats += count;
    }
    const Index row = own_row(i);
    for (Index j = 0; j < price_unknowns; ++j) {
      map(row, j) = sum.fixed[static_cast<std::size_t>(j)];
      map(row + 1, j) = sum.a_context_row[static_cast<std::size_t>(j)];
    }
    arithmetic[row] = arithmetic_ns;
    link[row] = link_ns;
    own_repeats.push_back(repeats);
  }
}

void PriceMap::Implementation::correct_passes(const CostModel& model) {
  if (model.passes.empty()) return;
  const bool has_vanilla = std::any_of(model.passes.begin(), model.passes.end(),
                                       [](const MeasuredPass& pass) { return pass.kind.is_vanilla; });
  std::vector<MeasuredPassKind> kinds{{.is_vanilla = has_vanilla, .n_layers = n_layers}};
  for (const speculation::DraftSublayers& draft : drafts)
    kinds.push_back({.is_draft = true, .attention = draft.attention, .mlp = draft.mlp, .n_layers = n_layers});
  const std::size_t verifiers = above_exit ? drafts.size() : 1;
  for (std::size_t i = 0; i < verifiers; ++i)
    for (std::int32_t rows = 2; rows <= widths; ++rows)
      kinds.push_back({.rows = rows, .one_row = above_exit ? drafts[i].attention : 0, .n_layers = n_layers});
  corrections.emplace(model.passes, model.correction_scale, kinds);
}

void PriceMap::Implementation::correct_own(const CostModel& model) {
  if (own_count == 0) return;
  Prices by_law;
  assemble(costs.model.values, factors(costs.model.values, no_noise()), 1.0, 1.0, {}, 0.0, by_law);
  for (std::size_t i = 0; i < own_count; ++i) {
    const auto measured =
        std::find_if(model.own_passes.begin(), model.own_passes.end(),
                     [&](const MeasuredOwnPass& known) { return known.kind == own_passes[i].kind; });
    const bool is_known = measured != model.own_passes.end();
    own_measured.push_back(is_known ? AffineTime{by_law.own[i].ns * measured->factor,
                                                 by_law.own[i].ns_per_context_row * measured->factor}
                                    : AffineTime{-1.0, 0.0});
    own_error.push_back(is_known ? measured->relative_error : 0.0);
  }
}

VectorXd PriceMap::Implementation::factors(const CostVector& values, const VectorXd& noise) const {
  if (!corrections) return {};
  return corrections->logs(values, noise).array().exp();
}

/// Times of passes for one set of parameters, put together from the parts' times.
class PriceMap::Implementation::PassTimes {
 public:
  PassTimes(const Implementation& made, const CostVector& values, const VectorXd& corrections,
            double link_factor, double host_factor)
      : made_(made),
        corrections_(corrections),
        host_factor_(host_factor),
        part_times_(made.map * Eigen::Map<const VectorXd>(values.data(), price_unknowns) + made.arithmetic +
                    link_factor * made.link) {}

  [[nodiscard]] AffineTime target_step() const { return corrected(target_pass(1, {}, everything()), 0); }
  /// Without a draft's exit states: all layers run `rows` rows.
  [[nodiscard]] AffineTime verification(std::int32_t rows) const {
    return corrected(target_pass(rows, {}, everything()), made_.verify_place(0, rows));
  }
  [[nodiscard]] AffineTime verification_above(std::size_t draft, std::int32_t rows) const {
    const speculation::DraftSublayers& below = made_.drafts[draft];
    const speculation::DraftSublayers above{made_.n_layers - below.attention, made_.n_layers - below.mlp};
    return corrected(target_pass(rows, below, above), made_.verify_place(draft, rows));
  }
  [[nodiscard]] AffineTime draft_step(std::size_t draft) const {
    return corrected(pass(1, {}, made_.drafts[draft], draft_rest_part, made_.draft_host_ns),
                     step_place(draft));
  }
  /// By the law: the rows and what the host takes to launch them.
  [[nodiscard]] AffineTime own_pass(std::size_t own) const {
    const Index row = made_.own_row(own);
    AffineTime sum{part_times_[row], part_times_[row + 1]};
    const OwnPass& pass = made_.own_passes[own];
    const HostTimes& on_host = made_.host;
    const double launches_ns =
        host_factor_ * made_.own_repeats[own] *
        (pass.attention * on_host.attention_ns + pass.mlp * on_host.mlp_ns + on_host.rest_ns);
    if (launches_ns > sum.at(made_.context)) sum = {launches_ns, 0.0};
    const bool is_draft = pass.kind == OwnPassKind::draft_model;
    const double host_ns = made_.own_repeats[own] * (is_draft ? made_.draft_host_ns : made_.target_host_ns);
    return {(sum.ns + host_factor_ * host_ns) * made_.share, sum.ns_per_context_row * made_.share};
  }
  [[nodiscard]] AffineTime corrected(AffineTime time, Index place) const {
    if (corrections_.size() == 0) return time;
    time.ns *= corrections_[place];
    time.ns_per_context_row *= corrections_[place];
    return time;
  }

 private:
  [[nodiscard]] speculation::DraftSublayers everything() const { return {made_.n_layers, made_.n_layers}; }

  [[nodiscard]] AffineTime part(std::int32_t rows, Part which) const {
    const Index row = ((rows - 1) * parts + which) * 2;
    return {part_times_[row], part_times_[row + 1]};
  }
  [[nodiscard]] AffineTime target_pass(std::int32_t rows, const speculation::DraftSublayers& few,
                                       const speculation::DraftSublayers& all) const {
    return pass(rows, few, all, target_rest_part, made_.target_host_ns);
  }

  /// A pass whose sublayers run one row (`few`) or all rows (`all`), on kernels and host.
  [[nodiscard]] AffineTime pass(std::int32_t rows, const speculation::DraftSublayers& few,
                                const speculation::DraftSublayers& all, Part rest_part,
                                double host_ns) const {
    AffineTime sum = part(rows, rest_part);
    add_sublayers(few, 1, sum);
    add_sublayers(all, rows, sum);
    const HostTimes& on_host = made_.host;
    const double launches_ns = host_factor_ * ((few.attention + all.attention) * on_host.attention_ns +
                                               (few.mlp + all.mlp) * on_host.mlp_ns + on_host.rest_ns);
    if (launches_ns > sum.at(made_.context)) sum = {launches_ns, 0.0};
    return {(sum.ns + host_factor_ * host_ns) * made_.share, sum.ns_per_context_row * made_.share};
  }

  void add_sublayers(const speculation::DraftSublayers& count, std::int32_t rows, AffineTime& sum) const {
    const AffineTime attention = part(rows, attention_part);
    const AffineTime mlp = part(rows, mlp_part);
    const auto attention_count = static_cast<double>(count.attention);
    const auto mlp_count = static_cast<double>(count.mlp);
    sum.ns += attention_count * attention.ns + mlp_count * mlp.ns;
    sum.ns_per_context_row +=
        attention_count * attention.ns_per_context_row + mlp_count * mlp.ns_per_context_row;
  }

  const Implementation& made_;
  const VectorXd& corrections_;
  double host_factor_;
  VectorXd part_times_;
};

void PriceMap::Implementation::assemble(const CostVector& values, const VectorXd& corrections_of_passes,
                                        double link_factor, double host_factor, const OwnNoise& own_noise,
                                        double engine_noise, Prices& into) const {
  const PassTimes times(*this, values, corrections_of_passes, link_factor, host_factor);
  into.host_ratio = costs.model.host_ratio * host_factor;
  into.own.resize(own_count);
  for (std::size_t i = 0; i < own_count; ++i) {
    if (own_measured.empty() || own_measured[i].ns < 0.0) {
      into.own[i] = times.own_pass(i);
      continue;
    }
    const double noise = std::exp(own_error[i] * own_noise[static_cast<std::size_t>(own_passes[i].kind)]);
    into.own[i] = {own_measured[i].ns * noise, own_measured[i].ns_per_context_row * noise};
  }
  into.target_step = times.target_step();
  into.round_ns = values[round_parameter] * share;
  into.step_round_ns = values[step_round_parameter] * share;
  into.drafts.resize(drafts.size() + 1);
  std::vector<AffineTime> whole;
  if (!above_exit) {
    whole.resize(static_cast<std::size_t>(widths) + 1);
    for (std::int32_t rows = 2; rows <= widths; ++rows)
      whole[static_cast<std::size_t>(rows)] = times.verification(rows);
  }
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    DraftPrices& draft = into.drafts[i + 1];
    draft.step = times.draft_step(i);
    if (above_exit) {
      draft.verify.resize(static_cast<std::size_t>(widths) + 1);
      for (std::int32_t rows = 2; rows <= widths; ++rows)
        draft.verify[static_cast<std::size_t>(rows)] = times.verification_above(i, rows);
    } else {
      draft.verify = whole;
    }
    const AffineTime start =
        times.corrected({draft_start_bytes[i] * values[draft_start_parameter] * share, 0.0}, step_place(i));
    for (std::size_t rows = 2; rows < draft.verify.size(); ++rows) draft.verify[rows].ns += start.ns;
  }
  if (draft_cost) replace_draft_steps(times, into);
  if (engine) add_engine(engine_time(engine_noise), into);
}

void PriceMap::Implementation::replace_draft_steps(const PassTimes& times, Prices& into) const {
  AffineTime step;
  if (draft_cost->kind == DraftCostInput::Kind::one_layer) {
    step = times.own_pass(own_count);
  } else if (draft_cost->kind == DraftCostInput::Kind::share) {
    step = {draft_cost->share * into.target_step.ns, draft_cost->share * into.target_step.ns_per_context_row};
  }
  for (std::size_t i = 1; i < into.drafts.size(); ++i) into.drafts[i].step = step;
}

PriceMap::Implementation::EngineTime PriceMap::Implementation::engine_time(double noise) const {
  constexpr double normal_quantile_90 = 1.2815515655446004;  // four of five lie between minus this and this
  constexpr double min_share = -0.5;
  const double z = noise / normal_quantile_90;
  const double mean_share = 0.5 * (engine->min_share + engine->max_share);
  const double ns = 0.5 * (engine->min_ns + engine->max_ns);
  return {std::max(mean_share + z * 0.5 * (engine->max_share - engine->min_share), min_share),
          std::max(ns + z * 0.5 * (engine->max_ns - engine->min_ns), 0.0)};
}

void PriceMap::Implementation::add_engine(const EngineTime& time, Prices& into) const {
  const double per_step_ns = time.ns * share;
  const auto scale = [&](AffineTime& pass) {
    pass.ns *= 1.0 + time.share;
    pass.ns_per_context_row *= 1.0 + time.share;
  };
  if (!engine->is_per_pass) {
    into.step_round_ns += per_step_ns + time.share * into.target_step.at(context);
    into.round_ns += per_step_ns + time.share * into.target_step.at(context);
    return;
  }
  scale(into.target_step);
  for (DraftPrices& draft : into.drafts) {
    scale(draft.step);
    for (AffineTime& verify : draft.verify) scale(verify);
  }
  for (AffineTime& own : into.own) scale(own);
  into.step_round_ns += per_step_ns;
  into.round_ns += per_step_ns;
}

namespace {

/// All that speculation takes and vanilla decoding does not.
void scale_speculation(double factor, Prices& prices) {
  const auto scale = [factor](AffineTime& time) {
    time.ns *= factor;
    time.ns_per_context_row *= factor;
  };
  for (DraftPrices& draft : prices.drafts) {
    scale(draft.step);
    for (AffineTime& verify : draft.verify) scale(verify);
  }
  for (AffineTime& own : prices.own) scale(own);
  prices.round_ns *= factor;
}

}  // namespace

PriceMap::PriceMap(std::shared_ptr<const Implementation> implementation)
    : implementation_(std::move(implementation)) {}

Result<PriceMap> PriceMap::make(const CostModel& model, const Scenario& scenario) {
  DRAFTSCOPE_TRY(check_scenario(scenario));
  if (model.covariance.size() != cost_parameter_count * cost_parameter_count)
    return fail("cost model: covariance has {} values, expected {}", model.covariance.size(),
                cost_parameter_count * cost_parameter_count);
  auto made = std::make_shared<Implementation>();
  made->costs = transfer(model, scenario);
  const CostModel& here = made->costs.model;
  if (!here.gpu && scenario.tensor_parallel > 1)
    return fail("scenario: tensor_parallel is {}, expected 1 without a GPU's specification",
                scenario.tensor_parallel);
  const Surroundings surroundings = surroundings_of(here, scenario);
  if (surroundings.replaced && !here.gpu)
    return fail("scenario: regime is {}, expected as-fitted without a GPU's specification",
                regime_name(scenario.regime));
  made->drafts = scenario.drafts;
  if (made->drafts.empty())
    for (std::int32_t exit = 1; exit < scenario.shape.n_layers; ++exit) made->drafts.push_back({exit, exit});
  made->own_passes = scenario.own_passes;
  made->own_count = made->own_passes.size();
  made->draft_cost = scenario.draft_cost;
  if (scenario.draft_cost && scenario.draft_cost->kind == DraftCostInput::Kind::one_layer)
    made->own_passes.push_back(
        {.kind = OwnPassKind::draft_model, .rows = 1, .attention = 1, .mlp = 1, .has_head = true});
  made->n_layers = scenario.shape.n_layers;
  made->widths = scenario.widths;
  made->above_exit = scenario.verified_layers == VerifiedLayers::above_exit && !scenario.draft_cost;
  made->context = scenario.context;
  made->share = (scenario.with_stalls ? 1.0 + here.stall_share : 1.0) / scenario.batch;
  made->fill_map(scenario, surroundings);
  made->root = covariance_root(here.covariance);
  for (const speculation::DraftSublayers& draft : made->drafts)
    made->draft_start_bytes.push_back(draft_start_coefficients(scenario.shape, scenario.weights,
                                                               draft.attention, draft.mlp,
                                                               scenario.tensor_parallel)
                                          .fixed[draft_start_parameter]);
  if (is_recorded(model, scenario, surroundings)) {
    made->correct_passes(model);
    made->correct_own(model);
    made->drift = model.drift;
    constexpr double unsteady = 0.05;
    if (model.drift.sigma > unsteady)
      made->costs.notes.push_back(
          {Provenance::measured, model.drift.sigma,
           fmt::format("the machine was not steady: between repeats speedups differ by ±{:.0f} %",
                       100.0 * model.drift.sigma)});
  }
  if (surroundings.replaced) {
    double& host_sigma = made->costs.sigma[static_cast<std::size_t>(Factor::host)];
    host_sigma = std::max(host_sigma, surroundings.costs.sigma);
    made->costs.notes.push_back(
        {Provenance::prior, surroundings.costs.sigma,
         fmt::format("regime {}: what the host takes is a prior, ±{:.0f} %", regime_name(surroundings.regime),
                     100.0 * surroundings.costs.sigma)});
  }
  if (made->costs.is_specified && !surroundings.replaced) made->engine = scenario.host.value_or(graph_host());
  if (scenario.host && !made->engine)
    return fail(
        "scenario: host is {}, expected none where {}", quote(scenario.host->name),
        surroundings.replaced ? "the regime says what the host takes" : "the engine's own time was recorded");
  if (made->engine) {
    const HostTime& host = *made->engine;
    std::string takes;
    if (host.max_share != 0.0 || host.min_share != 0.0)
      takes = fmt::format("{:+.0f} to {:+.0f} % of {}", 100.0 * host.min_share, 100.0 * host.max_share,
                          host.is_per_pass ? "each pass" : "a vanilla step, once a round");
    if (host.max_ns > 0.0)
      takes += fmt::format("{}{:.0f} to {:.0f} us per step", takes.empty() ? "" : " and ", 1e-3 * host.min_ns,
                           1e-3 * host.max_ns);
    made->costs.notes.push_back(
        {Provenance::prior, 0.0,
         fmt::format("regime graph, host {}: the engine takes {} beside passes{}", host.name, takes,
                     scenario.host ? "" : " (assumed; --host serving, eager or a file says otherwise)")});
  }
  if (long_context_ns(made->costs, scenario, scenario.shape) > 0.0)
    made->costs.notes.push_back(
        {Provenance::prior, 0.4,
         fmt::format(
             "contexts up to {:.0f} rows exceed the L2 cache: attention begins after 26 us, of 14 to 38 "
             "in published kernel tables",
             scenario.context)});
  if (scenario.draft_cost)
    made->costs.notes.push_back({Provenance::prior, 0.0, draft_cost_text(*scenario.draft_cost)});
  if (scenario.batch > 1)
    made->costs.notes.push_back(
        {Provenance::prior, 0.0,
         fmt::format("batch {}: all requests take rounds of the same rows and context", scenario.batch)});
  return PriceMap(std::move(made));
}

Prices PriceMap::mean() const {
  Prices result;
  const Implementation& made = *implementation_;
  const CostVector& values = made.costs.model.values;
  made.assemble(values, made.factors(values, made.no_noise()), 1.0, 1.0, {}, 0.0, result);
  return result;
}

Prices PriceMap::draw(std::uint64_t seed, std::uint64_t index) const {
  Prices result;
  draw(seed, index, {}, result);
  return result;
}

void PriceMap::draw(std::uint64_t seed, std::uint64_t index, PriceSources vary, Prices& into) const {
  const Implementation& made = *implementation_;
  VectorXd correction_noise = made.no_noise();
  Implementation::OwnNoise own_noise{};
  const auto corrections = static_cast<std::size_t>(correction_noise.size());
  // The last one is the drift's of the recorded machine, or the engine's of another: the others are the same
  // numbers with and without.
  std::vector<double> normal(factor_count + cost_parameter_count + corrections + own_noise.size() + 1);
  fill_normal(seed, index, normal);
  if (vary.fit) {
    const auto first = normal.begin() + factor_count + cost_parameter_count;
    std::copy_n(first, corrections, correction_noise.begin());
    std::copy_n(first + correction_noise.size(), own_noise.size(), own_noise.begin());
  }
  std::array<double, factor_count> factor{};
  for (std::size_t i = 0; i < factor_count; ++i)
    factor[i] = vary.transfer ? std::exp(made.costs.sigma[i] * normal[i]) : 1.0;
  const Eigen::Map<const VectorXd> noise(normal.data() + factor_count, made.root.cols());
  const VectorXd shift = made.root * noise;
  CostVector values = made.costs.model.values;
  for (std::size_t i = 0; i < cost_parameter_count; ++i) {
    const bool is_of_fit = made.costs.is_specified ? vary.transfer : vary.fit;
    const bool varies = is_width_parameter(i) ? vary.width : is_of_fit;
    const double drawn = values[i] + (varies ? made.costs.ratio[i] * shift[static_cast<Index>(i)] : 0.0);
    values[i] = std::max(drawn * factor[static_cast<std::size_t>(factor_of(i))], made.costs.floor[i]);
  }
  made.assemble(
      values, made.factors(values, correction_noise), factor[static_cast<std::size_t>(Factor::link)],
      factor[static_cast<std::size_t>(Factor::host)], own_noise, vary.transfer ? normal.back() : 0.0, into);
  if (vary.fit && made.drift.sigma > 0.0)
    scale_speculation(std::exp(made.drift.sigma * std::sqrt(1.0 + 1.0 / made.drift.repeats) *
                               student_quantile(normal.back(), made.drift.freedom)),
                      into);
}

bool PriceMap::is_as_recorded() const {
  return implementation_->corrections.has_value();
}

std::span<const CostNote> PriceMap::notes() const {
  return implementation_->costs.notes;
}

Result<Prices> prices(const CostModel& model, const Scenario& scenario) {
  DRAFTSCOPE_TRY_ASSIGN(const PriceMap map, PriceMap::make(model, scenario));
  return map.mean();
}

}  // namespace draftscope::simulator
