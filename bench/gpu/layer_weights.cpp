// SPDX-License-Identifier: GPL-3.0-or-later
#include "layer_weights.h"

namespace draftscope::bench {

std::vector<std::string> layer_weight_names(std::string as_stored) {
  std::vector<std::string> names{std::move(as_stored)};
  for (const speculation::WeightFormatRow& row : speculation::weight_formats())
    if (speculation::makes(speculation::MadeBy::cuda, row)) names.emplace_back(row.name);
  return names;
}

engine::CudaWeights parse_layer_weights(std::string_view name, std::string_view as_stored) {
  if (name == as_stored) return std::nullopt;
  const auto format = speculation::parse_weight_format(name);
  return format ? engine::CudaWeights(*format) : std::nullopt;
}

std::size_t rounded_bytes(std::size_t outputs, std::size_t depth, speculation::WeightFormat format) {
  const double bits = speculation::weight_format_row(format).bits;
  const auto values = static_cast<std::size_t>(static_cast<double>(outputs * depth) * bits / 8.0);
  return format == speculation::WeightFormat::fp8 ? values + outputs * sizeof(float) : values;
}

}  // namespace draftscope::bench
