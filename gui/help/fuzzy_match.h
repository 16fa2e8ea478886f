// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Scores how well a few letters match a longer text, for lists that are searched by typing.

#include <QStringView>
#include <optional>

namespace draftscope::gui {

/// Score of the letters of `pattern`, without its spaces, if `text` has them in this order, ignoring case;
/// higher is better. Adjacent letters and letters that begin words count more. Absent if any letter is
/// missing.
[[nodiscard]] std::optional<int> fuzzy_score(QStringView pattern, QStringView text);

}  // namespace draftscope::gui
