// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The passes of a scenario as a linear map of a cost model's parameters, and what is put on top of it: the
// corrections by measured passes, the host's launches, the engine's time, a draft whose cost is an input.

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

namespace draftscope::simulator {

inline constexpr auto price_unknowns = static_cast<Eigen::Index>(cost_parameter_count);
/// Parts that passes are put together from, for one number of rows: rows of the map, two each (fixed, a
/// context row).
enum Part : Eigen::Index { attention_part, mlp_part, draft_rest_part, target_rest_part, parts };

/// Costs around the kernels in another regime than the fitted one.
struct Surroundings {
  bool replaced = false;
  Regime regime = Regime::as_fitted;
  RegimeCosts costs;
};

[[nodiscard]] Surroundings surroundings_of(const CostModel& model, const Scenario& scenario);

/// Time that the host takes to launch the kernels of a sublayer, and of what surrounds the layers.
struct HostTimes {
  double attention_ns = 0.0;
  double mlp_ns = 0.0;
  double rest_ns = 0.0;
};

/// Filled once a scenario, then constant: free to use from several threads at once.
struct PassMap {
  class PricedPasses;

  TransferredCosts costs;
  std::vector<speculation::DraftSublayers> drafts;
  std::vector<std::size_t> priced;  ///< of `drafts`, ascending: the others have no prices
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
  Eigen::MatrixXd map;         ///< [(rows − 1) · parts · 2 + part · 2 + (fixed, context)][parameter]
  Eigen::VectorXd arithmetic;  ///< the same rows: constants
  Eigen::VectorXd link;
  Eigen::MatrixXd root;                   ///< of the covariance
  std::vector<double> draft_start_bytes;  ///< [draft]
  /// Those of the scenario, then that of a draft of one layer if its cost is an input.
  std::vector<AuxiliaryPass> auxiliary_passes;
  std::size_t auxiliary_count = 0;  ///< of the scenario
  std::vector<double> own_repeats;  ///< [auxiliary pass]: passes that its rows take
  /// [auxiliary pass]: what it took where it was recorded, and how sure that is; a negative price where it
  /// was not.
  std::vector<AffineTime> auxiliary_measured;
  std::vector<double> auxiliary_error;
  std::vector<MeasuredPassKind> kinds;                  ///< [place], below: passes that are corrected
  std::shared_ptr<const PassCorrections> of_all_kinds;  ///< null where nothing was measured
  std::shared_ptr<const PassCorrections> corrections;   ///< the same, but of the places of `priced` alone
  std::vector<double> correction_deviations;            ///< [place]: of its ln(correction)
  Drift drift;                                          ///< CostModel::drift where it is used

  void put(std::int32_t rows, Part part, const CostCoefficients& coefficients, double arithmetic_ns,
           double link_ns);
  void fill_map(const Scenario& scenario, const Surroundings& surroundings);
  void fill_auxiliary(const Scenario& scenario, const Surroundings& surroundings);
  /// `before`, of the same model, may have the same kinds of passes; null: none.
  void correct_passes(const CostModel& model, const PassMap* before);
  void correct_own(const CostModel& model);
  /// Row of the map for what is fixed; a context row's is the next one.
  [[nodiscard]] Eigen::Index own_row(std::size_t own) const {
    return (Eigen::Index{widths} * parts + static_cast<Eigen::Index>(own)) * 2;
  }
  /// One normal number for each kind of auxiliary passes.
  using AuxiliaryNoise = std::array<double, auxiliary_pass_kind_count>;
  /// The engine's share of a vanilla step and its time per step, `noise` being standard normal.
  struct EngineTime {
    double share = 0.0;
    double ns = 0.0;
  };
  [[nodiscard]] EngineTime engine_time(double noise) const;
  void add_engine(const EngineTime& time, Prices& into) const;
  void replace_draft_steps(const PricedPasses& times, Prices& into) const;
  [[nodiscard]] Eigen::VectorXd no_noise() const {
    return Eigen::VectorXd::Zero(corrections ? corrections->noise_used() : 0);
  }
  /// [place]: what its law is multiplied with; empty where nothing was measured.
  [[nodiscard]] Eigen::VectorXd factors(const CostVector& values, const Eigen::VectorXd& noise) const;
  void assemble(const CostVector& values, const Eigen::VectorXd& corrections_of_passes, double link_factor,
                double host_factor, const AuxiliaryNoise& auxiliary_noise, double engine_noise,
                Prices& into) const;

  /// Places of the passes that `priced` takes, ascending.
  [[nodiscard]] std::vector<Eigen::Index> priced_places() const;

  // Places of passes: the target step, the drafts' steps, then verifications of 2 to widths rows, of each
  // draft anew if they depend on it.
  [[nodiscard]] static Eigen::Index step_place(std::size_t draft) {
    return static_cast<Eigen::Index>(1 + draft);
  }
  [[nodiscard]] Eigen::Index verify_place(std::size_t draft, std::int32_t rows) const {
    const auto width = static_cast<std::size_t>(widths - 1);
    return static_cast<Eigen::Index>(1 + drafts.size() + (above_exit ? draft * width : 0) +
                                     static_cast<std::size_t>(rows - 2));
  }
};

/// Longer launch of attention whose K/V exceed the L2 cache: kernels then split a context and combine the
/// parts. Published kernel tables have 14 to 38 us there, of which this takes the middle, where a short
/// context has the specification's. Of a recording's own costs it is measured.
[[nodiscard]] double long_context_ns(const TransferredCosts& costs, const Scenario& scenario,
                                     const ModelShape& shape);

/// Kernels' launches; what stays is the time of their work. A resident kernel has no launches of its own.
void drop_launches(CostCoefficients& part);

/// How much longer arithmetic takes than the memory, summed over a part's products. 0 without a GPU's
/// specification.
[[nodiscard]] double arithmetic_excess_ns(std::span<const speculation::Operation> products,
                                          const CostModel& model, const Scenario& scenario,
                                          const PassForm& form);

}  // namespace draftscope::simulator
