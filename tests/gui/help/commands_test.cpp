// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the command palette, its fuzzy search, and context menus at the mouse.
#include "help/command_palette.h"

#include <gmock/gmock.h>

#include <QAction>
#include <QContextMenuEvent>
#include <QFileDialog>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QTimer>
#include <QTreeWidget>
#include <random>

#include "../window_fixture.h"

namespace draftscope::gui {
namespace {

bool is_subsequence(const QString& pattern, const QString& text) {
  qsizetype at = 0;
  for (const QChar sign : text)
    if (at < pattern.size() && sign == pattern[at]) ++at;
  return at == pattern.size();
}

TEST(FuzzyMatch, FindsExactlyTheTextsThatHaveTheLettersInThisOrder) {
  std::mt19937 random(1);
  const auto word = [&](int max_letters) {
    QString text;
    for (int letters = static_cast<int>(random() % static_cast<unsigned>(max_letters + 1)); letters > 0;
         --letters)
      text += QChar('a' + static_cast<int>(random() % 3));
    return text;
  };
  int found = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const QString pattern = word(4);
    const QString text = word(9);
    EXPECT_EQ(fuzzy_score(pattern, text).has_value(), is_subsequence(pattern, text))
        << pattern.toStdString() << " in " << text.toStdString();
    found += is_subsequence(pattern, text) ? 1 : 0;
  }
  EXPECT_GT(found, 200);
  EXPECT_LT(found, 1800);
}

TEST(FuzzyMatch, PrefersBeginningsOfWordsAndLettersInARow) {
  const auto score = [](const char* pattern, const char* text) {
    return fuzzy_score(QString::fromUtf8(pattern), QString::fromUtf8(text)).value();
  };
  EXPECT_GT(score("sm", "Skip map"), score("sm", "What is mine"));
  EXPECT_GT(score("conf", "Confidence"), score("conf", "Close one file"));
  EXPECT_EQ(score("SKIP", "skip map"), score("skip", "Skip Map"));
  EXPECT_EQ(score("s m", "Skip map"), score("sm", "Skip map"));
}

TEST(CommandPalette, ListsTheBestFirstAndAllForNothing) {
  std::vector<Command> commands(3);
  commands[0].words = QStringLiteral("Close one file");
  commands[1].words = QStringLiteral("Confidence");
  commands[2].words = QStringLiteral("Rounds");
  commands[2].kind = QStringLiteral("File › Export a view");
  EXPECT_THAT(matching_commands(commands, u""), testing::ElementsAre(0, 1, 2));
  EXPECT_THAT(matching_commands(commands, u"conf"), testing::ElementsAre(1, 0));
  EXPECT_THAT(matching_commands(commands, u"export rou"), testing::ElementsAre(2));
  EXPECT_THAT(matching_commands(commands, u"zzz"), testing::IsEmpty());
}

class Commands : public ActiveWindow {
 protected:
  /// Chooses a command by typing, as a user would.
  void choose(const QString& letters) {
    window_.activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&window_));
    QTest::keyClick(&window_, Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
    QPointer<CommandPalette> palette = window_.findChild<CommandPalette*>();
    ASSERT_NE(palette, nullptr);
    auto* pattern = palette->findChild<QLineEdit*>();
    QTest::keyClicks(pattern, letters);
    ASSERT_GT(palette->findChild<QTreeWidget*>()->topLevelItemCount(), 0) << letters.toStdString();
    QTest::keyClick(pattern, Qt::Key_Return);
    settle();
    ASSERT_TRUE(QTest::qWaitFor([&] { return palette == nullptr; }, 5000));
  }
};

TEST_F(Commands, EveryEnabledActionRunAndViewIsThere) {
  std::vector<std::string> words;
  const std::vector<Command> commands = window_.commands();
  for (const Command& command : commands) words.push_back(command.words.toStdString());
  for (const MenuEntry& entry : menu_entries(*window_.menuBar()))
    if (entry.is_enabled) {
      QStringList keys;
      for (const QKeySequence& sequence : entry.action->shortcuts())
        keys << sequence.toString(QKeySequence::NativeText);
      EXPECT_TRUE(std::ranges::any_of(commands, [&](const Command& command) {
        return command.words.endsWith(entry.words) && command.keys == keys.join(QStringLiteral(", "));
      })) << entry.words.toStdString();
    }
  for (const RunRounds& run : window_.state().recording()->runs())
    EXPECT_THAT(words, testing::Contains(run.run->specification));
  for (const NamedView& view : window_.views())
    EXPECT_THAT(words, testing::Contains(view.view->accessibleName().toStdString()));
}

