// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Published results of self-speculative decoding (simulator/data/published.csv: LayerSkip, Draft & Verify,
// SWIFT, DEL and CLaSp as their tables print them, and the LayerSkip benchmark of the Hugging Face blog), and
// what closed forms predict of them. Acceptance is taken from the papers, so what is tested is the price of
// rounds. A row that a formula can't take throws, which fails the test.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

/// Ratios without a unit; what a table does not say is absent.
struct PublishedRow {
  std::string paper;
  std::string model;
  std::string task;
  std::string method;
  std::string setting;  ///< "key=value" and words, parted by "; "
  std::string source;   ///< table or section

  std::optional<std::int32_t> n_layers;        ///< L
  std::optional<std::int32_t> exit_layer;      ///< E; absent where it changes ("E=dyn")
  std::optional<double> skip_ratio;            ///< r, of sublayers
  std::optional<std::int32_t> gamma;           ///< fixed draft length; absent where it is a cap ("max=25")
  std::optional<double> mean_accepted_length;  ///< M; CLaSp's own rows print τ = M − 1
  std::optional<double> acceptance_rate;       ///< accepted / drafted
  std::optional<double> etpl;
  std::optional<double> expected_speedup;
  std::optional<double> measured_speedup;
};

using PublishedRows = std::vector<PublishedRow>;

/// All rows, in the file's order.
[[nodiscard]] const PublishedRows& published_rows();

/// The number after "key=" in the row's setting; absent if the key is.
[[nodiscard]] std::optional<double> setting_number(const PublishedRow& row, std::string_view key);

/// Rounds of one model on one task with fixed E and γ, and the speedup measured over vanilla decoding.
struct FixedLengthCell {
  std::string model;
  std::string task;
  std::int32_t n_layers = 0;          ///< L
  std::int32_t exit_layer = 0;        ///< E, 1 … L − 1
  std::int32_t gamma = 0;             ///< from 1
  double mean_accepted_length = 0.0;  ///< M, 1 … γ + 1; may exceed both a little where it comes from rounded
                                      ///< figures
  double speedup = 0.0;  ///< measured; above 0

  /// L · eTPL, the speedup if a pass took its layers alone.
  [[nodiscard]] double layers_speedup() const {
    return n_layers * mean_accepted_length / (static_cast<double>(gamma) * exit_layer + n_layers);
  }
};

/// DEL's LayerSkip rows with an eTPL; FS and DEL change their length, so no γ gives their M.
[[nodiscard]] std::vector<FixedLengthCell> fixed_length_cells(const PublishedRows& rows);

/// The affine model: a pass through n layers takes n + h layer times, where h is what every pass pays once,
/// whatever its depth (head, embedding, sampling, host), in layers:
///     S = M·(L + h) / (γ·(E + h) + L + h)
/// which is L · TPL at h = 0 and falls towards M / (γ + 1) as h grows, strictly where E < L. One h a model
/// explains what layer counting over-promises.
[[nodiscard]] double pass_overhead_speedup(const FixedLengthCell& cell, double h);

/// The h that minimises Σ (ln S(h) − ln measured)² over the cells, h ≥ 0. Throws without cells, and for a
/// cell whose speedup is at most M / (γ + 1), which no h explains.
[[nodiscard]] double fit_pass_overhead(std::span<const FixedLengthCell> cells);

struct PredictedCell {
  std::string model;
  std::string task;
  double predicted = 0.0;
  double published = 0.0;  ///< above 0

  [[nodiscard]] double error() const { return predicted / published - 1.0; }
};
using Predictions = std::vector<PredictedCell>;

struct ErrorSummary {
  double mean = 0.0;           ///< of relative errors: the bias
  double mean_absolute = 0.0;  ///< of their magnitudes
  double greatest = 0.0;       ///< magnitude
  double greatest_difference = 0.0;
};
[[nodiscard]] ErrorSummary errors_of(const Predictions& cells);

/// SWIFT's Equation 6 against a column, of every row with M, α and r: its expected speedups (Table 4), or
/// measured ones (Tables 2 to 4, 7 and 8).
[[nodiscard]] Predictions swift_predictions(const PublishedRows& rows,
                                            std::optional<double> PublishedRow::*column);

/// L · eTPL against the measured speedups of DEL's LayerSkip rows with fixed E and γ (24 cells, seven models;
/// Tables 1 and 2).
[[nodiscard]] Predictions layer_count_predictions(const PublishedRows& rows);
/// The affine model on the same cells, each with the h of its model's other tasks, or with one h of all other
/// models.
[[nodiscard]] Predictions across_tasks_predictions(const PublishedRows& rows);
[[nodiscard]] Predictions across_models_predictions(const PublishedRows& rows);
/// Layer counting times its mean ratio to measured speedups on the model's other tasks: what the affine model
/// has to beat.
[[nodiscard]] Predictions constant_ratio_predictions(const PublishedRows& rows);

/// DEL's Table 3: LayerSkip at another length than the one whose eTPL is known (Table 1), at the same exit:
/// every token is accepted with the probability that the known M gives, h is from the model's other tasks.
[[nodiscard]] Predictions other_length_predictions(const PublishedRows& rows);
/// FS's rows (Tables 1 and 2) from the same probability: lengths as a chain that grows with α^γ and shrinks
/// otherwise. Real acceptance comes in runs, which favours FS: expected to be pessimistic.
[[nodiscard]] Predictions finite_state_predictions(const PublishedRows& rows);

/// The blog's speedups against its own times a token, vanilla / assisted: a test of the transcription.
[[nodiscard]] Predictions blog_predictions(const PublishedRows& rows);

/// DEL chooses exit and length anew each round, FS only the length, LayerSkip neither. For each model and
/// task of DEL's main tables (1 and 2): whether measured speedups follow. (Table 3 sweeps settings and does
/// not keep it throughout.)
[[nodiscard]] std::vector<bool> orderings(const PublishedRows& rows);

}  // namespace draftscope::simulator
