// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Cost of a draft step by the sublayers that it runs, and of a verification by its rows, both in vanilla
// steps. Costs come either from the weights read or from times measured on the machine. Measured costs
// include attention to the context at its length then; costs by bytes exclude it.

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

/// Costs in one common unit: bytes or nanoseconds.
struct PassCosts {
  std::vector<double> sublayers;  ///< in order of traces::LayerSet's bits
  double rest = 0.0;              ///< cost of a draft step besides its sublayers: final norm and head
  double step = 1.0;              ///< cost of a vanilla step
  double weight_bits = 16.0;      ///< held_bits() of the backend
  /// Cost by number of rows, at least for one row. It is linear between entries and beyond the last two, and
  /// constant if there is only one entry.
  std::map<std::int32_t, double> verifications;

  /// Cost of a draft step in vanilla steps; `skipped` has the bits of traces::LayerSet::skipped.
  [[nodiscard]] double draft_step(std::span<const std::uint8_t> skipped) const;
  [[nodiscard]] double draft_step(const speculation::SublayerMask& mask) const;
  /// Bits per weight in that format relative to the model's own; 1 if `weights` is empty.
  [[nodiscard]] double weights_share(std::optional<speculation::WeightFormat> weights) const;
  /// Cost of a draft step on weights of that format: weights_share() times a step on the model's own.
  [[nodiscard]] double draft_step(const speculation::SublayerMask& mask,
                                  std::optional<speculation::WeightFormat> weights) const;
  /// Cost of a verification in vanilla steps; `rows` ≥ 1.
  [[nodiscard]] double verification(std::int32_t rows) const;
};

/// Bits per weight of the format that most of the model's weights have on the backend.
[[nodiscard]] double held_bits(const Backend& backend);

/// Costs by bytes read. A verification costs one vanilla step, whatever its rows.
[[nodiscard]] PassCosts byte_costs(const Checkpoint& checkpoint, const Backend& backend);

/// Times of passes on a machine: medians in nanoseconds.
struct PassTimes {
  std::int64_t without_attention = 0;                  ///< time of a step that skips every attention
  std::int64_t without_mlp = 0;                        ///< time of a step that skips every MLP
  std::map<std::int32_t, std::int64_t> verifications;  ///< ns by rows; one row = vanilla step
  friend bool operator==(const PassTimes&, const PassTimes&) = default;
};

/// Times passes after `context` rows of K/V and overwrites those rows. Fails as the backend does.
[[nodiscard]] Result<PassTimes> time_passes(Backend& backend, std::int32_t context);

/// Costs from measured times. One attention costs 1/L of what a step saves by skipping all L of them;
/// likewise for MLPs.
[[nodiscard]] PassCosts timed_costs(const PassTimes& times, std::int32_t n_layers, double weight_bits);

/// Stores the times among a policy's facts about its machine, so that a continued search judges as it began.
void add_pass_times(const PassTimes& times, Facts& machine);
/// Reads the times from a policy's facts; none if they are absent or incomplete.
[[nodiscard]] std::optional<PassTimes> pass_times_of(const Facts& machine);

}  // namespace draftscope::engine
