// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Untrusted text inside a one-line message.

#include <string>
#include <string_view>

namespace draftscope {

/// Text with control bytes as \xNN, cut after 120 bytes, for use without quotes.
[[nodiscard]] std::string excerpt(std::string_view text);

/// Text between single quotes, with control bytes as \xNN, cut after 120 bytes, so that an error stays one
/// readable line whatever a file contains.
[[nodiscard]] std::string quote(std::string_view text);

}  // namespace draftscope
