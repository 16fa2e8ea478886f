// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A skip set inside a strategy's text: skip-attention=3+5,skip-mlp=none.

#include <draftscope/base/result.h>
#include <draftscope/speculation/sublayer_mask.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::speculation {

/// The skipped layers of either kind as "3+5+8", or "none".
struct SkipSetText {
  std::string attention;
  std::string mlp;
};

[[nodiscard]] SkipSetText skip_set_text(const SublayerMask& set);
/// Parses a skip set; an empty text means none. Errors name the parameter: skip-attention or skip-mlp.
[[nodiscard]] Result<SublayerMask> parse_skip_set_text(const SkipSetText& text, std::int32_t n_layers);

/// The layers of "3+5+8", as a specification stores lists of layers; pieces that are no number are ignored.
[[nodiscard]] std::vector<std::int32_t> listed_layers(std::string_view text);

}  // namespace draftscope::speculation
