// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Widths of a table's columns: numbers before names.

#include <vector>

class QTableView;

namespace draftscope::gui {

/// Gives the columns of a table with a model their widths, now and whenever the model, the table's size or
/// the shown columns change. Columns of numbers, which are aligned right, are as wide as their content.
/// Columns of texts share what is left: the longest are cut first, in the middle, to no less than twelve
/// letters, and pictures to seven. Room that is left goes to the shown one of the columns `wide`, which are
/// pictures, or else evenly to all, and only to columns of texts once the others are twice as wide. A width
/// that the user has chosen stays. If the columns are still too wide, the first of them stays in sight while
/// the others scroll, as wide as its texts up to a third of the table. A text that is cut is whole in its
/// tool tip.
void keep_numbers_in_sight(QTableView& table, std::vector<int> wide = {});

/// Hides the columns after the first in which no cell of a small table has a value, and shows the others.
void hide_columns_without_values(QTableView& table);

}  // namespace draftscope::gui
