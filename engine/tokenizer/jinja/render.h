// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/result.h>
#include <string>

#include "tokenizer/jinja/syntax.h"

namespace draftscope::engine::jinja {

/// The text of a template with `variables`. The error carries the line, and what the template raised.
[[nodiscard]] Result<std::string> render(const Block& block, Dictionary variables);

}  // namespace draftscope::engine::jinja
