// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Cost of a draft step by the sublayers that it runs, and of a verification by its rows, both in vanilla
// steps: by the weights that they read, or as timed on the machine. Attention to the context counts as it was
// when it was timed, or not at all by bytes.

#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <draftscope/engine/checkpoint.h>
#include <draftscope/engine/tuning/policy.h>
#include <draftscope/speculation/sublayer_mask.h>
#include <draftscope/speculation/weight_format.h>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace draftscope::engine {

/// All in one unit: bytes or nanoseconds.
struct PassCosts {
  std::vector<double> sublayers;  ///< in the order of traces::LayerSet's bits
  double rest = 0.0;              ///< cost of a draft step beside its sublayers: final norm and head
  double step = 1.0;              ///< a vanilla step
  double weight_bits = 16.0;      ///< bits per weight as the model has it
  /// By rows, at least that of one row; linear in between and after the last two, constant where there is
  /// but one.
  std::map<std::int32_t, double> verifications;

  /// In vanilla steps; `skipped` has the bits of traces::LayerSet::skipped.
  [[nodiscard]] double draft_step(std::span<const std::uint8_t> skipped) const;
  [[nodiscard]] double draft_step(const speculation::SublayerMask& mask) const;
  /// Bits of a weight in that format, in those of the model's own; 1 for none.
  [[nodiscard]] double weights_share(std::optional<speculation::WeightFormat> weights) const;
  /// On weights of that format: weights_share() of a step on the model's own.
  [[nodiscard]] double draft_step(const speculation::SublayerMask& mask,
                                  std::optional<speculation::WeightFormat> weights) const;
  /// In vanilla steps; `rows` ≥ 1.
  [[nodiscard]] double verification(std::int32_t rows) const;
};

/// A verification costs a vanilla step, whatever its rows.
[[nodiscard]] PassCosts byte_costs(const Checkpoint& checkpoint);

/// Times of passes on a machine, medians in nanoseconds.
struct PassTimes {
  std::int64_t without_attention = 0;                  ///< a step that skips every attention
  std::int64_t without_mlp = 0;                        ///< a step that skips every MLP
  std::map<std::int32_t, std::int64_t> verifications;  ///< by rows; a vanilla step is that of one row
  friend bool operator==(const PassTimes&, const PassTimes&) = default;
};

/// Times passes after `context` rows of K/V, and writes over them. Fails as the backend does.
[[nodiscard]] Result<PassTimes> time_passes(Backend& backend, std::int32_t context);

/// An attention costs the L-th part of what a step saves without any of the L, an MLP likewise.
[[nodiscard]] PassCosts timed_costs(const PassTimes& times, std::int32_t n_layers);

/// Times as a policy keeps them beside its machine, so that a search that goes on judges as it began.
void add_pass_times(const PassTimes& times, Facts& machine);
/// The times that a policy's facts hold; none where they are absent or incomplete.
[[nodiscard]] std::optional<PassTimes> pass_times_of(const Facts& machine);

}  // namespace draftscope::engine
