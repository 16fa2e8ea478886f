// SPDX-License-Identifier: GPL-3.0-or-later
#include "layer_space.h"

namespace draftscope::engine::search {

void skip(const LayerSpace& space, std::span<const std::int32_t> components,
          speculation::SublayerMask& mask) {
  const std::int32_t free_layers = space.last - space.first;
  for (const std::int32_t component : components) {
    if (component < free_layers)
      mask.skip_attention(space.first + component);
    else
      mask.skip_mlp(space.first + component - free_layers);
  }
}

speculation::SublayerMask mask_of(const LayerSpace& space, std::span<const std::int32_t> components) {
  speculation::SublayerMask mask(space.n_layers);
  skip(space, components, mask);
  return mask;
}

bool is_within(const LayerSpace& space, const speculation::SublayerMask& mask) {
  for (std::int32_t layer = 0; layer < space.n_layers; ++layer) {
    const bool is_free = layer >= space.first && layer < space.last;
    if (!is_free && !(mask.runs_attention(layer) && mask.runs_mlp(layer))) return false;
  }
  return true;
}

std::vector<std::int32_t> components_of(const LayerSpace& space, const speculation::SublayerMask& mask) {
  std::vector<std::int32_t> components;
  for (std::int32_t layer = space.first; layer < space.last; ++layer)
    if (!mask.runs_attention(layer)) components.push_back(layer - space.first);
  for (std::int32_t layer = space.first; layer < space.last; ++layer)
    if (!mask.runs_mlp(layer)) components.push_back(space.last - space.first + layer - space.first);
  return components;
}

std::vector<std::int32_t> above_half(std::span<const double> point) {
  std::vector<std::int32_t> components;
  for (std::size_t i = 0; i < point.size(); ++i)
    if (point[i] > 0.5) components.push_back(static_cast<std::int32_t>(i));
  return components;
}

void indicate(const LayerSpace& space, std::span<const std::int32_t> components, std::vector<double>& point) {
  point.assign(static_cast<std::size_t>(space.dimension()), 0.0);
  for (const std::int32_t component : components) point[static_cast<std::size_t>(component)] = 1.0;
}

}  // namespace draftscope::engine::search
