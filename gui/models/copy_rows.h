// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QTableView;

namespace draftscope::gui {

/// Lets Ctrl+C copy all that is selected in the table, as it is shown, or whole where a cell shows only the
/// beginning: a line a row, with tabs between its columns.
void offer_copying(QTableView& table);

}  // namespace draftscope::gui
