// SPDX-License-Identifier: GPL-3.0-or-later
#include "prices/passes/pass_map.h"

#include <algorithm>
#include <utility>

namespace draftscope::simulator {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::array attention_products{speculation::Operation::qkv, speculation::Operation::output};
constexpr std::array mlp_products{speculation::Operation::gate_up, speculation::Operation::down};
constexpr std::array head_products{speculation::Operation::head};

// Number of kernels that the host launches around the layers: embedding, head and the choice of a token.
constexpr double rest_kernels = 3.0;

void replace_surroundings(const Surroundings& surroundings, CostCoefficients& part, bool is_rest) {
  if (!surroundings.replaced) return;
  part.fixed[layer_parameter] = 0.0;
  part.fixed[draft_step_parameter] = 0.0;
  part.fixed[target_pass_parameter] = 0.0;
  if (surroundings.regime != Regime::persistent) return;
  drop_launches(part);
  if (is_rest) part.fixed[common_launch_parameter] += 1.0;
}

HostTimes host_times(const RegimeCosts& costs, const MeanKernels& kernels) {
  return {kernels.mixer * costs.host_ns_per_kernel + 0.5 * costs.host_ns_per_layer,
          kernels.mlp * costs.host_ns_per_kernel + 0.5 * costs.host_ns_per_layer,
          rest_kernels * costs.host_ns_per_kernel};
}

/// Time of an all-reduce of 2-byte values between the GPUs that share the model; none without a GPU.
double reduce_ns(const CostModel& model, const Scenario& scenario, double values) {
  return model.gpu ? all_reduce_ns(*model.gpu, scenario.tensor_parallel, 2.0 * values) : 0.0;
}

/// Time of an all-reduce after a sublayer of `rows` rows.
double sublayer_sum_ns(const CostModel& model, const Scenario& scenario, Regime regime, double rows) {
  const bool is_eager = regime == Regime::eager_python || regime == Regime::eager_cpp;
  if (scenario.tensor_parallel > 1 && is_eager) return eager_all_reduce_ns();
  return reduce_ns(model, scenario, rows * scenario.shape.d_model);
}

/// Launch of attention over this many bytes, in addition to that of a short context.
double split_ns(const TransferredCosts& costs, double bytes) {
  if (!costs.is_specified || !costs.model.gpu || costs.model.engine != nullptr) return 0.0;
  constexpr double in_cache = 1.5;  // Multiple of its size up to which K/V are read as if they stayed there.
  constexpr double usual_l2_mb = 50.0;
  constexpr double launch_ns = 26e3;
  if (bytes <= in_cache * 1e6 * costs.model.gpu->l2_mb.value_or(usual_l2_mb)) return 0.0;
  return std::max(launch_ns - costs.model.values[launch_parameter(speculation::Operation::attention)], 0.0);
}

ConstantTimes constant_times(const TransferredCosts& costs, const CostModel& model, const Scenario& scenario,
                             const PassForm& form) {
  if (!scenario.plan)
    return {arithmetic_excess_ns(attention_products, model, scenario, form) +
                long_context_ns(costs, scenario, scenario.shape),
            arithmetic_excess_ns(mlp_products, model, scenario, form)};
  ConstantTimes sum{.mixer_ns = long_context_ns(costs, scenario, scenario.shape)};
  const double n_layers = scenario.shape.n_layers;
  for (const MixerKind& kind : scenario.plan->mixers)
    sum.mixer_ns += kind.count / n_layers *
                    planned_excess_ns(mixer_costs(kind, scenario, scenario.weights, model.width_law, form),
                                      model, scenario, form);
  for (const MlpKind& kind : scenario.plan->mlps)
    sum.mlp_ns += kind.count / n_layers *
                  planned_excess_ns(mlp_costs(kind, scenario, scenario.weights, model.width_law, form), model,
                                    scenario, form);
  return sum;
}

/// Makes a scenario's model its next-token layer alone. Where nothing describes the layer, it is like the
/// model's last.
void make_next_token_only(Scenario& scenario) {
  scenario.shape.n_layers = 1;
  if (!scenario.plan) return;
  NextTokenLayer next = scenario.plan->next_token.value_or(
      NextTokenLayer{scenario.plan->mixers.back(), scenario.plan->mlps.back()});
  next.mixer.count = next.mlp.count = 1;
  scenario.plan->mixers = {next.mixer};
  scenario.plan->mlps = {next.mlp};
}

}  // namespace

