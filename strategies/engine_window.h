// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/engine/strategy.h>
#include <cstdint>
#include <optional>

namespace draftscope::engine {

/// Where the last `window` tokens before the root begin; none where the request's text has fewer. Searches
/// over known tokens ask this alone for their place, since what they keep may stem from a longer request.
[[nodiscard]] inline std::optional<std::int32_t> window_before_root(const RoundView& view,
                                                                    std::int32_t window) {
  const auto before_root = static_cast<std::int32_t>(view.text.size()) - 1;
  if (window > before_root) return std::nullopt;
  return before_root - window;
}

}  // namespace draftscope::engine
