// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Queries to start from on the SQL page.

#include <span>

namespace draftscope::gui {

struct SqlPreset {
  const char* name;  ///< Name for people, before translation.
  const char* sql;
};

[[nodiscard]] std::span<const SqlPreset> sql_presets();

}  // namespace draftscope::gui
