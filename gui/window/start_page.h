// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The page before a recording is open: what the app shows, and ways to begin. They are opening a file,
// recording one, the tour through the first sample, the shipped samples, and recent files.

#include <QListWidget>
#include <QStringList>
#include <QWidget>

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
  /// Emitted to remove a file from the list of recent files.
  void forget_requested(const QString& path);

 private:
  [[nodiscard]] QWidget* make_buttons();
  void show_menu(const QPoint& place);

  QListWidget* recent_ = new QListWidget;
  QListWidget* samples_ = new QListWidget;
};

/// Sample recordings of the program in this folder: those of its installation, and in a build tree those
/// beside it, including the demo's.
[[nodiscard]] QStringList sample_recordings(const QString& program_folder);

}  // namespace draftscope::gui
