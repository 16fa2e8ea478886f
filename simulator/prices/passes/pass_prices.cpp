// SPDX-License-Identifier: GPL-3.0-or-later
// Prices of one set of parameters, composed from a map of passes.
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "prices/fit/robust_fit.h"
#include "prices/passes/pass_map.h"

namespace draftscope::simulator {

namespace {

using Eigen::Index;
using Eigen::VectorXd;

}  // namespace

void scale_passes_of_drafts(double factor, Prices& prices) {
  for (DraftPrices& draft : prices.drafts) {
    draft.step *= factor;
    draft.start_ns *= factor;
    for (double& ns : draft.planned_ns) ns *= factor;
    for (AffineTime& verify : draft.verify) verify *= factor;
  }
  for (AffineTime& own : prices.auxiliary) own *= factor;
}

VectorXd PassMap::factors(const CostVector& values, const VectorXd& noise) const {
  return corrections ? corrections->factors(values, noise) : VectorXd();
}

/// Times of passes for one set of parameters, composed from the parts' times.
class PassMap::PricedPasses {
 public:
  PricedPasses(const PassMap& made, const CostVector& values, const VectorXd& corrections, double link_factor,
               double host_factor)
      : made_(made),
        corrections_(corrections),
        host_factor_(host_factor),
        part_times_(made.map * Eigen::Map<const VectorXd>(values.data(), price_unknowns) + made.arithmetic +
                    link_factor * made.link) {}

  [[nodiscard]] AffineTime target_step() const { return corrected(target_pass(1, {}, everything()), 0); }
  /// Verification without a draft's exit states: all layers run `rows` rows.
  [[nodiscard]] AffineTime verification(std::int32_t rows) const {
    return corrected(target_pass(rows, {}, everything()), made_.verify_place(0, rows));
  }
  [[nodiscard]] AffineTime verification_above(std::size_t draft, std::int32_t rows) const {
    const speculation::DraftSublayers& below = made_.drafts[draft];
    const speculation::DraftSublayers above{made_.n_layers - below.attention, made_.n_layers - below.mlp};
    return corrected(target_pass(rows, below, above), made_.verify_place(draft, rows));
  }
  /// Makes verifications, [rows] from 2 on, take no less time for more rows, unless measurements prove that
  /// they do. `draft` is the one above whose exit they run.
  void make_monotone(std::size_t draft, std::vector<AffineTime>& verify) const {
    if (corrections_.size() == 0 || verify.size() < 4) return;
    const auto count = verify.size() - 2;
    std::vector<double> logs(count);
    for (std::size_t i = 0; i < count; ++i) logs[i] = std::log(verify[i + 2].at(made_.context));
    const std::vector<double> before = logs;
    const std::span<const double> deviations(made_.correction_deviations);
    pool_decreases(logs, deviations.subspan(static_cast<std::size_t>(made_.verify_place(draft, 2)), count));
    for (std::size_t i = 0; i < count; ++i) {
      verify[i + 2] *= std::exp(logs[i] - before[i]);
    }
  }
  [[nodiscard]] AffineTime draft_step(std::size_t draft) const {
    const speculation::DraftSublayers& sublayers = made_.drafts[draft];
    AffineTime sum = part(1, draft_rest_part);
    if (const auto type = made_.own_type(sublayers, made_.weights)) {
      const auto place = std::ranges::find(made_.draft_types, *type) - made_.draft_types.begin();
      const Index row = made_.type_row(static_cast<std::size_t>(place));
      add_times(sublayers, {part_times_[row], part_times_[row + 1]},
                {part_times_[row + 2], part_times_[row + 3]}, sum);
    } else {
      add_sublayers(sublayers, 1, sum);
    }
    return corrected(on_host(sum, sublayers, made_.draft_host_ns), step_place(draft));
  }
  /// Price by the law: the rows and the host's launch time.
  [[nodiscard]] AffineTime auxiliary_pass(std::size_t own) const {
    const Index row = made_.own_row(own);
    AffineTime sum{part_times_[row], part_times_[row + 1]};
    const AuxiliaryPass& pass = made_.auxiliary_passes[own];
    const HostTimes& on_host = made_.host;
    const double launches_ns =
        host_factor_ * made_.own_repeats[own] *
        (pass.attention * on_host.attention_ns + pass.mlp * on_host.mlp_ns + on_host.rest_ns);
    if (launches_ns > sum.at(made_.context)) sum = {launches_ns, 0.0};
    const bool is_draft = drafts_beside(pass.kind);
    const double host_ns = made_.own_repeats[own] * (is_draft ? made_.draft_host_ns : made_.target_host_ns);
    return {(sum.ns + host_factor_ * host_ns) * made_.share, sum.ns_per_context_row * made_.share};
  }
  [[nodiscard]] AffineTime corrected(AffineTime time, Index place) const {
    if (corrections_.size() > 0) time *= corrections_[place];
    return time;
  }

 private:
  [[nodiscard]] speculation::DraftSublayers everything() const { return {made_.n_layers, made_.n_layers}; }

  [[nodiscard]] AffineTime part(std::int32_t rows, Part which) const {
    const Index row = ((rows - 1) * parts + which) * 2;
    return {part_times_[row], part_times_[row + 1]};
  }
  /// A pass of the target whose sublayers run one row (`few`) or all rows (`all`), on kernels and host.
  [[nodiscard]] AffineTime target_pass(std::int32_t rows, const speculation::DraftSublayers& few,
                                       const speculation::DraftSublayers& all) const {
    AffineTime sum = part(rows, target_rest_part);
    add_sublayers(few, 1, sum);
    add_sublayers(all, rows, sum);
    return on_host(sum, {few.attention + all.attention, few.mlp + all.mlp}, made_.target_host_ns);
  }

