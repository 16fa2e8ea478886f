// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The search for the set of sublayers that a draft should skip: what SWIFT does while it decodes and Draft &
// Verify before. The search proposes candidates; whoever owns the model scores them (SWIFT: share of tokens
// the draft predicts as the target did; Draft & Verify: tokens a second) and reports back.
//
// Candidates are points of [0, 1]^d, a component for the attention of every free layer, then one for every
// MLP. Every `gp_interval`-th maximises the upper confidence bound μ + κσ of a Gaussian process over the
// scores, the others are random. Sources: SWIFT (Xia et al., ICLR 2025) §4.1, appendix B.2 and its
// code; Draft & Verify (Zhang et al., ACL 2024) §3.3 and its code; both use the bayesian-optimization
// package, 1.5.1 and 1.4.3. Deliberately otherwise than the package: random numbers; one length scale fitted
// by a grid and Brent's method and not by restarted L-BFGS-B; ascents by spectral projected gradient; equal
// largest components are chosen among at random, where the code takes them in the alphabetic order of "x0",
// "x1", "x10", …; the process has all scores but the last ⌊gp_interval / 2⌋. A candidate of the process takes
// as long as several steps of a small model on a GPU, so that another thread makes it while those are scored;
// with an interval of 1, Draft & Verify's, it has all scores and is made where it is proposed.

#include <draftscope/base/result.h>
#include <draftscope/speculation/candidate.h>
#include <draftscope/speculation/sublayer_mask.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

namespace draftscope::engine {

/// Every parameter of a search. swift_search() and draft_verify_search() fill in the published ones.
struct SearchOptions {
  std::int32_t n_layers = 0;
  bool protect_ends = true;  ///< the first and the last layer always run
  /// Number of sublayers that every candidate skips: a random set of them, or the largest components of the
  /// point. None = as many as there are components above ½.
  std::optional<std::int32_t> skipped_sublayers;
  std::int32_t gp_interval = 25;    ///< every so many-th candidate comes from the Gaussian process; 0 = none
  std::int32_t refit_interval = 1;  ///< its length scale is fitted for every so many-th of those
  double kappa = 2.5;               ///< κ of the upper confidence bound
  double noise = 1e-2;  ///< variance of a score's noise over the variance of the scores, ≥ 1e−6
  std::int32_t random_points = 10000;  ///< on which the bound is screened …
  std::int32_t random_starts = 10;  ///< … and from which it is climbed, besides the best of both kinds so far
  speculation::SublayerMask initial_set;  ///< the best set until a candidate scores more than …
  double initial_score = 0.0;             ///< … this
  std::optional<double> max_score;        ///< stops once a candidate scores more than this
  /// Stops once more candidates than this were scored, probes not counted.
  std::int32_t max_iterations = 1000;
  /// Stops once more candidates in a row than this brought nothing better.
  std::optional<std::int32_t> max_tolerance;
  std::uint64_t seed = 1;
};

/// Set that SWIFT starts from: every second layer from 1 on but the last, attention and MLP.
[[nodiscard]] speculation::SublayerMask swift_initial_set(std::int32_t n_layers);

/// Options of SWIFT: int((L − 2)·2·r) sublayers, max_score 0.95, max_tolerance 300 (paper B.2; its
/// eval_llama.sh runs with 0.93). The paper's r: 0.45 for 13B, 0.5 for 34B and 70B models.
[[nodiscard]] SearchOptions swift_search(std::int32_t n_layers, double skip_ratio);

/// Options of Draft & Verify: every candidate from the Gaussian process, any number of sublayers of all
/// layers, κ 2.576, 1000 candidates, no other reason to stop.
[[nodiscard]] SearchOptions draft_verify_search(std::int32_t n_layers);

/// Sets that its authors probed first, for any number of layers: half of the attentions; the published set's
/// shares (24 attentions and 10 MLPs of 40) spread evenly; beside them SWIFT's initial set, and the last
/// third.
[[nodiscard]] std::vector<speculation::SublayerMask> draft_verify_probes(std::int32_t n_layers);

using speculation::Candidate;
using speculation::CandidateOrigin;

enum class StopReason : std::uint8_t { score, tolerance, iterations };

/// Thread-safety: none. A candidate of the Gaussian process is made on a thread of its own, from copies, or
/// by propose() where no thread can be had; destroying or assigning to the search waits for it. Errors are
/// about what the caller or a file gave; the search itself cannot fail.
class LayerSetSearch {
 public:
  /// Fails on an option out of range, by its name.
  [[nodiscard]] static Result<LayerSetSearch> create(const SearchOptions& options);
  LayerSetSearch(LayerSetSearch&&) noexcept;
  LayerSetSearch& operator=(LayerSetSearch&&) noexcept;
  ~LayerSetSearch();

  /// Adds a set to be proposed before all others, in the order of the calls. It may skip any number of
  /// sublayers, but none of a protected layer.
  [[nodiscard]] Result<void> add_probe(const speculation::SublayerMask& mask);

  /// The next candidate: a function of options, probes and everything observed, so that asking twice gives
  /// the same, whatever other threads do. Microseconds if random; if from the Gaussian process over n
  /// observations O(n³) to fit, O(n·(n + d)) for each random point, less what was done since they were there.
  /// Random where the process would have no observation.
  [[nodiscard]] Candidate propose();
  /// propose() into memory that is there: a random candidate of a given size then allocates nothing, nor does
  /// observe() before max_iterations, but where it begins a candidate of the Gaussian process.
  void propose(Candidate& candidate);

  /// Takes the score of a candidate; higher is better. Adopts it if it beats the best score so far. A stopped
  /// search still takes scores, and begins no candidate ahead. The candidate need not be the last proposed.
  /// At most 8192 scores.
  [[nodiscard]] Result<void> observe(const Candidate& candidate, double score);

  [[nodiscard]] const SearchOptions& options() const;
  [[nodiscard]] const speculation::SublayerMask& best_set()
      const;  ///< options().initial_set until something beats it
  [[nodiscard]] double best_score() const;
  [[nodiscard]] std::int32_t iterations() const;  ///< candidates scored, probes not counted
  [[nodiscard]] std::int32_t tolerance() const;   ///< iterations since the last set that was adopted
  /// Once set it stays: SWIFT's search is over for the session.
  [[nodiscard]] std::optional<StopReason> stopped() const;

  /// Writes everything as JSON. A loaded search proposes what the saved one would have, to the bit on the
  /// same machine. Written whole or not at all.
  [[nodiscard]] Result<void> save(const std::filesystem::path& file) const;
  [[nodiscard]] static Result<LayerSetSearch> load(const std::filesystem::path& file);

 private:
  struct State;
  explicit LayerSetSearch(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace draftscope::engine
