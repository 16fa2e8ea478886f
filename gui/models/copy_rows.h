// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QTableView;

namespace draftscope::gui {

/// Lets Ctrl+C copy the selected cells of the table: one line per row, with tabs between columns, below the
/// names of the columns if there are several. A cell that shows only the beginning of its text is copied
/// whole. A menu also copies the shown columns of all rows as a table for LaTeX or Markdown.
void offer_copying(QTableView& table);

}  // namespace draftscope::gui
