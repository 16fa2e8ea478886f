// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A line to type into, with a list of all actions and views of the app whose names match the typed letters,
// and of what the typed words ask by themselves.

#include <QAction>
#include <QDialog>
#include <QLineEdit>
#include <QPointer>
#include <QString>
#include <QStringView>
#include <QTreeWidget>
#include <functional>
#include <optional>
#include <vector>

class QMenuBar;

namespace draftscope::gui {

/// An action to choose by its name.
struct Command {
  QString words;  ///< Name: "Follow".
  QString kind;   ///< Where it is found in the app: "Recordings".
  QString keys;   ///< Shortcut; empty if it has none.
  std::function<void()> run;
  QString also{};  ///< Further words that find it, for whom its name does not occur to.
};

/// Indices of the commands that match a pattern, the best first; all commands in their order for an empty
/// one.
[[nodiscard]] std::vector<std::size_t> matching_commands(const std::vector<Command>& commands,
                                                         QStringView pattern);

class CommandPalette : public QDialog {
  Q_OBJECT

 public:
  explicit CommandPalette(std::vector<Command> commands, QWidget* parent = nullptr);
  /// Makes a command of the typed words, which then stands first; none if they ask nothing.
  void set_asking(std::function<std::optional<Command>(const QString& typed)> asking);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void show_matches();
  void choose();

  std::vector<Command> commands_;
  std::function<std::optional<Command>(const QString& typed)> asking_;
  std::optional<Command> asked_;  ///< The command of the typed words.
  QLineEdit* pattern_ = new QLineEdit;
  QTreeWidget* list_ = new QTreeWidget;
};

/// Score of the letters of `pattern`, without its spaces, if `text` has them in this order, ignoring case;
/// higher is better. Adjacent letters and letters that begin words count more. Absent if any letter is
/// missing.
[[nodiscard]] std::optional<int> fuzzy_score(QStringView pattern, QStringView text);

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
