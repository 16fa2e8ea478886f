// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Tokens per loaded layer as observed (eTPL; DEL, "Evaluation metrics" and Appendix B). A draft step loads
// the layers that its mask keeps (E of an early exit; half a layer a sublayer otherwise), a verification
// loads all L:
//     eTPL of a request = Σ (accepted + 1) / Σ (draft steps · E + L)
// Tokens that were cut after EOS count, as they do in DEL's code. Vanilla decoding has eTPL = 1 / L.

#include <draftscope/simulator/figures/run_rows.h>
#include <cstdint>
#include <optional>

namespace draftscope::simulator {

struct LoadedLayers {
  std::int32_t n_layers = 0;         ///< L
  double loaded_layers = 0.0;        ///< over all rounds
  std::int64_t verified_tokens = 0;  ///< Σ (accepted + 1)

  std::optional<double> etpl;         ///< mean of the requests' eTPL, as DEL reports it
  std::optional<double> etpl_pooled;  ///< all tokens / all loaded layers
  /// L · pooled eTPL: the speedup over vanilla decoding if time were loaded layers alone.
  std::optional<double> layer_count_speedup;
};

/// L of the recording's model: from its layer sets, else from meta; 0 if the file does not say.
[[nodiscard]] std::int32_t model_layers(const traces::Recording& recording);

/// Layers that one draft step with this mask loads: kept sublayers / 2.
[[nodiscard]] double layers_per_step(const traces::LayerSet& layer_set);

[[nodiscard]] LoadedLayers loaded_layers(const RunRows& run, const traces::Recording& recording);

}  // namespace draftscope::simulator
