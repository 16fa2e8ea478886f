// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What menus and buttons offer, read from themselves: for the sheet of shortcuts and the command palette, so
// that both say what these do.

#include <QAction>
#include <QDialog>
#include <QPointer>
#include <vector>

class QMenuBar;

namespace draftscope::gui {

/// Something that a key or a menu does.
struct MenuEntry {
  QString words;             ///< without mnemonic and dots: "Open"
  QString path;              ///< "File › Export the trace"
  QString keys;              ///< as they stand on the keyboard; empty for none
  QPointer<QAction> action;  ///< null for a button in a view
  bool is_enabled = true;    ///< and so are the menus that lead to it
};

/// Every entry of the menus that does something, in their order.
[[nodiscard]] std::vector<MenuEntry> menu_entries(const QMenuBar& menus);

/// Buttons within a window that have a key of their own.
[[nodiscard]] std::vector<MenuEntry> button_entries(const QWidget& window);

/// A table of the entries that have a key, by menu.
class ShortcutSheet : public QDialog {
  Q_OBJECT

 public:
  explicit ShortcutSheet(const std::vector<MenuEntry>& entries, QWidget* parent = nullptr);

 signals:
  /// For the keys and movements of the mouse within views.
  void manual_requested();
};

}  // namespace draftscope::gui
