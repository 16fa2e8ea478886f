// SPDX-License-Identifier: GPL-3.0-or-later
#include "copy_rows.h"

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QTableView>
#include <map>

#include "charts/table_file.h"

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
  if (!rows.empty() && rows.begin()->second.size() > 1) {
    const QHeaderView& header = *table.horizontalHeader();
    QStringList names;
    for (const auto& [place, text] : rows.begin()->second)
      names << table.model()->headerData(header.logicalIndex(place), Qt::Horizontal).toString();
    lines << names.join(u'\t');
  }
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
  table.setContextMenuPolicy(Qt::ActionsContextMenu);
  for (const bool is_latex : {true, false}) {
    auto* whole = new QAction(
        is_latex ? QTableView::tr("Copy table as LaTeX") : QTableView::tr("Copy table as Markdown"), &table);
    QObject::connect(whole, &QAction::triggered, &table, [&table, is_latex] {
      const ChartTable shown = shown_table(table);
      QGuiApplication::clipboard()->setText(is_latex ? latex_of(shown) : markdown_of(shown));
    });
    table.addAction(whole);
  }
}

}  // namespace draftscope::gui
