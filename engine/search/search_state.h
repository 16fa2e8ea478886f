// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The memory of a search. Best set, counters and stop follow from the observations in their order; the
// length scale and when it was fitted are kept because fits may be fewer than proposals.

#include <draftscope/engine/search.h>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "gaussian_process.h"
#include "layer_space.h"
#include "observations.h"

namespace draftscope::engine {

struct LayerSetSearch::State {
  explicit State(const SearchOptions& chosen);

  /// Proposes into the caller's memory: SWIFT asks every round.
  void propose_random(Candidate& candidate);
  /// Allocates as it pleases: the Gaussian process grows with the scores, and it is asked every
  /// `gp_interval`-th time only.
  void propose_by_model(Candidate& candidate);
  /// The process over all observations, its length scale as old as the schedule allows.
  void bring_process_up_to_date();
  void count(const Candidate& candidate, double score);

  [[nodiscard]] std::string to_json() const;
  [[nodiscard]] static Result<LayerSetSearch> from_json(const nlohmann::json& json, std::string_view file);

  SearchOptions options;
  search::LayerSpace space;
  std::vector<speculation::SublayerMask> probes;
  search::Observations observations;
  std::size_t probes_scored = 0;
  const speculation::SublayerMask everything;  ///< runs
  std::vector<std::int32_t> components = {};   ///< of the last random set; kept for its memory
  speculation::SublayerMask best_set;
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
