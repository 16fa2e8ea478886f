// SPDX-License-Identifier: GPL-3.0-or-later
#include "layer_space.h"

namespace draftscope::engine::search {

SublayerMask mask_of(const LayerSpace& space, std::span<const std::int32_t> components) {
  const std::int32_t free_layers = space.last - space.first;
  SublayerMask mask(space.n_layers);
  for (const std::int32_t component : components) {
    if (component < free_layers)
      mask.skip_attention(space.first + component);
    else
      mask.skip_mlp(space.first + component - free_layers);
  }
  return mask;
}

std::vector<std::int32_t> components_of(const LayerSpace& space, const SublayerMask& mask) {
  std::vector<std::int32_t> components;
  for (std::int32_t layer = space.first; layer < space.last; ++layer)
    if (!mask.runs_attention(layer)) components.push_back(layer - space.first);
  for (std::int32_t layer = space.first; layer < space.last; ++layer)
    if (!mask.runs_mlp(layer)) components.push_back(space.last - space.first + layer - space.first);
  return components;
}

std::vector<double> indicator(const LayerSpace& space, std::span<const std::int32_t> components) {
  std::vector<double> point(static_cast<std::size_t>(space.dimension()), 0.0);
  for (const std::int32_t component : components) point[static_cast<std::size_t>(component)] = 1.0;
  return point;
}

}  // namespace draftscope::engine::search
