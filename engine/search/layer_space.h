// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Components of a search point and the sublayers that they represent. Attention of every free layer comes
// first, then the MLPs, as in both published searches.

#include <draftscope/speculation/sublayer_mask.h>

#include <cstdint>
#include <span>
#include <vector>

namespace draftscope::engine::search {

/// A space in which layers first ≤ ℓ < last of n_layers may be skipped; the others always run.
struct LayerSpace {
  std::int32_t n_layers = 0;
  std::int32_t first = 0;
  std::int32_t last = 0;

  /// Number of components of a point.
  [[nodiscard]] std::int32_t dimension() const { return 2 * (last - first); }
};

/// Adds the sublayers of these components to those that the mask skips.
void skip(const LayerSpace& space, std::span<const std::int32_t> components, speculation::SublayerMask& mask);
/// A mask that skips exactly the sublayers of these components.
[[nodiscard]] speculation::SublayerMask mask_of(const LayerSpace& space,
                                                std::span<const std::int32_t> components);

/// Whether all sublayers outside the space run.
[[nodiscard]] bool is_within(const LayerSpace& space, const speculation::SublayerMask& mask);

/// Components of the sublayers that `mask` skips, ascending; skips outside the space are ignored.
[[nodiscard]] std::vector<std::int32_t> components_of(const LayerSpace& space,
                                                      const speculation::SublayerMask& mask);

/// Components that are above ½, ascending.
[[nodiscard]] std::vector<std::int32_t> above_half(std::span<const double> point);

/// Makes of the point one with 1 for each skipped component, otherwise 0.
void indicate(const LayerSpace& space, std::span<const std::int32_t> components, std::vector<double>& point);

}  // namespace draftscope::engine::search
