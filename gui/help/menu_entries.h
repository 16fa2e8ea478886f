// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What menus offer, read from themselves, for the command palette.

#include <QAction>
#include <QPointer>
#include <vector>

class QMenuBar;

namespace draftscope::gui {

/// Something that a menu does.
struct MenuEntry {
  QString words;  ///< without mnemonic and dots: "Open"
  QString path;   ///< "File › Export the trace"
  QString keys;   ///< Keys as they stand on the keyboard; empty for none.
  QPointer<QAction> action;
  bool is_enabled = true;  ///< and so are the menus that lead to it
};

/// Every entry of the menus that does something, in their order.
[[nodiscard]] std::vector<MenuEntry> menu_entries(const QMenuBar& menus);

}  // namespace draftscope::gui
