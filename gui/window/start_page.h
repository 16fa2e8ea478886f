// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The page before a recording is open: open a file, record one, recent files, the samples that ship.

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
  void file_chosen(const QString& path);

 private:
  QListWidget* recent_;
  QListWidget* samples_;
};

/// Recordings that ship with the program in this folder: where it is installed, and beside it in a build
/// tree, those that the demo left there among them.
[[nodiscard]] QStringList sample_recordings(const QString& program_folder);

}  // namespace draftscope::gui
