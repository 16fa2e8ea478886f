// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Passes of a scenario as a linear map of a cost model's parameters, with additions: the corrections by
// measured passes, the host's launches, the engine's time, a draft whose cost is an input.

#include <draftscope/simulator/prices/cost_model.h>
#include <draftscope/simulator/prices/prices.h>
#include <draftscope/simulator/prices/scenario.h>
#include <Eigen/Dense>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "prices/fit/cost_parameters.h"
#include "prices/fit/cost_priors.h"
#include "prices/fit/pass_corrections.h"
#include "prices/passes/cost_transfer.h"
#include "prices/plan/plan_work.h"

namespace draftscope::simulator {

inline constexpr auto price_unknowns = static_cast<Eigen::Index>(cost_parameter_count);
/// Parts of passes for one number of rows. Each has two rows of the map (fixed, per context row).
enum Part : Eigen::Index { attention_part, mlp_part, draft_rest_part, target_rest_part, parts };

/// Costs around the kernels in another regime than the fitted one.
struct Surroundings {
  bool replaced = false;
  Regime regime = Regime::as_fitted;
  RegimeCosts costs;
};

[[nodiscard]] Surroundings surroundings_of(const CostModel& model, const Scenario& scenario);

/// Host time for launching the kernels of a sublayer, and those around the layers.
struct HostTimes {
  double attention_ns = 0.0;
  double mlp_ns = 0.0;
  double rest_ns = 0.0;
};

/// Filled once per scenario, then constant; safe from several threads at once.
struct PassMap {
  class PricedPasses;

  TransferredCosts costs;
  std::vector<speculation::DraftSublayers> drafts;
  std::vector<std::size_t> priced;        ///< Ascending indices into `drafts`; the others have no prices.
  WeightType weights = WeightType::bf16;  ///< Type of the target's weights.
  std::int32_t n_layers = 0;
  std::int32_t widths = 0;
  bool above_exit = false;
  double share = 1.0;  ///< One request's share of a pass, stalls included.
  double context = 0.0;
  double draft_host_ns = 0.0;  ///< Time per pass in addition to the kernels.
  double target_host_ns = 0.0;
  MeanKernels kernels;  ///< Numbers that the host launches for the two sublayers.
  HostTimes host;
  std::optional<HostTime> engine;  ///< Host time outside passes; for a specified machine only.
  std::optional<DraftCostInput> draft_cost;
  Eigen::MatrixXd map;         ///< [(rows − 1) · parts · 2 + part · 2 + (fixed, context)][parameter]
  Eigen::VectorXd arithmetic;  ///< [row of the map]: constants
  Eigen::VectorXd link;
  Eigen::MatrixXd root;              ///< Root of the covariance.
  std::vector<double> draft_starts;  ///< [draft]: coefficient of draft_start_parameter
  /// [row step]: coefficients of the time that an attention and an MLP sublayer take longer if they are
  /// launched for so many rows; empty where none is launched for more rows than there are.
  std::vector<std::array<CostVector, 2>> planned;
  /// Auxiliary passes of the scenario, then that of a draft of one layer if its cost is an input.
  std::vector<AuxiliaryPass> auxiliary_passes;
  std::size_t auxiliary_count = 0;  ///< Number of auxiliary passes of the scenario.
  /// [place in the map]: types of drafts on weights of their own, each with an attention and an MLP part.
  std::vector<WeightType> draft_types;
  std::vector<double> own_repeats;  ///< [auxiliary pass]: number of passes for its rows
  /// [auxiliary pass]: recorded time and its uncertainty; a negative price where it was not recorded.
  std::vector<AffineTime> auxiliary_measured;
  std::vector<double> auxiliary_error;
  std::vector<MeasuredPassKind> kinds;                  ///< [place], below: corrected passes
  std::shared_ptr<const PassCorrections> of_all_kinds;  ///< Null where nothing was measured.
  std::shared_ptr<const PassCorrections> corrections;   ///< Corrections for the places of `priced` only.
  std::vector<double> correction_deviations;            ///< [place]: standard deviation of ln(correction)
  Drift drift;                                          ///< CostModel::drift where it applies.

