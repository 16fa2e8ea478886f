// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// `draftscope report --decisions POLICY`: how the search went that led to a policy, as text with small
// charts, and as JSON with every value.

#include <draftscope/speculation/policy_file.h>
#include <string>

#include "terminal/glyphs.h"

namespace draftscope::cli {

[[nodiscard]] std::string history_text(const speculation::PolicyFile& policy, const Glyphs& glyphs);
[[nodiscard]] std::string history_json(const speculation::PolicyFile& policy);

}  // namespace draftscope::cli
