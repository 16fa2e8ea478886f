// SPDX-License-Identifier: GPL-3.0-or-later
#include "menu_entries.h"

#include <QMenu>
#include <QMenuBar>

namespace draftscope::gui {

namespace {

QString plain(QString words) {
  // "&&" stands for the character "&".
  words.replace(QStringLiteral("&&"), QStringLiteral("\n")).remove(u'&').replace(u'\n', u'&');
  while (words.endsWith(u'…') || words.endsWith(u':')) words.chop(1);
  return words;
}

QString text_of(const QList<QKeySequence>& sequences) {
  QStringList keys;
  for (const QKeySequence& sequence : sequences) keys << sequence.toString(QKeySequence::NativeText);
  return keys.join(QStringLiteral(", "));
}

void add_entries(const QList<QAction*>& actions, const QString& path, bool is_enabled,
                 std::vector<MenuEntry>& entries) {
  for (QAction* action : actions) {
    if (action->isSeparator() || action->text().isEmpty()) continue;
    const QString words = plain(action->text());
    const bool is_on = is_enabled && action->isEnabled();
    if (const QMenu* menu = action->menu(); menu != nullptr)
      add_entries(menu->actions(), path.isEmpty() ? words : QStringLiteral("%1 › %2").arg(path, words), is_on,
                  entries);
    else
      entries.push_back({words, path, text_of(action->shortcuts()), action, is_on});
  }
}

}  // namespace

std::vector<MenuEntry> menu_entries(const QMenuBar& menus) {
  std::vector<MenuEntry> entries;
  add_entries(menus.actions(), {}, true, entries);
  return entries;
}

}  // namespace draftscope::gui