Surroundings surroundings_of(const CostModel& model, const Scenario& scenario) {
  if (scenario.regime == Regime::as_fitted || scenario.regime == model.regime) return {};
  return {true, scenario.regime, regime_costs(scenario.regime)};
}

double long_context_ns(const TransferredCosts& costs, const Scenario& scenario, const ModelShape& shape) {
  if (!scenario.plan)
    return split_ns(costs, scenario.batch * scenario.context *
                               work_of(speculation::Operation::attention, shape, scenario.weights, 1.0,
                                       scenario.tensor_parallel)
                                   .kv_bytes_per_context_row);
  double sum = 0.0;
  for (const MixerKind& kind : scenario.plan->mixers)
    sum += kind.count * split_ns(costs, scenario.batch * kv_bytes(kind, scenario));
  return sum / shape.n_layers;
}

void PassMap::put(std::int32_t rows, Part part, const CostCoefficients& coefficients, double arithmetic_ns,
                  double link_ns) {
  const Index row = ((rows - 1) * parts + part) * 2;
  for (Index i = 0; i < price_unknowns; ++i) {
    map(row, i) = coefficients.fixed[static_cast<std::size_t>(i)];
    map(row + 1, i) = coefficients.a_context_row[static_cast<std::size_t>(i)];
  }
  arithmetic[row] = arithmetic_ns;
  link[row] = link_ns;
}

void PassMap::fill_map(const Scenario& scenario, const Surroundings& surroundings) {
  const CostModel& model = costs.model;
  for (const speculation::DraftSublayers& draft : drafts)
    if (const auto type = own_type(draft, scenario.weights);
        type && std::ranges::find(draft_types, *type) == draft_types.end())
      draft_types.push_back(*type);
  const Index rows_of_map = type_row(draft_types.size());
  map = MatrixXd::Zero(rows_of_map, price_unknowns);
  arithmetic = VectorXd::Zero(rows_of_map);
  link = VectorXd::Zero(rows_of_map);
  const double gap_ns = surroundings.costs.gap_ns_per_kernel;
  kernels = mean_kernels(scenario);
  for (std::int32_t rows = 1; rows <= widths; ++rows) {
    const PassForm form{.rows = static_cast<double>(rows),
                        .batch = static_cast<double>(scenario.batch),
                        .tensor_parallel = scenario.tensor_parallel};
    const double sum_ns = sublayer_sum_ns(model, scenario, surroundings.regime, form.rows * form.batch);
    const ConstantTimes constants = constant_times(costs, model, scenario, form);
    CostCoefficients attention = mean_mixer(scenario, scenario.weights, model.width_law, form);
    CostCoefficients mlp = mean_mlp(scenario, scenario.weights, model.width_law, form);
    replace_surroundings(surroundings, attention, false);
    replace_surroundings(surroundings, mlp, false);
    put(rows, attention_part, attention, constants.mixer_ns + kernels.mixer * gap_ns, sum_ns);
    put(rows, mlp_part, mlp, constants.mlp_ns + kernels.mlp * gap_ns, sum_ns);

    const CostCoefficients head = operation_coefficients(speculation::Operation::head, scenario.shape,
                                                         scenario.weights, model.width_law, form);
    const double rest_ns = arithmetic_excess_ns(head_products, model, scenario, form) + rest_kernels * gap_ns;
    CostCoefficients draft = head;
    CostCoefficients target = head;
    draft.fixed[draft_step_parameter] += 1.0;
    target.fixed[target_pass_parameter] += 1.0;
    replace_surroundings(surroundings, draft, true);
    replace_surroundings(surroundings, target, true);
    // Gathering the parts of the vocabulary takes as long as a small all-reduce.
    put(rows, draft_rest_part, draft, rest_ns, sum_ns);
    put(rows, target_rest_part, target, rest_ns, sum_ns);
  }
  // Rows of several requests at a time are planned together, which the counts do not tell.
  if (model.launches_as_planned && scenario.batch == 1) fill_planned(scenario);
  fill_auxiliary(scenario, surroundings);
  fill_draft_types(scenario, surroundings);
  if (!surroundings.replaced) return;
  host = host_times(surroundings.costs, kernels);
  draft_host_ns = surroundings.costs.host_ns_per_draft_step;
  target_host_ns = surroundings.costs.host_ns_per_pass;
}

