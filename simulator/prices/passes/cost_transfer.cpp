// SPDX-License-Identifier: GPL-3.0-or-later
#include "prices/passes/cost_transfer.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "prices/fit/cost_parameters.h"
#include "prices/fit/cost_priors.h"
#include "prices/plan/plan_work.h"

namespace draftscope::simulator {

namespace {

std::string percent(double share) {
  return fmt::format("±{:.0f} %", 100.0 * share);
}

std::string_view law_source(Calibration calibration) {
  switch (calibration) {
    case Calibration::fitted:
      return "fitted to one engine's kernel tables";
    case Calibration::related:
      return "prior: a related GPU's";
    case Calibration::family:
      break;
  }
  return "prior: the middle of fitted GPUs of its memory family";
}

void note_specification(const GpuSpecification& gpu, WeightType weights, const EngineLaw* engine,
                        std::vector<CostNote>& notes) {
  const ProductLaw law = product_law(gpu, weights, engine);
  const Provenance provenance =
      law.calibration == Calibration::fitted ? Provenance::fitted : Provenance::prior;
  const std::string source = engine == nullptr
                                 ? std::string(law_source(law.calibration))
                                 : fmt::format("fitted to passes of this engine on an {}", engine->gpu);
  notes.push_back({provenance, law.t0_sigma,
                   fmt::format("{}: launch of a {} product {} us, {} ({})", gpu.name,
                               weight_type_name(weights), law.t0_us, percent(law.t0_sigma), source)});
  notes.push_back(
      {provenance, law.efficiency_sigma,
       fmt::format("{}: {:.0f} % of {} GB/s in {}, {} ({})", gpu.name, 100.0 * law.efficiency,
                   gpu.bandwidth_gb_s, weight_type_name(weights), percent(law.efficiency_sigma), source)});
}

void note_range(const CostModel& model, const Scenario& scenario, std::vector<CostNote>& notes) {
  const auto held = [&](std::string text) {
    notes.push_back({Provenance::extrapolated, 0.0, std::move(text)});
  };
  const std::int64_t rows = std::int64_t{scenario.widths} * scenario.batch;
  if (rows > model.largest_rows)
    held(fmt::format("passes of more than {} rows are extrapolated, up to {}", model.largest_rows, rows));
  if (scenario.context > model.largest_context)
    held(fmt::format("contexts beyond {:.0f} rows are extrapolated, up to {:.0f}", model.largest_context,
                     scenario.context));
  if (scenario.weights != model.weights)
    held(model.gpu ? fmt::format("{} weights: launches and efficiency at their ratio to {} in specifications",
                                 weight_type_name(scenario.weights), weight_type_name(model.weights))
                   : fmt::format("{} weights: bytes as such, at the efficiency of {}",
                                 weight_type_name(scenario.weights), weight_type_name(model.weights)));
  const double bytes =
      scenario.plan ? read_layers(scenario) + work_of(speculation::Operation::head, scenario.shape,
                                                      scenario.weights, 1.0, scenario.tensor_parallel)
                                                  .weight_bytes
                    : weight_bytes_per_step(scenario.shape, scenario.weights) / scenario.tensor_parallel;
  const double ratio = bytes / weight_bytes_per_step(model.shape, model.weights);
  constexpr double same = 1e-9;
  if (std::abs(ratio - 1.0) > same)
    held(
        fmt::format("a pass reads {:.3g} times the recorded bytes; launches and efficiency are held", ratio));
}

/// Adds notes on parameters that the scenario needs and the recording did not determine, one per parameter.
void note_sources(const CostModel& model, const Scenario& scenario, std::vector<CostNote>& notes) {
  const double rows = static_cast<double>(scenario.widths) * scenario.batch;
  const PassForm form{.rows = static_cast<double>(scenario.widths),
                      .batch = static_cast<double>(scenario.batch),
                      .tensor_parallel = scenario.tensor_parallel};
  CostCoefficients used = mean_mixer(scenario, scenario.weights, model.width_law, form);
  add(used, mean_mlp(scenario, scenario.weights, model.width_law, form));
  add(used, operation_coefficients(speculation::Operation::head, scenario.shape, scenario.weights,
                                   model.width_law, form));
  for (std::size_t i = 0; i < cost_parameter_count; ++i) {
    const bool is_rest =
        (i >= draft_step_parameter && i <= step_round_parameter) || i == draft_start_parameter;
    if (model.sources[i] == ParameterSource::trace ||
        (!is_rest && used.fixed[i] == 0.0 && used.a_context_row[i] == 0.0))
      continue;
    const double sigma = std::sqrt(std::max(model.covariance[i * (cost_parameter_count + 1)], 0.0));
    const double relative = model.values[i] > 0.0 ? sigma / model.values[i] : 0.0;
    notes.push_back(
        {Provenance::undetermined, relative,
         fmt::format("{}: {:.4g} ± {:.2g}, not determined by the recording{}, up to {:.0f} rows",
                     cost_parameter_name(model.width_law, i), model.values[i], sigma,
                     model.sources[i] == ParameterSource::prior ? " but by the engine's law" : "", rows)});
  }
}

struct Ends {
  double small_ns;
  double large_ns;
};
using Degrees = std::array<Ends, 3>;  ///< 2, 4, 8 GPUs

struct LinkRow {
  std::string_view name;
  Degrees degrees;
  double sigma;
};

// Ends of the tables between GPUs.
constexpr double small_bytes = 8192.0;
constexpr double large_bytes = 65536.0;

/// [LinkKind]
constexpr std::array<LinkRow, 4> links{
    {{"NVLink (as of an A100)", {{{5.3e3, 5.7e3}, {6.0e3, 7.8e3}, {6.5e3, 11.4e3}}}, 0.3},
     {"NVLink (as of an H100)", {{{4.5e3, 4.8e3}, {4.8e3, 5.8e3}, {5.3e3, 7.9e3}}}, 0.3},
     {"NVLink (as of a B200)", {{{7.1e3, 7.4e3}, {7.4e3, 8.1e3}, {8.1e3, 9.4e3}}}, 0.3},
     {"PCIe", {{{5e3, 8e3}, {15e3, 25e3}, {27e3, 49e3}}}, 0.5}}};

const LinkRow& row_of(LinkKind kind) {
  return links[static_cast<std::size_t>(kind)];
}

std::size_t place_of(std::int32_t degree) {
  return degree <= 2 ? 0 : degree <= 4 ? 1 : 2;
}

/// Relative position between the table's small and large end: 0 below the small one, above 1 beyond the large
/// one.
double share_of(double bytes) {
  return std::max((bytes - small_bytes) / (large_bytes - small_bytes), 0.0);
}

double growth_ns(const LinkRow& row, std::int32_t degree) {
  const Ends ends = row.degrees[place_of(degree)];
  return ends.large_ns - ends.small_ns;
}

}  // namespace

bool is_on_same_machine(const CostModel& model, const Scenario& scenario) {
  return !scenario.gpu || (model.gpu && model.gpu->name == scenario.gpu->name &&
                           model.gpu->bandwidth_gb_s == scenario.gpu->bandwidth_gb_s);
}

Factor factor_of(std::size_t parameter) {
  if (is_launch_parameter(parameter)) return Factor::launch;
  return is_rate_parameter(parameter) ? Factor::bandwidth : Factor::host;
}

double draft_type_factor(const CostModel& model, WeightType type) {
  const auto known = std::ranges::find(model.draft_types, type, &MeasuredDraftType::type);
  return known == model.draft_types.end() ? 1.0 : known->factor;
}

TransferredCosts transfer(const CostModel& model, const Scenario& scenario) {
  TransferredCosts costs{.model = model};
  costs.ratio.fill(1.0);
  const bool is_moved = !is_on_same_machine(model, scenario);
  // Products of fewer bits use other kernels.
  const bool is_renewed = model.gpu && model.weights != scenario.weights &&
                          (is_narrow(model.weights) || is_narrow(scenario.weights));
  // A calibration keeps its passes, and takes only the time between them from a stated host.
  const bool is_of_other_engine = !model.from_trace && !model.is_calibrated && model.gpu && scenario.host &&
                                  scenario.host->law != model.engine;
  const bool specified_only = (is_moved && (!model.from_trace || !model.gpu)) ||
                              (is_renewed && !model.from_trace) || is_of_other_engine;
  if (specified_only) {
    if (model.from_trace)
      costs.notes.push_back(
          {Provenance::prior, 0.0,
           "the recording's machine is no specified GPU: nothing of its costs carries over"});
    costs.model = cost_model_of(scenario.gpu ? *scenario.gpu : *model.gpu, scenario.shape, scenario.weights,
                                scenario.host ? scenario.host->law : nullptr);
  } else if (is_moved || is_renewed) {
    const GpuSpecification& there = is_moved ? *scenario.gpu : *model.gpu;
    costs.ratio = value_ratios({*model.gpu, model.weights}, {there, scenario.weights}, model.engine);
    for (std::size_t i = 0; i < cost_parameter_count; ++i) costs.model.values[i] *= costs.ratio[i];
    costs.model.gpu = there;
    const ProductLaw law = product_law(there, scenario.weights, model.engine);
    const double other_host = is_moved ? 0.3 : 0.0;
    costs.sigma = {law.t0_sigma, law.efficiency_sigma, other_host, 0.0};
    if (is_moved) {
      costs.model.stall_share = 0.0;  // Waits are the recorded machine's.
      costs.notes.push_back(
          {Provenance::extrapolated, other_host,
           fmt::format("from {} to {}: the engine's ratio to the specification is kept, and the "
                       "host's part, {}",
                       model.gpu->name, there.name, percent(other_host))});
    }
  }
  if (model.weights != scenario.weights && costs.model.from_trace) {
    costs.type_factor = draft_type_factor(model, scenario.weights);
    for (std::size_t i = 0; i < cost_parameter_count; ++i) {
      if (!is_of_layer_products(i)) continue;
      costs.ratio[i] *= costs.type_factor;
      costs.model.values[i] *= costs.type_factor;
    }
  }
  if (costs.model.gpu) {
    for (std::size_t i = 0; i < speculation::product_count; ++i)
      costs.floor[per_byte_parameter(static_cast<speculation::Operation>(i))] =
          1.0 / costs.model.gpu->bandwidth_gb_s;
    if (is_moved || is_renewed || !model.from_trace)
      note_specification(*costs.model.gpu, scenario.weights, costs.model.engine, costs.notes);
  }
  costs.is_specified = !costs.model.from_trace;
  if (scenario.tensor_parallel > 1 && costs.model.gpu) {
    const LinkKind link = link_kind(*costs.model.gpu);
    const double sigma = all_reduce_sigma(link);
    costs.sigma[static_cast<std::size_t>(Factor::link)] = sigma;
    costs.notes.push_back({Provenance::prior, sigma,
                           fmt::format("all-reduce of {} GPUs over {} from published tables, {}",
                                       scenario.tensor_parallel, row_of(link).name, percent(sigma))});
  }
  if (costs.model.from_trace) {
    note_range(model, scenario, costs.notes);
    note_sources(model, scenario, costs.notes);
  }
  for (std::size_t i = 0; i < cost_parameter_count; ++i)
    costs.model.values[i] = std::max(costs.model.values[i], costs.floor[i]);
  return costs;
}

LinkKind link_kind(const GpuSpecification& gpu) {
  constexpr double slowest_nvlink_gb_s = 150.0;
  if (gpu.link_gb_s.value_or(0.0) < slowest_nvlink_gb_s) return LinkKind::pcie;
  if (gpu.architecture.starts_with("sm10")) return LinkKind::nvlink_b200;
  return gpu.architecture == "sm90" ? LinkKind::nvlink_h100 : LinkKind::nvlink_a100;
}

double all_reduce_sigma(LinkKind kind) {
  return row_of(kind).sigma;
}

double all_reduce_ns(const GpuSpecification& gpu, std::int32_t degree, double bytes) {
  if (degree <= 1) return 0.0;
  const LinkRow& row = row_of(link_kind(gpu));
  constexpr double slow_link_gb_s = 16.0;  // Rate of a GPU that names none.
  const double link = std::max(gpu.link_gb_s.value_or(slow_link_gb_s), 1.0);
  return row.degrees[place_of(degree)].small_ns + std::min(share_of(bytes), 1.0) * growth_ns(row, degree) +
         2.0 * std::max(bytes - large_bytes, 0.0) / link;
}

double eager_all_reduce_ns() {
  return 30e3;
}

}  // namespace draftscope::simulator
