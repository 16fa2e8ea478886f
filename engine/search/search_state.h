// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The state of a search. Best set, counters and stop follow from the observations in their order. The length
// scale and the time of its fit are stored, because there may be fewer fits than proposals.

#include <draftscope/engine/search.h>
#include <future>
#include <vector>

#include "layer_space.h"
#include "model_candidate.h"

namespace draftscope::engine {

struct LayerSetSearch::State {
  explicit State(const SearchOptions& chosen);

  /// Proposes into the caller's memory, since SWIFT asks every round.
  void propose_random(Candidate& candidate);
  /// Waits for the candidate if it was begun, otherwise makes it. Stores the length scale that it used.
  void propose_by_model(Candidate& candidate);
  /// Checks and adds an observation, without beginning a candidate.
  [[nodiscard]] Result<void> observe(const Candidate& candidate, double score);
  void count(const Candidate& candidate, double score);

  /// Number of candidates between the last score used for a model's candidate and that candidate.
  [[nodiscard]] std::int32_t lead() const { return options.gp_interval / 2; }
  /// Candidates before the model's turn if none of them is a probe; 0 = the next is the model's. Requires
  /// gp_interval > 0.
  [[nodiscard]] std::int32_t candidates_before_model() const;
  /// Number of leading observations from which the model's next candidate is made, if only
  /// candidates_before_model() candidates precede it. Requires gp_interval > 0.
  [[nodiscard]] std::size_t observations_for_model() const;
  /// Begins the model's next candidate if its observations exist and a search that goes on will ask for it.
  void look_ahead();
  /// Begins the model's candidate, unless it was begun from the same observations. There must be at least
  /// one. Waits for a candidate that was begun from others.
  void begin_model_candidate(std::launch policy);

  SearchOptions options;
  search::LayerSpace space;
  std::vector<speculation::SublayerMask> probes;
  search::Observations observations;
  std::size_t probes_scored = 0;
  const speculation::SublayerMask everything;  ///< a mask that skips nothing
  /// Components of the last random set; a member to reuse its memory.
  std::vector<std::int32_t> components = {};
  speculation::SublayerMask best_set;
  double best_score = 0.0;
  std::int32_t iterations = 0;
  std::int32_t tolerance = 0;
  std::optional<StopReason> stopped;

  search::LengthScaleFit fit = {};  ///< fit of the model's last proposed candidate
  /// The last candidate that was begun. It has copies of everything it works on; its destructor waits for
  /// another thread.
  std::shared_future<search::ModelCandidate> model_candidate = {};
  std::size_t model_observations = 0;  ///< number of observations it is made from; 0 = none was begun
};

/// Checks the range of every option; an error names the option.
[[nodiscard]] Result<void> check_options(const SearchOptions& options);

}  // namespace draftscope::engine