void PassMap::fill_planned(const Scenario& scenario) {
  const WidthLaw law = costs.model.width_law;
  PassForm form{.tensor_parallel = scenario.tensor_parallel};
  CostVector attention_before = mean_mixer(scenario, scenario.weights, law, form).fixed;
  CostVector mlp_before = mean_mlp(scenario, scenario.weights, law, form).fixed;
  for (const std::int32_t rows : row_steps) {
    form.planned = rows;
    const CostVector attention = mean_mixer(scenario, scenario.weights, law, form).fixed;
    const CostVector mlp = mean_mlp(scenario, scenario.weights, law, form).fixed;
    std::array<CostVector, 2>& step = planned.emplace_back(std::array{attention, mlp});
    add_to(step[0], attention_before, -1.0);
    add_to(step[1], mlp_before, -1.0);
    attention_before = attention;
    mlp_before = mlp;
  }
}

std::optional<WeightType> PassMap::own_type(const speculation::DraftSublayers& draft, WeightType target) {
  if (!draft.weights) return std::nullopt;
  const WeightType type = weight_type_of(*draft.weights);
  return layer_weight_bytes(type) == layer_weight_bytes(target) ? std::nullopt : std::optional(type);
}

/// Sublayers of one row on weights of another type, in terms of the values of the target's type.
void PassMap::fill_draft_types(const Scenario& scenario, const Surroundings& surroundings) {
  const CostModel& model = costs.model;
  const double gap_ns = surroundings.costs.gap_ns_per_kernel;
  const PassForm form{.batch = static_cast<double>(scenario.batch),
                      .tensor_parallel = scenario.tensor_parallel};
  for (std::size_t i = 0; i < draft_types.size(); ++i) {
    const WeightType type = draft_types[i];
    const CostVector ratios = type_ratios(model, scenario.weights, type);
    const double factor = model.from_trace ? draft_type_factor(model, type) / costs.type_factor : 1.0;
    const double sum_ns = sublayer_sum_ns(model, scenario, surroundings.regime, form.batch);
    CostVector scale{};
    CostModel of_type = model;
    for (std::size_t j = 0; j < cost_parameter_count; ++j) {
      scale[j] = ratios[j] * (is_of_layer_products(j) ? factor : 1.0);
      of_type.values[j] *= scale[j];
    }
    Scenario asked = scenario;
    asked.weights = type;
    const ConstantTimes constants = constant_times(costs, of_type, asked, form);
    CostCoefficients attention = mean_mixer(scenario, type, model.width_law, form);
    CostCoefficients mlp = mean_mlp(scenario, type, model.width_law, form);
    Index row = type_row(i);
    for (CostCoefficients* const part : {&attention, &mlp}) {
      replace_surroundings(surroundings, *part, false);
      for (std::size_t j = 0; j < cost_parameter_count; ++j) {
        map(row, static_cast<Index>(j)) = scale[j] * part->fixed[j];
        map(row + 1, static_cast<Index>(j)) = scale[j] * part->a_context_row[j];
      }
      arithmetic[row] = part == &attention ? constants.mixer_ns + kernels.mixer * gap_ns
                                           : constants.mlp_ns + kernels.mlp * gap_ns;
      link[row] = sum_ns;
      row += 2;
    }
  }
}

