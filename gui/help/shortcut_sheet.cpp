// SPDX-License-Identifier: GPL-3.0-or-later
#include "shortcut_sheet.h"

#include <QAbstractButton>
#include <QDialogButtonBox>
#include <QHeaderView>
#include <QMenu>
#include <QMenuBar>
#include <QPushButton>
#include <QToolButton>
#include <QTreeWidget>
#include <QVBoxLayout>

namespace draftscope::gui {

namespace {

QString plain(QString words) {
  // "&&" stands for the sign itself.
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

std::vector<MenuEntry> button_entries(const QWidget& window) {
  std::vector<MenuEntry> entries;
  for (const QAbstractButton* button : window.findChildren<QAbstractButton*>()) {
    const QKeySequence key = button->shortcut();
    // Mnemonics are seen on the button; those of an action stand in its menu.
    const auto* tool = qobject_cast<const QToolButton*>(button);
    if (key.isEmpty() || key == QKeySequence::mnemonic(button->text()) ||
        (tool != nullptr && tool->defaultAction() != nullptr))
      continue;
    const QString words =
        button->accessibleName().isEmpty() ? plain(button->text()) : button->accessibleName();
    entries.push_back({words, ShortcutSheet::tr("Views"), text_of({key}), nullptr, button->isEnabled()});
  }
  return entries;
}

ShortcutSheet::ShortcutSheet(const std::vector<MenuEntry>& entries, QWidget* parent) : QDialog(parent) {
  setWindowTitle(tr("Shortcuts"));
  setAccessibleName(tr("Shortcuts"));
  auto* table = new QTreeWidget;
  table->setAccessibleName(tr("Keys and what they do"));
  table->setHeaderLabels({tr("What"), tr("Keys")});
  table->setUniformRowHeights(true);
  table->header()->setStretchLastSection(false);
  table->header()->setSectionResizeMode(0, QHeaderView::Stretch);
  table->header()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
  QTreeWidgetItem* group = nullptr;
  for (const MenuEntry& entry : entries) {
    if (entry.keys.isEmpty()) continue;
    const QString menu = entry.path.section(QStringLiteral(" › "), 0, 0);
    if (group == nullptr || group->text(0) != menu) group = new QTreeWidgetItem(table, {menu});
    new QTreeWidgetItem(group, {entry.words, entry.keys});
  }
  table->expandAll();
  table->setCurrentItem(table->topLevelItem(0));
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  QPushButton* manual = buttons->addButton(tr("&Within views…"), QDialogButtonBox::HelpRole);
  manual->setToolTip(tr("Keys and movements of the mouse in the views, in the manual"));
  auto* column = new QVBoxLayout(this);
  column->addWidget(table, 1);
  column->addWidget(buttons);
  constexpr QSize sheet_size(460, 560);
  resize(parent == nullptr ? sheet_size : sheet_size.boundedTo(parent->size()));
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(manual, &QPushButton::clicked, this, &ShortcutSheet::manual_requested);
}

}  // namespace draftscope::gui
