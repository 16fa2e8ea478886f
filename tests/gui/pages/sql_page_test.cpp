// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the tree and the links of the SQL page in the real window.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAction>
#include <QClipboard>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTableView>
#include <QTreeWidget>
#include <algorithm>

#include "views/sql_view.h"
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
  [[nodiscard]] QString said() { return named_widget<QLabel>(view(), "What became of the statement").text(); }
  QPushButton* button(const char* words) { return &named_widget<QPushButton>(view(), words); }
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
  auto* edit = view().findChild<QPlainTextEdit*>();
  edit->moveCursor(QTextCursor::End);
  emit tree->itemActivated(tables.front(), 0);
  EXPECT_EQ(edit->toPlainText(), QStringLiteral("SELECT * FROM rounds"));
}

TEST_F(SqlPage, SaysInOneLineWhatIsNoStatement) {
  open_sample();
  const QSize before = window_.size();
  const std::string name(100'000, 'x');
  for (const std::string& sql :
       {std::string("nonsense"), std::string("SELECT"), std::string("SELECT <b>x</b> FROM"),
        std::string("SELECT [a\nb]"), std::string("\xFF\xFE"), "SELECT " + name, "SELECT * FROM " + name,
        std::string("DROP TABLE rounds"), std::string("   "), std::string("SELECT 1; SELECT 2"),
        std::string(2000, '(')}) {
    run(sql.c_str());
    EXPECT_TRUE(said().startsWith(QStringLiteral("SQL: "))) << said().toStdString();
    EXPECT_FALSE(said().contains(u'\n')) << said().toStdString();
    EXPECT_LT(said().size(), 300);
    EXPECT_EQ(view().model().rowCount(), 0);
    settle();
    EXPECT_LE(window_.minimumSizeHint().width(), 640) << said().toStdString();
  }
  EXPECT_EQ(window_.size(), before);
  run("SELECT count(*) FROM rounds");
  EXPECT_EQ(view().model().rowCount(), 1) << "the next one runs";
}

TEST_F(SqlPage, StopsWhatHasNoEnd) {
  open_sample();
  settle();
  QSignalSpy finished(&view(), &SqlView::finished);
  view().set_sql(QStringLiteral(
      "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"));
  view().run();
  QTest::qWait(200);
  ASSERT_TRUE(finished.isEmpty());
  button("Stop")->click();
  EXPECT_EQ(finished.count(), 1);
  EXPECT_EQ(said(), QStringLiteral("stopped"));
  run("SELECT 7");
  EXPECT_EQ(view().model().data(view().model().index(0, 0), Qt::DisplayRole).toInt(), 7);
  // Another query is under way when its recording is closed.
  view().set_sql(QStringLiteral(
      "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"));
  view().run();
  window_.close_recording();
  settle();
  EXPECT_EQ(window_.state().recording(), nullptr);
}

TEST_F(SqlPage, ShowsTheBeginningOfALongTextAndCopiesAllOfIt) {
  open_sample();
  run("SELECT hex(zeroblob(2000000)) AS text, substr('ab', 1) AS short, replace(hex(zeroblob(300)), '0', "
      "'€') AS signs");
  const QueryModel& model = view().model();
  const auto shown = [&](int column) {
    return model.data(model.index(0, column), Qt::DisplayRole).toString();
  };
  EXPECT_LT(shown(0).size(), 1000);
  EXPECT_TRUE(shown(0).endsWith(u'…'));
  EXPECT_EQ(shown(1), QStringLiteral("ab"));
  EXPECT_TRUE(shown(2).startsWith(QStringLiteral("€€€")));
  EXPECT_TRUE(shown(2).endsWith(QStringLiteral("€…")));
  EXPECT_EQ(model.data(model.index(0, 0), QueryModel::value_role).toString().size(), 4'000'000);
  auto* table = view().findChild<QTableView*>();
  table->selectAll();
  for (QAction* action : table->actions())
    if (action->shortcut() == QKeySequence::Copy) action->trigger();
  const QString names = QStringLiteral("text\tshort\tsigns\n");
  EXPECT_TRUE(QGuiApplication::clipboard()->text().startsWith(names));
  EXPECT_EQ(QGuiApplication::clipboard()->text().size(), names.size() + 4'000'000 + 1 + 2 + 1 + 600);
  EXPECT_FALSE(table->grab().isNull());
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
  // A value that is no id leads nowhere.
  run("SELECT drafted FROM rounds");
  EXPECT_FALSE(view().model().link(view().model().index(0, 0)));
}

}  // namespace
}  // namespace draftscope::gui