/// Composes auxiliary passes from operations once, since each has separate rows. Those with more rows than
/// the maximum of a pass are split.
void PassMap::fill_auxiliary(const Scenario& scenario, const Surroundings& surroundings) {
  const CostModel& model = costs.model;
  const double gap_ns = surroundings.costs.gap_ns_per_kernel;
  for (std::size_t i = 0; i < auxiliary_passes.size(); ++i) {
    const AuxiliaryPass& pass = auxiliary_passes[i];
    Scenario of_pass = scenario;
    if (i >= auxiliary_count) {
      if (draft_cost->vocabulary > 0) of_pass.shape.vocab = draft_cost->vocabulary;
    } else if (pass.kind == AuxiliaryPassKind::draft_model && scenario.draft_model) {
      of_pass.shape = *scenario.draft_model;
      of_pass.plan.reset();
    }
    const bool is_next_token = pass.kind == AuxiliaryPassKind::next_token;
    if (is_next_token) make_next_token_only(of_pass);
    const ModelShape& shape = of_pass.shape;
    const MeanKernels of_sublayers = mean_kernels(of_pass);
    CostCoefficients sum;
    double arithmetic_ns = 0.0;
    double link_ns = 0.0;
    double repeats = 0.0;
    // Another model reads new text as a prefill does.
    const std::int32_t widest =
        drafts_beside(pass.kind) ? std::max(pass.rows, 1) : scenario.widest_auxiliary_pass;
    for (const auto& [rows, times] : {std::pair{widest, pass.rows / widest}, {pass.rows % widest, 1}}) {
      if (rows == 0 || times == 0) continue;
      const double count = times;
      const PassForm form{.rows = static_cast<double>(rows),
                          .batch = static_cast<double>(scenario.batch),
                          .tensor_parallel = scenario.tensor_parallel};
      const ConstantTimes constants = constant_times(costs, model, of_pass, form);
      const double sum_ns = reduce_ns(model, scenario, form.rows * form.batch * shape.d_model);
      CostCoefficients one;
      add(one, mean_mixer(of_pass, scenario.weights, model.width_law, form), pass.attention);
      add(one, mean_mlp(of_pass, scenario.weights, model.width_law, form), pass.mlp);
      double constant_ns = pass.attention * (constants.mixer_ns + of_sublayers.mixer * gap_ns) +
                           pass.mlp * (constants.mlp_ns + of_sublayers.mlp * gap_ns) + rest_kernels * gap_ns;
      if (is_next_token) {
        const SublayerCosts join = join_costs(of_pass, scenario.weights, model.width_law, form);
        add(one, join.coefficients);
        constant_ns += planned_excess_ns(join, model, of_pass, form) + join.kernels * gap_ns;
      }
      double reductions = pass.attention + pass.mlp;
      if (pass.has_head) {
        add(one, operation_coefficients(speculation::Operation::head, shape, scenario.weights,
                                        model.width_law, form));
        constant_ns += arithmetic_excess_ns(head_products, model, of_pass, form);
        reductions += 1.0;
      }
      one.fixed[drafts_beside(pass.kind) ? draft_step_parameter : target_pass_parameter] += 1.0;
      replace_surroundings(surroundings, one, true);
      add(sum, one, count);
      arithmetic_ns += count * constant_ns;
      link_ns += count * reductions * sum_ns;
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

void PassMap::correct_passes(const CostModel& model, const PassMap* before) {
  if (model.passes.empty()) return;
  const bool has_vanilla = std::any_of(model.passes.begin(), model.passes.end(),
                                       [](const MeasuredPass& pass) { return pass.kind.is_vanilla; });
  kinds = {{.is_vanilla = has_vanilla, .n_layers = n_layers}};
  for (const speculation::DraftSublayers& draft : drafts)
    kinds.push_back({.is_draft = true,
                     .attention = draft.attention,
                     .mlp = draft.mlp,
                     .n_layers = n_layers,
                     .weights = own_type(draft, model.weights)});
  const std::size_t verifiers = above_exit ? drafts.size() : 1;
  for (std::size_t i = 0; i < verifiers; ++i)
    for (std::int32_t rows = 2; rows <= widths; ++rows)
      kinds.push_back({.rows = rows, .one_row = above_exit ? drafts[i].attention : 0, .n_layers = n_layers});
  if (before != nullptr && before->of_all_kinds && kinds == before->kinds)
    of_all_kinds = before->of_all_kinds;
  else
    of_all_kinds = std::make_shared<const PassCorrections>(model.passes, model.correction_scale, kinds);
  const VectorXd deviations = of_all_kinds->deviations();
  correction_deviations.assign(deviations.begin(), deviations.end());
  corrections = priced.size() < drafts.size()
                    ? std::make_shared<const PassCorrections>(of_all_kinds->of(priced_places()))
                    : of_all_kinds;
}

std::vector<Index> PassMap::priced_places() const {
  std::vector<Index> places{0};
  for (const std::size_t draft : priced) places.push_back(step_place(draft));
  for (const std::size_t draft : above_exit ? priced : std::vector<std::size_t>{0})
    for (std::int32_t rows = 2; rows <= widths; ++rows) places.push_back(verify_place(draft, rows));
  return places;
}

void PassMap::correct_own(const CostModel& model) {
  if (auxiliary_count == 0) return;
  Prices by_law;
  assemble(costs.model.values, factors(costs.model.values, no_noise()), 1.0, 1.0, {}, 0.0, by_law);
  for (std::size_t i = 0; i < auxiliary_count; ++i) {
    const auto measured = std::find_if(
        model.auxiliary_passes.begin(), model.auxiliary_passes.end(),
        [&](const MeasuredAuxiliaryPass& known) { return known.kind == auxiliary_passes[i].kind; });
    const bool is_known = measured != model.auxiliary_passes.end();
    auxiliary_measured.push_back(is_known
                                     ? AffineTime{by_law.auxiliary[i].ns * measured->factor,
                                                  by_law.auxiliary[i].ns_per_context_row * measured->factor}
                                     : AffineTime{-1.0, 0.0});
    auxiliary_error.push_back(is_known ? measured->relative_error : 0.0);
  }
}

void drop_launches(CostCoefficients& part) {
  for (std::size_t i = 0; i < speculation::operation_count; ++i)
    part.fixed[launch_parameter(static_cast<speculation::Operation>(i))] = 0.0;
}

double arithmetic_excess_ns(std::span<const speculation::Operation> products, const CostModel& model,
                            const Scenario& scenario, const PassForm& form) {
  if (!model.gpu) return 0.0;
  double sum = 0.0;
  for (const speculation::Operation product : products) {
    CostCoefficients part =
        operation_coefficients(product, scenario.shape, scenario.weights, model.width_law, form);
    drop_launches(part);
    const Work work =
        work_of(product, scenario.shape, scenario.weights, form.rows * form.batch, form.tensor_parallel);
    const WeightType type = product == speculation::Operation::head ? WeightType::bf16 : scenario.weights;
    const double arithmetic_ns = work.flops / (reached_flops * model.gpu->tflops(type) * 1e3);
    sum += std::max(arithmetic_ns - dot(part.fixed, model.values), 0.0);
  }
  return sum;
}

}  // namespace draftscope::simulator
