// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Published results of self-speculative decoding and their predictions by closed forms. The results are in
// simulator/data/published.csv: the tables of LayerSkip, Draft & Verify, SWIFT, DEL and CLaSp, and the
// LayerSkip benchmark of the Hugging Face blog. Acceptance comes from the papers, so the test concerns the
// price of rounds. A row that a formula can't take throws, which fails the test.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

/// Ratios have no unit; values missing in a table are absent.
struct PublishedRow {
  std::string paper;
  std::string model;
  std::string task;
  std::string method;
  std::string setting;  ///< "key=value" and words, separated by "; ".
  std::string source;   ///< Table or section.

  std::optional<std::int32_t> n_layers;        ///< L
  std::optional<std::int32_t> exit_layer;      ///< Exit E; absent where it changes ("E=dyn").
  std::optional<double> skip_ratio;            ///< Skip ratio r, of sublayers.
  std::optional<std::int32_t> gamma;           ///< Fixed draft length; absent where it is a cap ("max=25").
  std::optional<double> mean_accepted_length;  ///< M; CLaSp's rows print τ = M − 1.
  std::optional<double> acceptance_rate;       ///< accepted / drafted
  std::optional<double> etpl;
  std::optional<double> expected_speedup;
  std::optional<double> measured_speedup;
};

using PublishedRows = std::vector<PublishedRow>;

/// All rows, in order of the file.
[[nodiscard]] const PublishedRows& published_rows();

/// The number after "key=" in the row's setting; absent if there is no such key.
[[nodiscard]] std::optional<double> setting_number(const PublishedRow& row, std::string_view key);

/// Rounds of one model on one task with fixed E and γ, and the speedup measured over vanilla decoding.
struct FixedLengthCell {
  std::string model;
  std::string task;
  std::int32_t n_layers = 0;          ///< L
  std::int32_t exit_layer = 0;        ///< E, 1 … L − 1
  std::int32_t gamma = 0;             ///< At least 1.
  double mean_accepted_length = 0.0;  ///< M, 1 … γ + 1; slightly outside where figures were rounded.
  double speedup = 0.0;               ///< Measured speedup; above 0.

  /// L · eTPL, the speedup if a pass took only its layers' time.
  [[nodiscard]] double layers_speedup() const {
    return n_layers * mean_accepted_length / (static_cast<double>(gamma) * exit_layer + n_layers);
  }
};

/// DEL's LayerSkip rows with an eTPL. FS and DEL change their length, so no γ gives their M.
[[nodiscard]] std::vector<FixedLengthCell> fixed_length_cells(const PublishedRows& rows);

/// The affine model: a pass through n layers takes n + h layer times. h is the constant part of every pass at
/// any depth (head, embedding, sampling, host), in layers:
///     S = M·(L + h) / (γ·(E + h) + L + h)
/// It is L · TPL at h = 0 and falls towards M / (γ + 1) as h grows, strictly where E < L. One h per model
/// explains the optimism of layer counting.
[[nodiscard]] double pass_overhead_speedup(const FixedLengthCell& cell, double h);

/// The h that minimises Σ (ln S(h) − ln measured)² over the cells, h ≥ 0. Throws without cells, and for a
/// cell whose speedup is at most M / (γ + 1), which no h explains.
[[nodiscard]] double fit_pass_overhead(std::span<const FixedLengthCell> cells);

struct PredictedCell {
  std::string model;
  std::string task;
  double predicted = 0.0;
  double published = 0.0;  ///< Above 0.

  [[nodiscard]] double error() const { return predicted / published - 1.0; }
};
using Predictions = std::vector<PredictedCell>;

struct ErrorSummary {
  double mean = 0.0;           ///< Mean of relative errors: the bias.
  double mean_absolute = 0.0;  ///< Mean of their magnitudes.
  double greatest = 0.0;       ///< Maximum magnitude.
  double greatest_difference = 0.0;
};
[[nodiscard]] ErrorSummary errors_of(const Predictions& cells);

/// Whether a row is SWIFT's own, with M, α and r.
[[nodiscard]] bool is_swifts(const PublishedRow& row);

/// Compares SWIFT's Equation 6 with a column, for every row with M, α and r: its expected speedups (Table 4),
/// or measured ones (Tables 2 to 4, 7 and 8).
[[nodiscard]] Predictions swift_predictions(const PublishedRows& rows,
                                            std::optional<double> PublishedRow::*column);

/// Compares L · eTPL with the measured speedups of DEL's LayerSkip rows with fixed E and γ (24 cells, seven
/// models; Tables 1 and 2).
[[nodiscard]] Predictions layer_count_predictions(const PublishedRows& rows);
/// The affine model on the LayerSkip cells, each with the h of its model's other tasks, or with one h of all
/// other models.
[[nodiscard]] Predictions across_tasks_predictions(const PublishedRows& rows);
[[nodiscard]] Predictions across_models_predictions(const PublishedRows& rows);
/// Layer counting times its mean ratio to measured speedups on the model's other tasks, as a baseline for the
/// affine model.
[[nodiscard]] Predictions constant_ratio_predictions(const PublishedRows& rows);

/// DEL's Table 3: LayerSkip at another length than the one whose eTPL is known (Table 1), at the same exit.
/// Every token is accepted with the probability that the known M gives; h is from the model's other tasks.
[[nodiscard]] Predictions other_length_predictions(const PublishedRows& rows);
/// FS's rows (Tables 1 and 2) from the same probability: lengths are a chain that grows with α^γ and shrinks
/// otherwise. Real acceptance is clustered, which favours FS, so predictions are expected to be pessimistic.
[[nodiscard]] Predictions finite_state_predictions(const PublishedRows& rows);

/// CLaSp's rows (Table 1) from their own τ: S = (τ + 1) / (1 + c·τ + h), where a draft step runs 36 of 80
/// layers (section 5.3.1; 50 to 60 % are skipped in all models) and h, wasted drafts and searches of a round
/// in target steps, is the mean of the model's other tasks at the same temperature.
[[nodiscard]] Predictions clasp_predictions(const PublishedRows& rows);
/// CLaSp's cells, each as the geometric mean of the speedups of its model's other tasks, as a baseline.
[[nodiscard]] Predictions other_clasp_tasks(const PublishedRows& rows);

/// Draft & Verify's fixed numbers K of draft tokens but K = 2, whose acceptance and speedup give the cost of
/// a draft step and the probability of a token.
[[nodiscard]] Predictions draft_verify_predictions(const PublishedRows& rows);

/// Compares the blog's speedups with its times per token, vanilla / assisted: a test of the transcription.
[[nodiscard]] Predictions blog_predictions(const PublishedRows& rows);

/// DEL chooses exit and length in each round, FS only the length, LayerSkip neither. For each model and task
/// of DEL's main tables (1 and 2), whether measured speedups have this order. (Table 3 sweeps settings and
/// does not always have it.)
[[nodiscard]] std::vector<bool> orderings(const PublishedRows& rows);

}  // namespace draftscope::simulator
