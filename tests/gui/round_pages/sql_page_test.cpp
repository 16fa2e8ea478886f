// SPDX-License-Identifier: GPL-3.0-or-later
// The SQL page's tree, completion and links in the real window.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAbstractItemView>
#include <QCompleter>
#include <QTableView>
#include <QTreeWidget>
#include <algorithm>

#include "views/sql/sql_edit.h"
#include "views/sql/sql_view.h"
#include "window_fixture.h"

namespace draftscope::gui {
namespace {

class SqlPage : public Window {
 protected:
  SqlView& view() { return view_of<SqlView>(window_, QStringLiteral("sql")); }
  void open_sample() {
    ASSERT_EQ(open(folder_ / "sample.dstrace"), QString());
    raise(QStringLiteral("sql"));
    settle();
  }
  void run(const char* sql) {
    settle();
    QSignalSpy finished(&view(), &SqlView::finished);
    view().set_sql(QString::fromUtf8(sql));
    view().run();
    ASSERT_TRUE(finished.count() > 0 || finished.wait(10000));
  }
};

TEST_F(SqlPage, ListsTablesAndPutsTheirNamesIntoTheStatement) {
  open_sample();
  auto* tree = view().findChild<QTreeWidget*>();
  const auto tables = tree->findItems(QStringLiteral("rounds"), Qt::MatchExactly);
  ASSERT_EQ(tables.size(), 1);
  ASSERT_GT(tables.front()->childCount(), 20);
  view().set_sql(QStringLiteral("SELECT * FROM"));
  auto* edit = view().findChild<SqlEdit*>();
  edit->moveCursor(QTextCursor::End);
  emit tree->itemActivated(tables.front(), 0);
  EXPECT_EQ(edit->toPlainText(), QStringLiteral("SELECT * FROM rounds"));
}

TEST_F(SqlPage, CompletesWhatIsTyped) {
  open_sample();
  auto* edit = view().findChild<SqlEdit*>();
  edit->setFocus();
  view().set_sql(QStringLiteral("SELECT  FROM rounds"));
  QTextCursor cursor = edit->textCursor();
  cursor.setPosition(7);
  edit->setTextCursor(cursor);
  QTest::keyClicks(edit, QStringLiteral("verify_r"));
  ASSERT_TRUE(edit->completer().popup()->isVisible());
  QTest::keyClick(edit->completer().popup(), Qt::Key_Return);
  EXPECT_EQ(edit->toPlainText(), QStringLiteral("SELECT verify_rows FROM rounds"));
  // Asked for at any place.
  QTest::keyClicks(edit, QStringLiteral(", "));
  QTest::keyClick(edit, Qt::Key_Space, Qt::ControlModifier);
  EXPECT_TRUE(edit->completer().popup()->isVisible());
  edit->completer().popup()->hide();
}

TEST_F(SqlPage, LeadsFromAnIdToTheRoundRequestOrRun) {
  open_sample();
  ViewState& state = window_.state();
  const auto& rows = state.recording()->recording();
  const auto follow = [&](const char* sql, int row) {
    run(sql);
    auto* table = view().findChild<QTableView*>();
    EXPECT_EQ(view().model().data(view().model().index(row, 0), Qt::FontRole).value<QFont>().underline(),
              true);
    emit table->activated(view().model().index(row, 0));
    settle();
  };
  follow("SELECT id FROM rounds ORDER BY id DESC", 0);
  const auto last = std::max_element(rows.rounds.begin(), rows.rounds.end(),
                                     [](const auto& a, const auto& b) { return a.id < b.id; });
  EXPECT_EQ(state.cursor().round_index, static_cast<std::uint32_t>(last - rows.rounds.begin()));
  EXPECT_TRUE(view_of<QWidget>(window_, QStringLiteral("rounds")).isVisible());
  follow("SELECT request FROM rounds ORDER BY request", 0);
  EXPECT_EQ(rows.requests[state.cursor().request_index].id.value(),
            std::min_element(rows.rounds.begin(), rows.rounds.end(), [](const auto& a, const auto& b) {
              return a.request_id < b.request_id;
            })->request_id.value());
  follow("SELECT run FROM run_figures ORDER BY run DESC", 0);
  EXPECT_EQ(state.run(), rows.runs.size() - 1);
  EXPECT_TRUE(view_of<QWidget>(window_, QStringLiteral("summary")).isVisible());
  // What is no id leads nowhere.
  run("SELECT drafted FROM rounds");
  EXPECT_FALSE(view().model().link(view().model().index(0, 0)));
}

}  // namespace
}  // namespace draftscope::gui
