// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// One line to type into, and below it everything that the app can do or show whose name has these letters.

#include <QDialog>
#include <QString>
#include <functional>
#include <vector>

class QLineEdit;
class QTreeWidget;

namespace draftscope::gui {

/// Something to choose by its name.
struct Command {
  QString words;  ///< "Follow"
  QString kind;   ///< where it stands elsewhere: "Recordings"
  QString keys;   ///< its shortcut; empty if it has none
  std::function<void()> run;
};

/// Indices of the commands that a pattern stands for, the best first; all in their order for an empty one.
[[nodiscard]] std::vector<std::size_t> matching_commands(const std::vector<Command>& commands,
                                                         QStringView pattern);

class CommandPalette : public QDialog {
  Q_OBJECT

 public:
  explicit CommandPalette(std::vector<Command> commands, QWidget* parent = nullptr);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void show_matches();
  void choose();

  std::vector<Command> commands_;
  QLineEdit* pattern_;
  QTreeWidget* list_;
};

}  // namespace draftscope::gui
