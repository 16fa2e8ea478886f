// SPDX-License-Identifier: GPL-3.0-or-later
#include "copy_rows.h"

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QTableView>
#include <map>

namespace draftscope::gui {

namespace {

void copy_selected(const QTableView& table) {
  std::map<int, std::map<int, QString>> rows;  // [row][place of the column on screen]
  for (const QModelIndex& index : table.selectionModel()->selectedIndexes())
    if (!table.isColumnHidden(index.column())) {
      // Qt::EditRole has the whole text where a cell shows only its beginning.
      const QVariant whole = index.data(Qt::EditRole);
      rows[index.row()][table.horizontalHeader()->visualIndex(index.column())] =
          (whole.isValid() ? whole : index.data(Qt::DisplayRole)).toString();
    }
  QStringList lines;
  for (const auto& [row, cells] : rows) {
    QStringList texts;
    for (const auto& [column, text] : cells) texts << text;
    lines << texts.join(u'\t');
  }
  if (!lines.isEmpty()) QGuiApplication::clipboard()->setText(lines.join(u'\n'));
}

}  // namespace

void offer_copying(QTableView& table) {
  // Arrow keys go from cell to cell; Tab leaves the table, as it leaves every control.
  table.setTabKeyNavigation(false);
  auto* copy = new QAction(QTableView::tr("Copy"), &table);
  copy->setShortcut(QKeySequence::Copy);
  copy->setShortcutContext(Qt::WidgetShortcut);
  QObject::connect(copy, &QAction::triggered, &table, [&table] { copy_selected(table); });
  table.addAction(copy);
}

}  // namespace draftscope::gui
