// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Export to files: a view as PNG, SVG or PDF, a table as CSV. Files are written completely or not at all.

#include <draftscope/base/result.h>
#include <QAbstractItemModel>
#include <QString>
#include <QWidget>

namespace draftscope::gui {

/// Writes the kind of file that the path's ending names: .png, .svg, .pdf. Errors: another ending, a file
/// that can't be written, no regular file.
[[nodiscard]] Result<void> write_picture(QWidget& view, const QString& path);

/// Writes CSV (RFC 4180) with a header, and raw numbers where the model has them in Qt::UserRole. Errors: a
/// file that can't be written.
[[nodiscard]] Result<void> write_csv(const QAbstractItemModel& model, const QString& path);

}  // namespace draftscope::gui
