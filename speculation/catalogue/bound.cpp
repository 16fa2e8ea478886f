// SPDX-License-Identifier: GPL-3.0-or-later
#include "catalogue/bound.h"

namespace draftscope::speculation {

std::optional<std::int64_t> bound_of(std::string_view text, std::int32_t n_layers) {
  if (!text.starts_with('L')) return number_of<std::int64_t>(text);
  if (text.size() == 1) return n_layers;
  const auto by = number_of<std::int64_t>(text.substr(2));
  if (!by) return std::nullopt;
  if (text[1] == '-') return n_layers - *by;
  if (text[1] == '/' && *by > 0) return n_layers / *by;
  return std::nullopt;
}

std::optional<std::string> every_layer_of(std::string_view text, std::int32_t n_layers) {
  constexpr std::string_view opening = "every-";
  if (!text.starts_with(opening)) return std::nullopt;
  const auto step = number_of<std::int32_t>(text.substr(opening.size()));
  if (!step || *step < 1) return std::string();
  std::string layers;
  for (std::int64_t layer = *step - 1; layer < n_layers; layer += *step)
    (layers += layers.empty() ? "" : "+") += std::to_string(layer);
  return layers.empty() ? "none" : layers;
}

}  // namespace draftscope::speculation
