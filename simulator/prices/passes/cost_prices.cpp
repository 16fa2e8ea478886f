// SPDX-License-Identifier: GPL-3.0-or-later
#include "prices/passes/cost_prices.h"

#include <draftscope/base/quote.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <tuple>

#include "analysis/explain/thresholds.h"
#include "prices/passes/normal_draws.h"
#include "prices/passes/pass_map.h"

namespace draftscope::simulator {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Whether the conditions are those of the recording, except for drafts, widths and contexts.
bool is_recorded(const CostModel& model, const Scenario& scenario, const Surroundings& surroundings) {
  return model.from_trace && is_on_same_machine(model, scenario) &&
         speculation::same_sizes(model.shape, scenario.shape) && model.weights == scenario.weights &&
         !surroundings.replaced && !scenario.plan && scenario.batch == 1 && scenario.tensor_parallel == 1;
}

std::string draft_cost_text(const DraftCostInput& cost) {
  switch (cost.kind) {
    case DraftCostInput::Kind::share:
      return fmt::format("draft cost: {} vanilla steps per draft step, an input", cost.share);
    case DraftCostInput::Kind::one_layer:
      return fmt::format("draft cost: one layer and a head of {} rows, an input",
                         cost.vocabulary > 0 ? std::to_string(cost.vocabulary) : "the target's");
    case DraftCostInput::Kind::next_token:
      return "draft cost: the model's next-token layer, the join before it and the head";
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

/// Number of normal numbers of a draw before those of corrections.
constexpr std::size_t of_law = factor_count + cost_parameter_count;
/// Number of normal numbers after those of corrections: one per kind of auxiliary passes, then one for the
/// drift of the recorded machine, or for the engine of another. The other numbers are equal with and without
/// them.
constexpr std::size_t last_numbers = std::tuple_size_v<PassMap::AuxiliaryNoise> + 1;

/// Scales all times that speculation has and vanilla decoding does not.
void scale_speculation(double factor, Prices& prices) {
  scale_passes_of_drafts(factor, prices);
  prices.round_ns *= factor;
}

}  // namespace

PriceMap::PriceMap(std::shared_ptr<const PassMap> passes) : passes_(std::move(passes)) {}

Result<PriceMap> PriceMap::make(const CostModel& model, const Scenario& scenario,
                                std::span<const std::int32_t> exits, const PriceMap* before) {
  DRAFTSCOPE_TRY(check_scenario(scenario));
  if (model.covariance.size() != cost_parameter_count * cost_parameter_count)
    return fail("cost model: covariance has {} values, expected {}", model.covariance.size(),
                cost_parameter_count * cost_parameter_count);
  auto made = std::make_shared<PassMap>();
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
  for (std::size_t i = 0; i < made->drafts.size(); ++i)
    if (exits.empty() || std::ranges::binary_search(exits, static_cast<std::int32_t>(i + 1)))
      made->priced.push_back(i);
  made->auxiliary_passes = scenario.auxiliary_passes;
  made->auxiliary_count = made->auxiliary_passes.size();
  made->draft_cost = scenario.draft_cost;
  if (scenario.draft_cost && scenario.draft_cost->is_priced())
    made->auxiliary_passes.push_back({.kind = scenario.draft_cost->kind == DraftCostInput::Kind::next_token
                                                  ? AuxiliaryPassKind::next_token
                                                  : AuxiliaryPassKind::draft_model,
                                      .rows = 1,
                                      .attention = 1,
                                      .mlp = 1,
                                      .has_head = true});
  made->weights = scenario.weights;
  made->n_layers = scenario.shape.n_layers;
  made->widths = scenario.widths;
  made->above_exit = scenario.verified_layers == VerifiedLayers::above_exit && !scenario.draft_cost;
  made->context = scenario.context;
  made->share = (1.0 + here.stall_share) / scenario.batch;
  made->fill_map(scenario, surroundings);
  made->root = covariance_root(here.covariance);
  for (const speculation::DraftSublayers& draft : made->drafts)
    made->draft_starts.push_back(
        draft_start_coefficients(scenario.shape,
                                 PassMap::own_type(draft, scenario.weights).value_or(scenario.weights),
                                 here.width_law, draft.attention, draft.mlp, scenario.tensor_parallel)
            .fixed[draft_start_parameter]);
  if (is_recorded(model, scenario, surroundings)) {
    made->correct_passes(model, before == nullptr ? nullptr : before->passes_.get());
    made->correct_own(model);
    made->drift = model.drift;
    constexpr double unsteady = 0.05;
    if (model.interrupted_share >= thresholds::interrupted_share)
      made->costs.notes.push_back(
          {Provenance::measured, model.drift.sigma,
           fmt::format("the machine was busy: interruptions took {:.0f} % of the recorded time; every pass "
                       "has its share of them by time",
                       100.0 * model.interrupted_share)});
    if (model.drift.sigma > unsteady)
      made->costs.notes.push_back(
          {Provenance::measured, model.drift.sigma,
           fmt::format("the machine was not steady: {} speedups differ by ±{:.0f} %",
                       model.drift.repeats > 1.0 ? "between repeats"
                                                 : "by the differences between requests, repeated",
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
         fmt::format(
             "regime graph, host {}: the engine takes {} beside passes{}", host.name, takes,
             scenario.host ? "" : " (assumed; --host draftscope, serving, eager or a file says otherwise)")});
  }
  if (long_context_ns(made->costs, scenario, scenario.shape) > 0.0)
    made->costs.notes.push_back(
        {Provenance::prior, 0.4,
         fmt::format(
             "contexts up to {:.0f} rows exceed the L2 cache: attention begins after 26 us, of 14 to 38 "
             "in published kernel tables",
             scenario.context)});
  if (scenario.plan)
    made->costs.notes.push_back(
        {Provenance::prior, 0.0,
         fmt::format("{}: {}; kernels of experts and states are priced by the law of products and bytes",
                     scenario.shape.name, plan_text(*scenario.plan))});
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
  const PassMap& made = *passes_;
  const CostVector& values = made.costs.model.values;
  made.assemble(values, made.factors(values, made.no_noise()), 1.0, 1.0, {}, 0.0, result);
  return result;
}

Prices PriceMap::draw(std::uint64_t seed, std::uint64_t index) const {
  Prices result;
  draw(seed, index, {}, result);
  return result;
}

std::size_t PriceMap::noise_size() const {
  const PassMap& made = *passes_;
  const auto of_corrections = static_cast<std::size_t>(made.corrections ? made.corrections->noise_size() : 0);
  return of_law + of_corrections + last_numbers;
}

void PriceMap::draw(std::uint64_t seed, std::uint64_t index, PriceSources vary, Prices& into) const {
  // The numbers of unpriced passes are between those of the priced ones and the last ones.
  const auto used = static_cast<std::size_t>(passes_->no_noise().size());
  std::vector<double> normal(noise_size());
  fill_normal(seed, index, std::span(normal).first(of_law + used));
  fill_normal(seed, index, std::span(normal).last(last_numbers), normal.size() - last_numbers);
  draw(normal, vary, into);
}

void PriceMap::draw(std::span<const double> normal, PriceSources vary, Prices& into) const {
  const PassMap& made = *passes_;
  VectorXd correction_noise = made.no_noise();
  PassMap::AuxiliaryNoise auxiliary_noise{};
  const std::span<const double> last = normal.last(last_numbers);
  if (vary.fit) {
    std::copy_n(normal.begin() + of_law, correction_noise.size(), correction_noise.begin());
    std::copy_n(last.begin(), auxiliary_noise.size(), auxiliary_noise.begin());
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
  made.assemble(values, made.factors(values, correction_noise),
                factor[static_cast<std::size_t>(Factor::link)],
                factor[static_cast<std::size_t>(Factor::host)], auxiliary_noise,
                vary.transfer ? last.back() : 0.0, into);
  if (vary.fit && made.drift.sigma > 0.0) {
    // The errors of measured passes are those of a single repeat's times already.
    const double of_mean = made.drift.repeats > 1.0 ? 1.0 / made.drift.repeats : 0.0;
    scale_speculation(std::exp(made.drift.sigma * std::sqrt(1.0 + of_mean) *
                               student_quantile(last.back(), made.drift.freedom)),
                      into);
  }
}

bool PriceMap::is_as_recorded() const {
  return passes_->corrections != nullptr && !passes_->costs.model.is_calibrated;
}

bool PriceMap::has_own_ratios() const {
  return is_as_recorded() && !passes_->draft_cost;
}

std::span<const CostNote> PriceMap::notes() const {
  return passes_->costs.notes;
}

Result<Prices> prices(const CostModel& model, const Scenario& scenario) {
  DRAFTSCOPE_TRY_ASSIGN(const PriceMap map, PriceMap::make(model, scenario));
  return map.mean();
}

}  // namespace draftscope::simulator
