// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/result.h>
#include <string>
#include <string_view>

namespace draftscope::engine::tokenizer {

/// Translates an expression from Oniguruma's default syntax to PCRE2 (for UTF and UCP) with the same meaning.
/// Accepts only constructs whose meaning is known to agree; refuses others by name, with `path` first.
[[nodiscard]] Result<std::string> translate_oniguruma(std::string_view expression, std::string_view path);

}  // namespace draftscope::engine::tokenizer