TEST_F(Commands, WhatIsTypedIsDone) {
  choose(QStringLiteral("confidence"));
  EXPECT_TRUE(view_of<QWidget>(window_, QStringLiteral("confidence")).isVisible());
  const auto& runs = window_.state().recording()->runs();
  const std::string last =
      (window_.state().run() + 1 == runs.size() ? runs[runs.size() - 2] : runs.back()).run->specification;
  ASSERT_NE(window_.state().run_rounds()->run->specification, last);
  choose(QStringLiteral("run ") + QString::fromStdString(last));
  EXPECT_EQ(window_.state().run_rounds()->run->specification, last);
  // Choosing a view by name shows it and exports nothing.
  EXPECT_EQ(window_.findChild<QFileDialog*>(), nullptr);
  choose(QStringLiteral("sql"));
  EXPECT_TRUE(view_of<QWidget>(window_, QStringLiteral("sql")).isVisible());
}

TEST_F(Commands, FindPagesByWhatTheyAreGoodForAndSayWhereThereIsNone) {
  const std::vector<Command> commands = window_.commands();
  const QString breakdown = view_of<QWidget>(window_, QStringLiteral("breakdown")).accessibleName();
  for (const QStringView word : {u"kernel", u"gap", u"GPU"}) {
    const std::vector<std::size_t> found = matching_commands(commands, word);
    const bool has_view = std::any_of(found.begin(), found.end(),
                                      [&](std::size_t place) { return commands[place].words == breakdown; });
    EXPECT_TRUE(has_view) << word.toString().toStdString();
  }
  QTest::keyClick(&window_, Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
  auto* palette = window_.findChild<CommandPalette*>();
  ASSERT_NE(palette, nullptr);
  palette->findChild<QLineEdit*>()->setText(QStringLiteral("qqqqq"));
  auto* list = palette->findChild<QTreeWidget*>();
  ASSERT_EQ(list->topLevelItemCount(), 1);
  EXPECT_EQ(list->topLevelItem(0)->text(0), QStringLiteral("Nothing found"));
  QTest::keyClick(palette->findChild<QLineEdit*>(), Qt::Key_Return);
  EXPECT_TRUE(palette->isVisible()) << "there is nothing to do";
  palette->reject();
}

TEST_F(Commands, TheArrowsChooseAndEscapeLeaves) {
  QTest::keyClick(&window_, Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
  QPointer<CommandPalette> palette = window_.findChild<CommandPalette*>();
  ASSERT_NE(palette, nullptr);
  auto* list = palette->findChild<QTreeWidget*>();
  auto* pattern = palette->findChild<QLineEdit*>();
  EXPECT_EQ(list->currentItem(), list->topLevelItem(0));
  QTest::keyClick(pattern, Qt::Key_Down);
  EXPECT_EQ(list->currentItem(), list->topLevelItem(1));
  QTest::keyClick(pattern, Qt::Key_Escape);
  EXPECT_TRUE(QTest::qWaitFor([&] { return palette == nullptr; }, 5000));
}

TEST_F(Commands, EveryViewHasAMenuUnderTheMouse) {
  for (const NamedView& named : std::vector(window_.views())) {
    if (window_.pages().page_of(*named.view).isEmpty() || named.name.startsWith(u"what-if-")) continue;
    raise(named.name);
    QStringList entries;
    QTimer::singleShot(0, &window_, [&] {
      auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
      ASSERT_NE(menu, nullptr) << named.name.toStdString();
      for (const QAction* action : menu->actions()) entries << action->text();
      menu->close();
    });
    QContextMenuEvent event(QContextMenuEvent::Mouse, QPoint(5, 5), named.view->mapToGlobal(QPoint(5, 5)));
    QApplication::sendEvent(named.view, &event);
    settle();
    EXPECT_TRUE(entries.contains(QStringLiteral("What this &shows"))) << named.name.toStdString();
  }
}

}  // namespace
}  // namespace draftscope::gui
