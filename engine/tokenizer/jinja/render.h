// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/result.h>
#include <string>

#include "tokenizer/jinja/budget.h"
#include "tokenizer/jinja/syntax.h"

namespace draftscope::engine::jinja {

/// Renders a template with `variables`. The error is the one that the template raised, or names the line that
/// exceeded the limits.
[[nodiscard]] Result<std::string> render(const Block& block, Variables variables, const Limits& limits = {});

}  // namespace draftscope::engine::jinja
