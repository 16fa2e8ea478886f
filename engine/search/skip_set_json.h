// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// One skip set as JSON: {"attention": [layer, …], "mlp": [layer, …]}.

#include <draftscope/base/result.h>
#include <draftscope/speculation/sublayer_mask.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

namespace draftscope::engine::search {

/// `file` and `path`, the value's place in it, only name the value in errors.
[[nodiscard]] Result<speculation::SublayerMask> parse_skip_set(const nlohmann::json& value,
                                                               std::int32_t n_layers, std::string_view file,
                                                               std::string_view path);

[[nodiscard]] nlohmann::ordered_json skip_set_json(const speculation::SublayerMask& set);

}  // namespace draftscope::engine::search
