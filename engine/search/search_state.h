// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The memory of a search. Best set, counters and stop follow from the observations in their order; the
// length scale and when it was fitted are stored because fits may be fewer than proposals.

#include <draftscope/engine/search.h>
#include <future>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "layer_space.h"
#include "model_candidate.h"

namespace draftscope::engine {

struct LayerSetSearch::State {
  explicit State(const SearchOptions& chosen);

  /// Proposes into the caller's memory: SWIFT asks every round.
  void propose_random(Candidate& candidate);
  /// Waits for the candidate if it was begun, else makes it. Keeps the length scale that it took.
  void propose_by_model(Candidate& candidate);
  /// Checks and adds; begins nothing.
  [[nodiscard]] Result<void> observe(const Candidate& candidate, double score);
  void count(const Candidate& candidate, double score);

  /// Candidates between the scores that the model's is made from and itself.
  [[nodiscard]] std::int32_t lead() const { return options.gp_interval / 2; }
  /// Until the model's turn, if none is a probe; 0 = the next is the model's. gp_interval > 0.
  [[nodiscard]] std::int32_t candidates_before_model() const;
  /// Number of observations, the first of all, that the model's next candidate is made from if no others come
  /// before it than those. gp_interval > 0.
  [[nodiscard]] std::size_t observations_for_model() const;
  /// Begins the model's next candidate if its observations are there and a search that goes on will ask.
  void look_ahead();
  /// Unless it was begun from the same observations, of which there is at least one. Waits for one that was
  /// begun from others.
  void begin_model_candidate(std::launch policy);

  [[nodiscard]] std::string to_json() const;
  [[nodiscard]] static Result<LayerSetSearch> from_json(const nlohmann::json& json, std::string_view file);

  SearchOptions options;
  search::LayerSpace space;
  std::vector<speculation::SublayerMask> probes;
  search::Observations observations;
  std::size_t probes_scored = 0;
  const speculation::SublayerMask everything;  ///< runs
  std::vector<std::int32_t> components = {};   ///< components of the last random set; reused for its memory
  speculation::SublayerMask best_set;
  double best_score = 0.0;
  std::int32_t iterations = 0;
  std::int32_t tolerance = 0;
  std::optional<StopReason> stopped;

  search::LengthScaleFit fit = {};  ///< fit of the model's last candidate that was proposed
  /// The last that was begun. It holds copies of all it works on; its destructor waits for another thread.
  std::shared_future<search::ModelCandidate> model_candidate = {};
  std::size_t model_observations = 0;  ///< observations that it is made from; 0 = none was begun
};

/// Range of every option, else an error that names it.
[[nodiscard]] Result<void> check_options(const SearchOptions& options);

}  // namespace draftscope::engine
