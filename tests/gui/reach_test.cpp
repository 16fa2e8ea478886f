// SPDX-License-Identifier: GPL-3.0-or-later
// Tests what can be reached without a mouse, and what a screen reader says about it.
#include <gmock/gmock.h>

#include <QAbstractButton>
#include <QAccessible>
#include <QAction>
#include <QMenu>
#include <QMenuBar>
#include <QScrollBar>
#include <QTabBar>
#include <QTextBrowser>
#include <set>

#include "charts/export_dialog.h"
#include "help/command_palette.h"
#include "help/manual_window.h"
#include "window_fixture.h"

namespace draftscope::gui {
namespace {

std::string place_of(const QWidget& widget) {
  std::string path;
  for (const QWidget* at = &widget; at != nullptr; at = at->parentWidget())
    path = std::string(at->metaObject()->className()) + "/" + path;
  return path;
}

/// The name that a screen reader speaks.
QString spoken_name(QWidget& widget) {
  QAccessibleInterface* interface = QAccessible::queryAccessibleInterface(&widget);
  return interface == nullptr ? QString() : interface->text(QAccessible::Name);
}

/// Whether another widget speaks for this one: a part that Qt makes within one of our widgets, or a mere
/// container.
bool is_part_of_another(const QWidget& widget) {
  return widget.objectName().startsWith(u"qt_") || widget.focusProxy() != nullptr ||
         qobject_cast<const QScrollBar*>(&widget) != nullptr ||
         std::string_view(widget.metaObject()->className()) == "QScrollArea";
}

class Reach : public Window {
 protected:
  void expect_names() { expect_names_in(window_); }