  void put(std::int32_t rows, Part part, const CostCoefficients& coefficients, double arithmetic_ns,
           double link_ns);
  void fill_map(const Scenario& scenario, const Surroundings& surroundings);
  void fill_auxiliary(const Scenario& scenario, const Surroundings& surroundings);
  void fill_draft_types(const Scenario& scenario, const Surroundings& surroundings);
  void fill_planned(const Scenario& scenario);
  /// `before`, of the same model, may have the same kinds of passes; null = none.
  void correct_passes(const CostModel& model, const PassMap* before);
  void correct_own(const CostModel& model);
  /// Row of the map for the fixed part; the next row is per context row.
  [[nodiscard]] Eigen::Index own_row(std::size_t own) const {
    return (Eigen::Index{widths} * parts + static_cast<Eigen::Index>(own)) * 2;
  }
  /// Row of the map for the attention sublayers of a draft type; those of the MLP sublayers follow.
  [[nodiscard]] Eigen::Index type_row(std::size_t type) const {
    return own_row(auxiliary_passes.size()) + static_cast<Eigen::Index>(type) * 4;
  }
  /// Type of a draft's own weights; absent where they have the bytes of the target's.
  [[nodiscard]] static std::optional<WeightType> own_type(const speculation::DraftSublayers& draft,
                                                          WeightType target);
  /// One normal number for each kind of auxiliary passes.
  using AuxiliaryNoise = std::array<double, auxiliary_pass_kind_count>;
  /// The engine's share of a vanilla step and its time per step; `noise` is standard normal.
  struct EngineTime {
    double share = 0.0;
    double ns = 0.0;
  };
  [[nodiscard]] EngineTime engine_time(double noise) const;
  void add_engine(const EngineTime& time, Prices& into) const;
  /// DraftPrices::planned_ns of a draft.
  [[nodiscard]] std::array<double, row_steps.size()> planned_ns(std::size_t draft,
                                                                const CostVector& values) const;
  void replace_draft_steps(const PricedPasses& times, Prices& into) const;
  [[nodiscard]] Eigen::VectorXd no_noise() const {
    return Eigen::VectorXd::Zero(corrections ? corrections->noise_used() : 0);
  }
  /// [place]: factor of the law; empty where nothing was measured.
  [[nodiscard]] Eigen::VectorXd factors(const CostVector& values, const Eigen::VectorXd& noise) const;
  void assemble(const CostVector& values, const Eigen::VectorXd& corrections_of_passes, double link_factor,
                double host_factor, const AuxiliaryNoise& auxiliary_noise, double engine_noise,
                Prices& into) const;

  /// Ascending places of the passes in `priced`.
  [[nodiscard]] std::vector<Eigen::Index> priced_places() const;

  // Places of passes: the target step, the drafts' steps, then verifications of 2 to widths rows, repeated
  // per draft if they depend on it.
  [[nodiscard]] static Eigen::Index step_place(std::size_t draft) {
    return static_cast<Eigen::Index>(1 + draft);
  }
  [[nodiscard]] Eigen::Index verify_place(std::size_t draft, std::int32_t rows) const {
    const auto width = static_cast<std::size_t>(widths - 1);
    return static_cast<Eigen::Index>(1 + drafts.size() + (above_exit ? draft * width : 0) +
                                     static_cast<std::size_t>(rows - 2));
  }
};

/// Time of the scenario's mean sublayers beyond the law's memory time: arithmetic, gaps between kernels,
/// launches for long contexts.
struct ConstantTimes {
  double mixer_ns = 0.0;
  double mlp_ns = 0.0;
};

/// Additional launch time of attention whose K/V exceed the L2 cache, where kernels split a context and
/// combine the parts. Published kernel tables have 14 to 38 us; this uses the middle, where a short context
/// has the specification's time. For the costs of a recording it is measured.
[[nodiscard]] double long_context_ns(const TransferredCosts& costs, const Scenario& scenario,
                                     const ModelShape& shape);

/// Removes the kernels' launches, so that only their work remains. A resident kernel has no launches per
/// operation.
void drop_launches(CostCoefficients& part);

/// Time by which arithmetic exceeds the memory time, summed over a part's products. 0 without a GPU's
/// specification.
[[nodiscard]] double arithmetic_excess_ns(std::span<const speculation::Operation> products,
                                          const CostModel& model, const Scenario& scenario,
                                          const PassForm& form);

/// Scales the times of draft steps, verifications and auxiliary passes.
void scale_passes_of_drafts(double factor, Prices& prices);

}  // namespace draftscope::simulator
