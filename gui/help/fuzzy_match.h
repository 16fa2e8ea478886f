// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// How well a few letters stand for a longer text, for lists that are searched by typing.

#include <QStringView>
#include <optional>

namespace draftscope::gui {

/// Score of the letters of `pattern`, without its spaces, found in this order in `text`, upper and lower case
/// alike: the higher the better. Letters in a row and at beginnings of words count more; absent if they are
/// not all there.
[[nodiscard]] std::optional<int> fuzzy_score(QStringView pattern, QStringView text);

}  // namespace draftscope::gui
