// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What is on screen, as files: a view as PNG, SVG or PDF, a table as CSV. Written whole or not at all.

#include <draftscope/base/result.h>
#include <QAbstractItemModel>
#include <QString>
#include <QWidget>

namespace draftscope::gui {

/// By the ending of the path: .png, .svg, .pdf. Errors: another ending, a file that can't be written, no
/// regular file.
[[nodiscard]] Result<void> write_picture(QWidget& view, const QString& path);

/// RFC 4180, with a header; raw numbers where the model has them in Qt::UserRole. Errors: a file that can't
/// be written.
[[nodiscard]] Result<void> write_csv(const QAbstractItemModel& model, const QString& path);

}  // namespace draftscope::gui
