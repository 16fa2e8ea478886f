// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The window: the start page, or the strip of rounds and the timeline in the middle with the other views
// docked around them. It wires views, loader and actions together; what is shown is the view state's.

#include <QMainWindow>
#include <QStringList>
#include <vector>

#include "state/recording_loader.h"
#include "state/view_state.h"

class QComboBox;
class QDockWidget;
class QLabel;
class QLineEdit;
class QProgressBar;
class QStackedWidget;
class QToolButton;

namespace draftscope::gui {

class StartPage;
enum class TraceFormat : std::uint8_t;
class TimelineView;

/// Whether the window reads and writes recent files and its layout.
enum class Memory : std::uint8_t { kept, none };

/// A view by the name that --snapshot and settings know it by.
struct NamedView {
  QString name;                 ///< "rounds"
  QDockWidget* dock = nullptr;  ///< null for those in the middle, and for pictures of a page
  QWidget* view = nullptr;
};

class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  explicit MainWindow(Memory memory = Memory::kept);

  void open(const QString& path) { open(QStringList{path}); }
  /// Files, and folders for the recordings in them: one after another, the first is shown. Ends what is being
  /// opened.
  void open(const QStringList& paths);
  /// Gives up what is being opened, and what was to follow it.
  void cancel_opening();

  [[nodiscard]] ViewState& state() { return state_; }
  [[nodiscard]] RecordingLoader& loader() { return loader_; }
  [[nodiscard]] const std::vector<NamedView>& views() const { return views_; }

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void closeEvent(QCloseEvent* event) override;

 private:
  void make_views();
  void make_actions();
  QDockWidget* add_dock(const QString& name, const QString& title, QWidget* view);
  void choose_file();
  void open_next();
  void end_opening();
  void take(const RecordingPointer& recording, const std::shared_ptr<const Timeline>& timeline);
  /// Everything around the views that says which recording is shown.
  void show_recording();
  void list_opened();
  void show_banner(const QString& words, bool is_error);
  void export_view(QWidget& view);
  void export_trace(TraceFormat format);
  void remember(const QString& path);
  void go_to_round();
  void show_range_statistics();

  Memory memory_;
  ViewState state_;
  RecordingLoader loader_;
  std::vector<NamedView> views_;
  QStackedWidget* pages_;
  StartPage* start_page_;
  QLabel* banner_;
  TimelineView* timeline_;
  QComboBox* runs_;
  QLineEdit* search_;
  QProgressBar* progress_;
  QAction* cancel_;
  QToolButton* cancel_button_;
  QMenu* recordings_ = nullptr;
  QStringList waiting_;     ///< to be opened
  qsizetype opening_ = 0;   ///< how many of what open() was given have been begun
  bool shows_next_ = true;  ///< whether the next that is read is the one to show
  QLabel* range_words_;
};

}  // namespace draftscope::gui
