// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What a search remembers. Best set, counters and stop follow from the observations in their order; the
// length scale and when it was fitted are kept because fits may be fewer than proposals.

#include <draftscope/engine/search.h>

#include "gaussian_process.h"
#include "layer_space.h"

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace draftscope::engine {

struct LayerSetSearch::State {
  struct Observation {
    Candidate candidate;
    double score = 0.0;
  };

  explicit State(const SearchOptions& chosen);

  [[nodiscard]] Candidate random_candidate() const;
  [[nodiscard]] Candidate model_candidate();
  /// The process over all observations, its length scale as old as the schedule allows.
  void bring_process_up_to_date();
  /// Points as columns and scores of observations first ≤ i < last.
  [[nodiscard]] std::pair<Eigen::MatrixXd, Eigen::VectorXd> observed(std::size_t first,
                                                                     std::size_t last) const;
  void count(const Observation& observation);

  [[nodiscard]] std::string to_json() const;
  [[nodiscard]] static Result<LayerSetSearch> from_json(const nlohmann::json& json, std::string_view file);

  SearchOptions options;
  search::LayerSpace space;
  std::vector<SublayerMask> probes;
  std::vector<Observation> observations;
  std::size_t probes_scored = 0;
  SublayerMask best_set;
  double best_score = 0.0;
  std::int32_t iterations = 0;
  std::int32_t tolerance = 0;
  std::optional<StopReason> stopped;

  search::GaussianProcess process;      ///< over the first process.size() observations
  double length_scale = 1.0;            ///< of the last fit, over the first
  std::size_t fitted_observations = 0;  ///< of them; 0 = never fitted
};

/// Range of every option, else an error that names it.
[[nodiscard]] Result<void> check_options(const SearchOptions& options);

}  // namespace draftscope::engine
