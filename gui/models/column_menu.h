// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QTableView;

namespace draftscope::gui {

/// Hides all columns of the table from `shown` on, and lets a menu on its header show and hide each but the
/// first. The table has its model.
void offer_columns(QTableView& table, int shown);

}  // namespace draftscope::gui
