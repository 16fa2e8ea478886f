// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The page before a recording is open: what one will learn here, and the ways to it: open a file, record one,
// the tour through the first sample, the samples that ship, recent files.

#include <QStringList>
#include <QWidget>

class QListWidget;

namespace draftscope::gui {

class StartPage : public QWidget {
  Q_OBJECT

 public:
  explicit StartPage(QWidget* parent = nullptr);
  void set_recent(const QStringList& paths);

 signals:
  void open_requested();
  void record_requested();
  void tour_requested();
  void file_chosen(const QString& path);
  /// From the list of recent files.
  void forget_requested(const QString& path);

 private:
  [[nodiscard]] QWidget* make_buttons();
  void show_menu(const QPoint& place);

  QListWidget* recent_;
  QListWidget* samples_;
};

/// Recordings that ship with the program in this folder: where it is installed, and beside it in a build
/// tree, those that the demo left there among them.
[[nodiscard]] QStringList sample_recordings(const QString& program_folder);

}  // namespace draftscope::gui