  static void expect_names_in(QWidget& window) {
    for (QWidget* widget : window.findChildren<QWidget*>()) {
      if (widget->focusPolicy() == Qt::NoFocus || widget->window() != &window || is_part_of_another(*widget))
        continue;
      if (const auto* tabs = qobject_cast<const QTabBar*>(widget)) {
        // The tab bar speaks through the texts of its tabs.
        for (int tab = 0; tab < tabs->count(); ++tab) EXPECT_FALSE(tabs->tabText(tab).isEmpty());
        continue;
      }
      const QString name = spoken_name(*widget).trimmed();
      EXPECT_FALSE(name.isEmpty()) << place_of(*widget);
      // The name of a class, or a single sign, says nothing.
      EXPECT_FALSE(name.startsWith(u'Q')) << place_of(*widget) << ": " << name.toStdString();
      EXPECT_GT(std::ranges::count_if(name, [](QChar sign) { return sign.isLetter(); }), 1)
          << place_of(*widget) << ": " << name.toStdString();
    }
  }
};

TEST_F(Reach, EveryWidgetThatTakesTheFocusHasAName) {
  expect_names();
  ASSERT_EQ(open(folder_ / "sample.dstrace"), QString());
  for (const NamedView& named : std::vector(window_.views())) raise(named.name);
  expect_names();
}

TEST_F(Reach, EveryViewHasANameOfItsOwn) {
  std::set<QString> names;
  for (const NamedView& named : window_.views()) {
    EXPECT_FALSE(named.view->accessibleName().isEmpty()) << named.name.toStdString();
    EXPECT_TRUE(names.insert(named.view->accessibleName()).second)
        << named.view->accessibleName().toStdString();
  }
}

TEST_F(Reach, EveryActionHasWordsAndNoTwoTheSameKeys) {
  ASSERT_EQ(open(folder_ / "sample.dstrace"), QString());
  std::map<QKeySequence, std::string> keys;
  for (const QAction* action : window_.findChildren<QAction*>()) {
    if (action->isSeparator() || qobject_cast<QMenu*>(action->parent()) != nullptr) continue;
    // Skip actions that Qt creates within its widgets.
    if (action->objectName().startsWith(u"_q_") || qobject_cast<QMainWindow*>(action->parent()) == nullptr)
      continue;
    EXPECT_FALSE(action->text().isEmpty());
    for (const QKeySequence& key : action->shortcuts()) {
      const auto [place, is_new] = keys.emplace(key, action->text().toStdString());
      EXPECT_TRUE(is_new) << key.toString().toStdString() << ": " << action->text().toStdString() << ", "
                          << place->second;
    }
  }
  for (const QAbstractButton* button : window_.findChildren<QAbstractButton*>())
    for (const QKeySequence& key : {button->shortcut()})
      if (!key.isEmpty() && !button->text().contains(u'&')) {
        EXPECT_FALSE(keys.contains(key)) << key.toString().toStdString();
      }
}

TEST_F(Reach, MenusGiveEachEntryAMnemonicOfItsOwn) {
  ASSERT_EQ(open(folder_ / "sample.dstrace"), QString());
  for (const QMenu* menu : window_.findChildren<QMenu*>()) {
    std::set<QChar> signs;
    for (const QAction* action : menu->actions()) {
      const qsizetype at = action->text().indexOf(u'&');
      if (at < 0 || at + 1 >= action->text().size() || action->text()[at + 1] == u'&') continue;
      EXPECT_TRUE(signs.insert(action->text()[at + 1].toLower()).second) << action->text().toStdString();
    }
  }
}

TEST_F(Reach, NoTwoControlsOfAPageHaveOneMnemonic) {
  ASSERT_EQ(open(folder_ / "sample.dstrace"), QString());
  std::map<QString, std::string> of_menus;
  for (const QAction* menu : window_.menuBar()->actions())
    of_menus[QKeySequence::mnemonic(menu->text()).toString()] = menu->text().toStdString();
  for (int page = 0; page < window_.pages().count(); ++page) {
    window_.pages().show_page(page);
    settle_answers(window_);
    std::map<QString, std::string> taken = of_menus;
    const auto take = [&](const QString& words) {
      const QKeySequence key = QKeySequence::mnemonic(words);
      if (key.isEmpty()) return;
      const auto [place, is_new] = taken.emplace(key.toString(), words.toStdString());
      EXPECT_TRUE(is_new) << window_.pages().title(page).toStdString() << ": " << words.toStdString()
                          << " and " << place->second;
    };
    for (const QWidget* widget : window_.findChildren<QWidget*>()) {
      if (!widget->isVisible() || !widget->isEnabled()) continue;
      if (const auto* button = qobject_cast<const QAbstractButton*>(widget)) take(button->text());
      if (const auto* label = qobject_cast<const QLabel*>(widget);
          label != nullptr && label->buddy() != nullptr)
        take(label->text());
      if (const auto* tabs = qobject_cast<const QTabBar*>(widget))
        for (int tab = 0; tab < tabs->count(); ++tab) take(tabs->tabText(tab));
    }
  }
}

/// Whether the Tab key must reach a widget.
bool is_stop(const QWidget& widget, const QWidget& window) {
  return (widget.focusPolicy() & Qt::TabFocus) != 0 && widget.isEnabled() && widget.isVisibleTo(&window) &&
         widget.window() == &window && widget.focusProxy() == nullptr && !is_part_of_another(widget);
}

TEST_F(Reach, TabAloneComesToEveryControlOfEveryPageAndIsHeldByNone) {
  ASSERT_EQ(open(folder_ / "sample.dstrace"), QString());
  for (const QSize& size : {QSize(1280, 800), QSize(1024, 600)}) {
    window_.resize(size);
    window_.activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&window_));
    for (int page = 0; page < window_.pages().count(); ++page) {
      window_.pages().show_page(page);
      settle_answers(window_);
      const std::string name =
          window_.pages().title(page).toStdString() + " at " + std::to_string(size.width());
      std::vector<const QWidget*> order;
      constexpr int max_steps = 300;
      bool has_come_round = false;
      for (int step = 0; step < max_steps && !has_come_round; ++step) {
        QWidget* const before = QApplication::focusWidget();
        QTest::keyClick(before == nullptr ? &window_ : before, Qt::Key_Tab);
        QApplication::processEvents();
        const QWidget* focus = QApplication::focusWidget();
        ASSERT_NE(focus, nullptr) << name;
        // A text with links goes from link to link first.
        constexpr int max_links = 30;
        for (int link = 0; link < max_links && !order.empty() && focus == order.back() &&
                           qobject_cast<const QTextBrowser*>(focus) != nullptr;
             ++link) {
          QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
          QApplication::processEvents();
          focus = QApplication::focusWidget();
          ASSERT_NE(focus, nullptr) << name;
        }
        has_come_round = !order.empty() && focus == order.front();
        if (!order.empty() && focus == order.back()) {
          ADD_FAILURE() << name << ": Tab stays in " << place_of(*focus);
          break;
        }
        order.push_back(focus);
      }
      EXPECT_TRUE(has_come_round) << name;
      for (const QWidget* widget : window_.findChildren<QWidget*>())
        if (is_stop(*widget, window_)) {
          EXPECT_THAT(order, testing::Contains(widget)) << name << ": " << place_of(*widget);
        }
    }
  }
}

TEST_F(Reach, EveryControlOfEveryDialogueHasAName) {
  ASSERT_EQ(open(folder_ / "sample.dstrace"), QString());
  raise(QStringLiteral("rounds"));
  ExportDialog exporting(exportables(window_.pages()));
  ManualWindow manual;
  CommandPalette palette({});
  for (QDialog* dialogue : std::initializer_list<QDialog*>{&exporting, &manual, &palette}) {
    dialogue->show();
    EXPECT_FALSE(dialogue->windowTitle().isEmpty());
    expect_names_in(*dialogue);
  }
}

}  // namespace
}  // namespace draftscope::gui
