// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/result.h>
#include <string>
#include <string_view>

namespace draftscope::engine::tokenizer {

/// A PCRE2 expression (for UTF and UCP) that means what `expression` means to Oniguruma with its default
/// syntax. Only constructs whose meaning is known to agree pass; others are refused by name, `path` first.
[[nodiscard]] Result<std::string> translate_oniguruma(std::string_view expression, std::string_view path);

}  // namespace draftscope::engine::tokenizer
