// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Tables as files: CSV with raw numbers, and LaTeX and Markdown as people read them. Files are written
// completely or not at all.

#include <draftscope/base/result.h>

#include <QAbstractItemModel>
#include <QByteArray>
#include <QString>

#include "charts/chart.h"

class QTableView;

namespace draftscope::gui {

/// The columns that the table shows, in their order on the screen, as people read them. A cell that is a
/// picture, or that shows only the beginning of its text, is the text in Qt::EditRole.
[[nodiscard]] ChartTable shown_table(const QTableView& table);
/// The columns that the table shows, with raw numbers where the model has them in Qt::UserRole.
[[nodiscard]] ChartTable raw_shown_table(const QTableView& table);
/// All columns of a model with the raw numbers, where the model has them in Qt::UserRole.
[[nodiscard]] ChartTable raw_table(const QAbstractItemModel& model);

/// CSV (RFC 4180) with a header; numbers have 17 digits.
[[nodiscard]] QString csv_of(const ChartTable& table);
/// A `tabular` with booktabs' rules; numbers have four digits. Characters that are special in LaTeX are
/// escaped.
[[nodiscard]] QString latex_of(const ChartTable& table);
/// A pipe table; numbers have four digits.
[[nodiscard]] QString markdown_of(const ChartTable& table);

/// One of these, by the ending of a file: "tex", "md", else CSV.
[[nodiscard]] QString text_of_table(const ChartTable& table, const QString& ending);

/// Whether write_table() knows the ending of the path: .csv, .tex, .md.
[[nodiscard]] bool is_table_path(const QString& path);
/// Errors: another ending, a file that can't be written.
[[nodiscard]] Result<void> write_table(const ChartTable& table, const QString& path);

/// Errors: a file that can't be written, no regular file.
[[nodiscard]] Result<void> write_whole(const QByteArray& bytes, const QString& path);

/// Lets Ctrl+C copy the selected cells of the table: one line per row, with tabs between columns, below the
/// names of the columns if there are several. A cell that shows only the beginning of its text is copied
/// whole. A menu also copies the shown columns of all rows as a table for LaTeX or Markdown.
void offer_copying(QTableView& table);

}  // namespace draftscope::gui
