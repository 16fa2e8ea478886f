// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A prompt's category as sentences name it. Pure, safe from any thread.

#include <string>

namespace draftscope::simulator {

/// The category, or words for prompts without one.
[[nodiscard]] inline std::string category_name(const std::string& category) {
  return category.empty() ? "(no category)" : category;
}

}  // namespace draftscope::simulator
