// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The manual as it is compiled in, and its sections.

#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QString>
#include <QStringList>
#include <vector>

class QTextBrowser;

namespace draftscope::gui {

struct ManualSection {
  QString title;
  int level = 1;  ///< 1 = the manual's own title
};

/// The manual in Markdown; paths in it are relative to the folder gui/ of the source.
[[nodiscard]] QString manual_text();

/// Sections in the order of the text.
[[nodiscard]] const std::vector<ManualSection>& manual_sections();

/// Name of a section in links to it: "Text replay" is "text-replay".
[[nodiscard]] QString section_link(const QString& title);

/// The manual in a separate window that stays beside the recording: its contents on the left, its text with
/// pictures on the right, and a line to search in it.
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

  QListWidget* contents_ = new QListWidget;
  QTextBrowser* text_;
  QLineEdit* wanted_ = new QLineEdit;
  QLabel* found_ = new QLabel;
  bool is_manual_shown_ = false;  ///< False while another document that a link led to is shown.
};

}  // namespace draftscope::gui
