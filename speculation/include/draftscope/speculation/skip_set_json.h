// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// One skip set as JSON: {"attention": [layer, …], "mlp": [layer, …]}.

#include <draftscope/base/json_field.h>
#include <draftscope/base/result.h>
#include <draftscope/speculation/sublayer_mask.h>

#include <cstdint>

namespace draftscope::speculation {

/// Parses a skip set. Errors: another member, a list that is missing, a layer that the model lacks or that is
/// listed twice.
[[nodiscard]] Result<SublayerMask> parse_skip_set(const JsonField& field, std::int32_t n_layers);

[[nodiscard]] nlohmann::ordered_json skip_set_json(const SublayerMask& set);

}  // namespace draftscope::speculation
