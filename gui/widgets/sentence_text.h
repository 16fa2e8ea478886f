// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <string_view>

namespace draftscope::gui {

/// A sentence of the simulator, which writes in ASCII, with the app's signs: × after a number for "x", µs for
/// "us", and − before a number for "-".
[[nodiscard]] QString sentence_text(std::string_view sentence);

}  // namespace draftscope::gui
