// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Entries of menus, read from the menus themselves, for the command palette.

#include <QAction>
#include <QPointer>
#include <vector>

class QMenuBar;

namespace draftscope::gui {

/// An action of a menu.
struct MenuEntry {
  QString words;  ///< Text without mnemonic and dots: "Open".
  QString path;   ///< "View › Appearance"
  QString keys;   ///< Shortcuts as named on the keyboard; empty = none.
  QPointer<QAction> action;
  bool is_enabled = true;  ///< Whether it and the menus that lead to it are enabled.
};

/// Every entry of the menus that does something, in their order.
[[nodiscard]] std::vector<MenuEntry> menu_entries(const QMenuBar& menus);

}  // namespace draftscope::gui
