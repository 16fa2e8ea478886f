// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Untrusted text inside a one-line message.

#include <string>
#include <string_view>

namespace draftscope {

/// The text with control bytes as \xNN, cut after 120 bytes: for where it stands without quotes.
[[nodiscard]] std::string excerpt(std::string_view text);

/// The text between single quotes, control bytes as \xNN, cut after 120 bytes: an error stays one readable
/// line whatever a file holds.
[[nodiscard]] std::string quote(std::string_view text);

}  // namespace draftscope
