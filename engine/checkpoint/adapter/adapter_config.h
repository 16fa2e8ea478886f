// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/result.h>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::engine {

/// The parts of an adapter_config.json that merging needs.
struct AdapterConfig {
  std::int32_t rank = 0;
  double scale = 1.0;                               ///< of B · A
  std::optional<std::vector<std::string>> modules;  ///< last parts of their names; none = any linear ones
  std::optional<std::vector<std::int32_t>> layers;  ///< none = all
};

/// Errors: another adapter than plain LoRA, a field that is missing or out of its range, a layer from
/// n_layers on.
[[nodiscard]] Result<AdapterConfig> parse_adapter_config(std::string_view text, std::string_view file,
                                                         std::int32_t n_layers);

}  // namespace draftscope::engine
