// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The search for the set of sublayers that a draft should skip; SWIFT runs it during decoding, Draft & Verify
// beforehand. The search proposes candidates; the owner of the model scores them and reports back. SWIFT
// scores the share of tokens that the draft predicts as the target did, Draft & Verify tokens per second.
//
// Candidates are points of [0, 1]^d, with a component for the attention of every free layer, then one for
// every MLP. Every `gp_interval`-th candidate maximises the upper confidence bound μ + κσ of a Gaussian
// process over the scores; the others are random. Sources: SWIFT (Xia et al., ICLR 2025) §4.1, appendix B.2
// and its code; Draft & Verify (Zhang et al., ACL 2024) §3.3 and its code. Both use the bayesian-optimization
// package, 1.5.1 and 1.4.3. These differences are deliberate:
//
// - The random numbers differ.
// - One length scale is fitted by a grid and Brent's method, not by restarted L-BFGS-B.
// - Ascents use spectral projected gradient.
// - Ties among the largest components are broken at random; the published code takes them in the alphabetic
//   order of "x0", "x1", "x10", ….
// - The process sees all scores except the last ⌊gp_interval / 2⌋. Making its candidate takes as long as
//   several steps of a small model on a GPU, so another thread makes it while those are scored. With an
//   interval of 1, as in Draft & Verify, it sees all scores and its candidate is made when it is proposed.

#include <draftscope/base/result.h>
#include <draftscope/speculation/candidate.h>
#include <draftscope/speculation/sublayer_mask.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace draftscope::engine {

/// Every parameter of a search. swift_search() and draft_verify_search() fill in the published ones.
struct SearchOptions {
  std::int32_t n_layers = 0;
  bool protect_ends = true;  ///< whether the first and the last layer always run
  /// Number of sublayers that every candidate skips: a random set of them, or the largest components of the
  /// point. None = as many as there are components above ½.
  std::optional<std::int32_t> skipped_sublayers;
  std::int32_t gp_interval = 25;    ///< interval of candidates from the Gaussian process; 0 = none are
  std::int32_t refit_interval = 1;  ///< interval, among those candidates, of fits of the length scale
  double kappa = 2.5;               ///< κ of the upper confidence bound
  double noise = 1e-2;  ///< variance of a score's noise over the variance of the scores, ≥ 1e−6
  std::int32_t random_points = 10000;     ///< number of points on which the bound is screened
  std::int32_t random_starts = 10;        ///< random starts of ascents, besides the best of both kinds so far
  speculation::SublayerMask initial_set;  ///< best set until a candidate scores more than initial_score
  double initial_score = 0.0;             ///< score to be beaten by the first adopted candidate
  std::optional<double> max_score;        ///< Stops once a candidate scores more than this.
  /// Stops once so many candidates were scored, not counting probes.
  std::int32_t max_iterations = 1000;
  /// Stops once so many candidates in a row, at least one, brought no improvement.
  std::optional<std::int32_t> max_tolerance;
  std::uint64_t seed = 1;
};

/// Set that SWIFT starts from: attention and MLP of every second layer from 1 on, except the last.
[[nodiscard]] speculation::SublayerMask swift_initial_set(std::int32_t n_layers);

/// Options of SWIFT: int((L − 2)·2·r) sublayers, max_score 0.95, max_tolerance 300 (paper B.2; its
/// eval_llama.sh runs with 0.93). The paper's r is 0.45 for 13B models, 0.5 for 34B and 70B models.
[[nodiscard]] SearchOptions swift_search(std::int32_t n_layers, double skip_ratio);

/// Options of Draft & Verify: every candidate comes from the Gaussian process and may skip any number of
/// sublayers of all layers; κ 2.576; 1000 candidates; no other reason to stop.
[[nodiscard]] SearchOptions draft_verify_search(std::int32_t n_layers);

/// Sets that the authors of Draft & Verify probed first, for any number of layers: half of the attentions;
/// the published set's shares (24 attentions and 10 MLPs of 40) spread evenly. SWIFT's initial set and the
/// last third are added.
[[nodiscard]] std::vector<speculation::SublayerMask> draft_verify_probes(std::int32_t n_layers);

using speculation::Candidate;
using speculation::CandidateOrigin;

enum class StopReason : std::uint8_t { score, tolerance, iterations };

/// The search over sets of layers. Thread-safety: none. A candidate of the Gaussian process is made on
/// another thread, from copies, or by propose() if no thread can be had; destroying or assigning to the
/// search waits for it. Errors concern input from the caller; the search itself cannot fail.
class LayerSetSearch {
 public:
  /// Fails on an option out of range and names it.
  [[nodiscard]] static Result<LayerSetSearch> create(const SearchOptions& options);
  LayerSetSearch(LayerSetSearch&&) noexcept;
  LayerSetSearch& operator=(LayerSetSearch&&) noexcept;
  ~LayerSetSearch();

  /// Adds a set to be proposed before all others, in the order of the calls. It may skip any number of
  /// sublayers, but none of a protected layer.
  [[nodiscard]] Result<void> add_probe(const speculation::SublayerMask& mask);

  /// The next candidate: a function of options, probes and everything observed. Asking twice gives the same,
  /// whatever other threads do. A random candidate takes microseconds. One from the Gaussian process over n
  /// observations costs O(n³) to fit and O(n·(n + d)) per random point, less what was done in the background.
  /// It is random if the process would have no observation.
  [[nodiscard]] Candidate propose();
  /// Proposes into existing memory. A random candidate of a given size then allocates nothing, nor does
  /// observe() before max_iterations, except where it begins a candidate of the Gaussian process.
  void propose(Candidate& candidate);

  /// Takes the score of a candidate; higher is better. Adopts it if it beats the best score so far. A stopped
  /// search still takes scores, but begins no candidate ahead. The candidate need not be the last proposed.
  /// At most 8192 scores.
  [[nodiscard]] Result<void> observe(const Candidate& candidate, double score);

  [[nodiscard]] const speculation::SublayerMask& best_set()
      const;  ///< initial_set until a candidate beats it
  [[nodiscard]] double best_score() const;
  [[nodiscard]] std::int32_t iterations() const;  ///< candidates scored, not counting probes
  [[nodiscard]] std::int32_t tolerance() const;   ///< iterations since a set was last adopted
  /// The reason the search stopped; once set it stays. SWIFT's search is then over for the session.
  [[nodiscard]] std::optional<StopReason> stopped() const;

 private:
  struct State;
  explicit LayerSetSearch(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace draftscope::engine
