// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFontMetrics>
#include <QString>
#include <QStringList>

namespace draftscope::gui {

/// The name, cut to `width` pixels where that tells it from the `others`: none of them has both the beginning
/// and the end that are left. The cut is as near to the middle as it can be, and in the middle if none tells.
/// `others` may have the name itself.
[[nodiscard]] QString elided_apart(const QString& name, const QStringList& others,
                                   const QFontMetrics& metrics, int width);

}  // namespace draftscope::gui
