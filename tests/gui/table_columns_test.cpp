// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the widths of tables' columns: numbers are whole before names are, names that are cut differ, and the
// first column stays.
#include <draftscope/simulator/analysis/gpu.h>
#include <gtest/gtest.h>

#include <QHeaderView>
#include <QScrollBar>
#include <QStandardItemModel>
#include <QTableView>
#include <QTest>
#include <random>
#include <set>

#include "drawn_texts.h"
#include "settle.h"
#include "widgets/table_columns.h"

namespace draftscope::gui {
namespace {

/// A table with a name in every third column, of random lengths.
void fill(QStandardItemModel& model, unsigned seed, int columns) {
  std::mt19937_64 random(seed);
  model.setColumnCount(columns);
  for (int column = 0; column < columns; ++column) {
    const bool is_name = column % 3 == 0;
    model.setHeaderData(column, Qt::Horizontal, QStringLiteral("c%1").arg(column));
    for (int row = 0; row < 20; ++row) {
      auto* item = new QStandardItem(is_name ? QString(static_cast<int>(random() % 90), u'n')
                                             : QString::number(random() % 1000000));
      item->setTextAlignment((is_name ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
      model.setItem(row, column, item);
    }
  }
}

struct Filled {
  Filled(unsigned seed, int columns) {
    fill(model, seed, columns);
    table.setModel(&model);
    keep_numbers_in_sight(table);
    table.show();
  }
  QStandardItemModel model;
  QTableView table;
};

/// Width that the widest of a column's cells asks for.
int widest(const Filled& of, int column) {
  int width = 0;
  for (int row = 0; row < of.model.rowCount(); ++row)
    width = std::max(width, of.table.sizeHintForIndex(of.model.index(row, column)).width());
  return width;
}

TEST(TableColumns, NumbersAreWholeInEveryWidthAndNamesGiveWay) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    const int columns = 2 + static_cast<int>(seed);
    Filled filled(seed, columns);
    QTableView& table = filled.table;
    for (const int width : {300, 700, 1200, 2400}) {
      table.resize(width, 300);
      settle();
      int all = 0;
      bool is_cut = false;
      for (int column = 0; column < columns; ++column) {
        all += table.columnWidth(column);
        if (column % 3 != 0) {
          EXPECT_GE(table.columnWidth(column), widest(filled, column)) << "a number is never cut";
        } else {
          is_cut = is_cut || table.columnWidth(column) < widest(filled, column);
        }
      }
      if (is_cut) {
        EXPECT_GE(all + 1, table.viewport()->width()) << "names are cut only for want of room";
      }
    }
  }
}

TEST(TableColumns, RoomThatIsLeftIsSharedAndTextsTakeWhatWouldMoreThanDoubleNumbers) {
  Filled filled(4, 5);
  QTableView& table = filled.table;
  for (const int width : {1200, 6000}) {
    table.resize(width, 300);
    settle();
    int all = 0;
    for (int column = 0; column < 5; ++column) all += table.columnWidth(column);
    EXPECT_EQ(all, table.viewport()->width()) << "the last column ends where the table does";
    for (const int number : {1, 2, 4}) {
      const int wanted =
          std::max(table.horizontalHeader()->sectionSizeHint(number), widest(filled, number) + 1);
      EXPECT_LE(table.columnWidth(number), 2 * wanted);
    }
  }
}

TEST(TableColumns, NumbersAloneBecomeNoMoreThanTwiceAsWide) {
  QStandardItemModel model;
  fill(model, 4, 3);
  QTableView table;
  table.setModel(&model);
  table.setColumnHidden(0, true);
  keep_numbers_in_sight(table);
  table.resize(2000, 300);
  table.show();
  settle();
  EXPECT_LT(table.columnWidth(1) + table.columnWidth(2), 500);
}

TEST(TableColumns, NamesThatAreCutDifferAndKeepTheirEnds) {
  QStandardItemModel model;
  for (const simulator::GpuSpecification& gpu : simulator::known_gpus())
    model.appendRow(new QStandardItem(QString::fromStdString(gpu.name)));
  QTableView table;
  table.setModel(&model);
  table.horizontalHeader()->hide();
  table.verticalHeader()->hide();
  keep_numbers_in_sight(table);
  table.resize(400, 2000);
  table.show();
  // "A1…4-80GB" is the shortest that tells some of them apart.
  for (int letters = 11; letters < 30; ++letters) {
    table.setColumnWidth(0, letters * table.fontMetrics().horizontalAdvance(u'0'));
    std::set<QString> drawn;
    int row = 0;
    for (const DrawnText& text : drawn_texts(*table.viewport())) {
      const QStringList ends = text.text.split(u'…');
      const QString name = model.item(row++)->text();
      EXPECT_TRUE(name.startsWith(ends.front()) && name.endsWith(ends.back())) << text.text.toStdString();
      drawn.insert(text.text);
    }
    EXPECT_EQ(drawn.size(), simulator::known_gpus().size()) << letters;
  }
}

TEST(TableColumns, ColumnsWithoutValuesAreHiddenUntilTheyHaveOne) {
  QStandardItemModel model;
  fill(model, 4, 4);
  for (int row = 0; row < model.rowCount(); ++row) model.item(row, 2)->setText(QStringLiteral("–"));
  QTableView table;
  table.setModel(&model);
  hide_columns_without_values(table);
  for (int column = 0; column < 4; ++column) EXPECT_EQ(table.isColumnHidden(column), column == 2);
  model.item(3, 2)->setText(QStringLiteral("1"));
  hide_columns_without_values(table);
  EXPECT_FALSE(table.isColumnHidden(2));
}

TEST(TableColumns, AWidthThatTheUserChoseStays) {
  Filled filled(3, 5);
  QTableView& table = filled.table;
  table.resize(600, 300);
  settle();
  table.horizontalHeader()->resizeSection(0, 333);
  table.resize(900, 300);
  settle();
  EXPECT_EQ(table.columnWidth(0), 333);
}

TEST(TableColumns, AHiddenColumnLeavesNoGap) {
  Filled filled(3, 6);
  QTableView& table = filled.table;
  table.resize(900, 300);
  settle();
  table.setColumnHidden(2, true);
  settle();
  EXPECT_EQ(table.columnWidth(2), 0);
  EXPECT_EQ(table.columnViewportPosition(3), table.columnViewportPosition(1) + table.columnWidth(1));
}

TEST(TableColumns, NamesAreWholeUpToAThirdOfTheTableWhenNumbersScroll) {
  Filled filled(5, 14);
  QTableView& table = filled.table;
  for (const int width : {400, 600, 800}) {
    table.resize(width, 300);
    settle();
    ASSERT_GT(table.horizontalScrollBar()->maximum(), 0);
    EXPECT_EQ(table.columnWidth(0), std::min(widest(filled, 0) + 1, table.viewport()->width() / 3));
  }
}

TEST(TableColumns, TheFirstColumnStaysWhenTheOthersScroll) {
  Filled filled(5, 14);
  QTableView& table = filled.table;
  table.resize(400, 300);
  settle();
  auto* frozen = table.findChild<QWidget*>(QStringLiteral("frozen-column"));
  ASSERT_NE(frozen, nullptr);
  EXPECT_FALSE(frozen->isVisible());
  QScrollBar& bar = *table.horizontalScrollBar();
  bar.setValue(bar.maximum());
  ASSERT_TRUE(frozen->isVisible());
  const QPoint of_row_3(10, table.horizontalHeader()->height() + table.rowViewportPosition(3) + 5);
  QTest::mouseClick(frozen, Qt::LeftButton, Qt::NoModifier, of_row_3);
  EXPECT_EQ(table.currentIndex(), filled.model.index(3, 0))
      << "a click on it is one on the cell that it shows";
  EXPECT_EQ(bar.value(), bar.maximum());
  // The keyboard leads to no cell that it covers.
  table.setCurrentIndex(filled.model.index(3, 13));
  for (int step = 0; step < 12; ++step) {
    QTest::keyClick(&table, Qt::Key_Left);
    EXPECT_GE(table.columnViewportPosition(table.currentIndex().column()),
              frozen->isVisible() ? frozen->width() : 0);
  }
}

}  // namespace
}  // namespace draftscope::gui
