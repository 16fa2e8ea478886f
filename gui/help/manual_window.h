// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The manual in a separate window that stays beside the recording: its contents on the left, its text with
// pictures on the right, and a line to search in it.

#include <QDialog>

class QLabel;
class QLineEdit;
class QListWidget;
class QTextBrowser;

namespace draftscope::gui {

class ManualWindow : public QDialog {
  Q_OBJECT

 public:
  explicit ManualWindow(QWidget* parent = nullptr);

  /// Shows the section from its heading on; the beginning if no section has the title.
  void show_section(const QString& title);
  /// Title of the section at the top of the visible text.
  [[nodiscard]] QString section() const;

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void show_manual();
  void follow_link(const QUrl& link);
  void find_next(bool forward);

  QListWidget* contents_;
  QTextBrowser* text_;
  QLineEdit* wanted_;
  QLabel* found_;
  bool is_manual_shown_ = false;  ///< False while another document that a link led to is shown.
};

}  // namespace draftscope::gui