  /// The time of a pass's kernels, or of their launches by the host if that is longer, and the host's own.
  [[nodiscard]] AffineTime on_host(AffineTime sum, const speculation::DraftSublayers& count,
                                   double host_ns) const {
    const HostTimes& times = made_.host;
    const double launches_ns =
        host_factor_ * (count.attention * times.attention_ns + count.mlp * times.mlp_ns + times.rest_ns);
    if (launches_ns > sum.at(made_.context)) sum = {launches_ns, 0.0};
    return {(sum.ns + host_factor_ * host_ns) * made_.share, sum.ns_per_context_row * made_.share};
  }

  void add_sublayers(const speculation::DraftSublayers& count, std::int32_t rows, AffineTime& sum) const {
    add_times(count, part(rows, attention_part), part(rows, mlp_part), sum);
  }

  static void add_times(const speculation::DraftSublayers& count, const AffineTime& attention,
                        const AffineTime& mlp, AffineTime& sum) {
    const auto attention_count = static_cast<double>(count.attention);
    const auto mlp_count = static_cast<double>(count.mlp);
    sum.ns += attention_count * attention.ns + mlp_count * mlp.ns;
    sum.ns_per_context_row +=
        attention_count * attention.ns_per_context_row + mlp_count * mlp.ns_per_context_row;
  }

  const PassMap& made_;
  const VectorXd& corrections_;
  double host_factor_;
  VectorXd part_times_;
};

void PassMap::assemble(const CostVector& values, const VectorXd& corrections_of_passes, double link_factor,
                       double host_factor, const AuxiliaryNoise& auxiliary_noise, double engine_noise,
                       Prices& into) const {
  const PricedPasses times(*this, values, corrections_of_passes, link_factor, host_factor);
  into.host_ratio = costs.model.host_ratio * host_factor;
  into.auxiliary.resize(auxiliary_count);
  for (std::size_t i = 0; i < auxiliary_count; ++i) {
    if (auxiliary_measured.empty() || auxiliary_measured[i].ns < 0.0) {
      into.auxiliary[i] = times.auxiliary_pass(i);
      continue;
    }
    into.auxiliary[i] = auxiliary_measured[i];
    into.auxiliary[i] *=
        std::exp(auxiliary_error[i] * auxiliary_noise[static_cast<std::size_t>(auxiliary_passes[i].kind)]);
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
    times.make_monotone(0, whole);
  }
  for (const std::size_t i : priced) {
    DraftPrices& draft = into.drafts[i + 1];
    draft.step = times.draft_step(i);
    draft.planned_ns = planned_ns(i, values);
    if (above_exit) {
      draft.verify.resize(static_cast<std::size_t>(widths) + 1);
      for (std::int32_t rows = 2; rows <= widths; ++rows)
        draft.verify[static_cast<std::size_t>(rows)] = times.verification_above(i, rows);
      times.make_monotone(i, draft.verify);
    } else {
      draft.verify = whole;
    }
    draft.start_ns =
        times.corrected({draft_starts[i] * values[draft_start_parameter] * share, 0.0}, step_place(i)).ns;
    for (std::size_t rows = 2; rows < draft.verify.size(); ++rows) draft.verify[rows].ns += draft.start_ns;
  }
  if (draft_cost) replace_draft_steps(times, into);
  if (engine) add_engine(engine_time(engine_noise), into);
}

std::array<double, row_steps.size()> PassMap::planned_ns(std::size_t draft, const CostVector& values) const {
  const speculation::DraftSublayers below = above_exit ? drafts[draft] : speculation::DraftSublayers{};
  std::array<double, row_steps.size()> result{};
  for (std::size_t i = 0; i < planned.size(); ++i)
    result[i] = share * ((n_layers - below.attention) * dot(planned[i][0], values) +
                         (n_layers - below.mlp) * dot(planned[i][1], values));
  return result;
}

void PassMap::replace_draft_steps(const PricedPasses& times, Prices& into) const {
  AffineTime step;
  if (draft_cost->is_priced()) {
    step = times.auxiliary_pass(auxiliary_count);
  } else if (draft_cost->kind == DraftCostInput::Kind::share) {
    step = into.target_step;
    step *= draft_cost->share;
  }
  for (std::size_t i = 1; i < into.drafts.size(); ++i) {
    DraftPrices& draft = into.drafts[i];
    draft.step = step;
    for (std::size_t rows = 2; rows < draft.verify.size(); ++rows) draft.verify[rows].ns -= draft.start_ns;
    draft.start_ns = 0.0;
  }
}

PassMap::EngineTime PassMap::engine_time(double noise) const {
  constexpr double normal_quantile_90 = 1.2815515655446004;  // Four of five values are within ± this.
  constexpr double min_share = -0.5;
  const double z = noise / normal_quantile_90;
  const double mean_share = 0.5 * (engine->min_share + engine->max_share);
  const double ns = 0.5 * (engine->min_ns + engine->max_ns);
  return {std::max(mean_share + z * 0.5 * (engine->max_share - engine->min_share), min_share),
          std::max(ns + z * 0.5 * (engine->max_ns - engine->min_ns), 0.0)};
}

void PassMap::add_engine(const EngineTime& time, Prices& into) const {
  const double per_step_ns = time.ns * share;
  if (!engine->is_per_pass) {
    into.step_round_ns += per_step_ns + time.share * into.target_step.at(context);
    into.round_ns += per_step_ns + time.share * into.target_step.at(context);
    return;
  }
  into.target_step *= 1.0 + time.share;
  scale_passes_of_drafts(1.0 + time.share, into);
  into.step_round_ns += per_step_ns;
  into.round_ns += per_step_ns;
}

}  // namespace draftscope::simulator
