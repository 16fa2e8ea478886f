// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Reader::validate: the rules of traces/SCHEMA.md.

#include <draftscope/base/result.h>
#include <draftscope/traces/reader.h>
#include <vector>

#include "reading/open.h"

namespace draftscope::traces {

[[nodiscard]] Result<std::vector<Violation>> find_violations(OpenTrace& trace, std::size_t most);

}  // namespace draftscope::traces
