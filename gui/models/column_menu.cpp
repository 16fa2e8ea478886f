// SPDX-License-Identifier: GPL-3.0-or-later
#include "column_menu.h"

#include <QHeaderView>
#include <QMenu>
#include <QTableView>

namespace draftscope::gui {

namespace {

void show_menu(QTableView& table, const QPoint& place) {
  QMenu menu(&table);
  menu.setToolTipsVisible(true);
  for (int column = 1; column < table.model()->columnCount(); ++column) {
    QAction* action = menu.addAction(table.model()->headerData(column, Qt::Horizontal).toString());
    action->setToolTip(table.model()->headerData(column, Qt::Horizontal, Qt::ToolTipRole).toString());
    action->setCheckable(true);
    action->setChecked(!table.isColumnHidden(column));
    QObject::connect(action, &QAction::toggled, &table, [&table, column](bool is_shown) {
      table.setColumnHidden(column, !is_shown);
      if (is_shown) table.resizeColumnToContents(column);
    });
  }
  menu.exec(table.horizontalHeader()->mapToGlobal(place));
}

}  // namespace

void offer_columns(QTableView& table, int shown) {
  for (int column = shown; column < table.model()->columnCount(); ++column) table.hideColumn(column);
  table.horizontalHeader()->setContextMenuPolicy(Qt::CustomContextMenu);
  QObject::connect(table.horizontalHeader(), &QHeaderView::customContextMenuRequested, &table,
                   [&table](const QPoint& place) { show_menu(table, place); });
}

}  // namespace draftscope::gui
