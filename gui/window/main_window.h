// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The main window shows the start page or the pages of a recording. It connects views, loader and actions;
// the view state decides what is shown.

#include <QAction>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QMainWindow>
#include <QProgressBar>
#include <QStackedWidget>
#include <QStringList>
#include <QToolButton>
#include <algorithm>
#include <vector>

#include "help/tour.h"
#include "help/widget_mark.h"
#include "record/record_page.h"
#include "state/pinned_run.h"
#include "state/recording_follower.h"
#include "state/view_state.h"
#include "window/notice_bar.h"
#include "window/open_queue.h"
#include "window/start_page.h"
#include "window/view_rows.h"

namespace draftscope::gui {

struct ComparedRun;
class FilterBar;
class ManualWindow;
class RecordingTabs;
enum class SqlLink : std::uint8_t;
struct Command;
struct TourStep;
class TimelinePanel;
class TimelineView;
class ViewPages;

/// Whether the window reads and writes recent files and its layout.
enum class Memory : std::uint8_t { kept, none };

class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  explicit MainWindow(Memory memory = Memory::kept);

  void open(const QString& path) { open(QStringList{path}); }
  /// Opens files one after another, and shows the first; a folder stands for the recordings in it. Cancels
  /// what is being opened.
  void open(const QStringList& paths);
  /// Cancels the file that is being opened and those that wait.
  void cancel_opening();
  /// Reads the shown recording again; the zoom and the choices stay.
  void reload();
  /// Reads what is added to the shown recording while it is being written, until it is closed.
  void set_following(bool is_on);
  /// Close the shown recording, all others, or all of them. The next recording comes up, or the start page.
  void close_recording() {
    if (state_.recording()) close_one(state_.recording());
  }
  void close_other_recordings();
  void close_all_recordings();
  /// Brings up the page that has this view.
  void show_view(QWidget& view);
  /// Writes the view to a file. An error also appears in the notice above the views.
  bool write_view(QWidget& view, const QString& path);

  [[nodiscard]] ViewState& state() { return state_; }
  [[nodiscard]] RecordingLoader& loader() { return queue_.loader(); }
  [[nodiscard]] RecordingFollower& follower() { return follower_; }
  /// Views in order of view_rows().
  [[nodiscard]] const std::vector<NamedView>& views() const { return views_; }
  [[nodiscard]] ViewPages& pages() { return *pages_; }
  [[nodiscard]] PinnedRun& pinned() { return pinned_; }
  [[nodiscard]] FilterBar& filter() { return *filter_; }
  [[nodiscard]] RecordPage& record_page() { return *record_page_; }
  void show_record_page();
  /// Opens the manual at the section about the focused view, or about the page.
  void show_manual();
  /// Null opens the section about opening files.
  void show_manual_of(const QWidget* view);
  [[nodiscard]] ManualWindow* manual() { return manual_; }
  /// All commands that the command palette offers at this moment.
  [[nodiscard]] std::vector<Command> commands();
  /// Opens the sample, then starts the tour through it.
  void start_tour();
  [[nodiscard]] Tour& tour() { return *tour_; }
  [[nodiscard]] const FocusMark& focus_mark() const { return *focus_mark_; }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void closeEvent(QCloseEvent* event) override;

 private:
  /// Size of the window before the user resizes it; fits on the screen.
  [[nodiscard]] QSize first_size() const;
  void make_views();
  void add_page(const PageDescription& page);
  void connect_views();
  /// View of the row with this name.
  template <typename View>
  [[nodiscard]] View& view(const char* name) const;
  void make_actions();
  void make_file_menu();
  void make_view_menu();
  void add_page_actions(QMenu& view);
  void make_go_menu();
  void make_recordings_menu();
  /// Row beside the tabs of the pages: the choice of the run, and the timeline's search.
  [[nodiscard]] QWidget* make_controls();
  void make_help_menu();
  void add_appearance_actions(QMenu& view);
  void make_status_bar();
  void make_tabs();
  void show_commands();
  void begin_tour();
  [[nodiscard]] QWidget* show_tour_step(const TourStep& step);
  void list_recent();
  void show_view_menu(QWidget& view, const QPoint& place);
  void show_recording_menu(const RecordingPointer& recording, const QPoint& place);
  void close_one(const RecordingPointer& recording);
  void choose_files();
  void choose_folder();
  [[nodiscard]] QString usual_folder() const;
  void show_opening(const QString& path, qsizetype place, qsizetype all);
  void hide_opening();
  void take(const RecordingPointer& recording, const std::shared_ptr<const Timeline>& timeline,
            bool is_first);
  void take_followed(const RecordingPointer& recording, const std::shared_ptr<const Timeline>& timeline);
  void end_following(const QString& reason);
  void show_following();
  /// Updates everything around the views that depends on the shown recording.
  void show_recording();
  void show_no_recording();
  void list_opened();
  [[nodiscard]] QString notice_of(const OpenedRecording& recording) const;
  void show_error(const QString& words);
  void show_start_page() { stack_->setCurrentIndex(0); }
  void show_recording_page();
  void replay_request(const ComparedRun& run, std::size_t request_index);
  void export_view(QWidget& view);
  /// Exports figures and tables of the shown page.
  void export_figures();
  /// Writes the first figure of the shown page as a PDF of the usual size beside the recording, without
  /// asking; it replaces no file.
  void export_figure_at_once();
  /// Pins the run that speedups are over, and gives both runs' texts all the room.
  void pin_baseline();
  void remember(const QString& path);
  void step_match(bool forward);
  void step_rejection(bool forward);
  /// A round's number, what was accepted of its draft, and the layers that the draft skipped.
  [[nodiscard]] QString words_of_round(std::uint32_t round_index) const;
  void step_mark(bool forward);
  /// Commands that lead to the marks of the recording.
  void add_mark_commands(std::vector<Command>& commands);
  void go_to_round();
  void go_to_token();
  void show_range_statistics();
  /// Shows the object that an id in a query's result names.
  void follow_link(SqlLink link, qint64 id);

  Memory memory_;
  ViewState state_;
  PinnedRun pinned_{state_};
  OpenQueue queue_;
  RecordingFollower follower_;
  bool is_following_on_ = false;  ///< True while the followed recording replaces its earlier state.
  std::vector<NamedView> views_;
  QStackedWidget* stack_ = new QStackedWidget;  ///< Start page, or the pages of the recording.
  StartPage* start_page_ = new StartPage;
  RecordPage* record_page_ = new RecordPage;
  NoticeBar* notices_ = new NoticeBar;
  RecordingTabs* tabs_;
  Tour* tour_ = new Tour([this](const TourStep& step) { return show_tour_step(step); }, this);
  FocusMark* focus_mark_ = new FocusMark(this);
  ManualWindow* manual_ = nullptr;  ///< Null until the manual is first opened.
  QMenu* recent_ = nullptr;
  bool is_tour_wanted_ = false;  ///< The tour starts when the sample has been read.
  TimelinePanel* timeline_panel_;
  TimelineView* timeline_;
  QComboBox* runs_ = new QComboBox;
  QLineEdit* search_ = new QLineEdit;
  ViewPages* pages_ = nullptr;
  FilterBar* filter_ = nullptr;
  QProgressBar* progress_ = new QProgressBar;
  QAction* cancel_ = new QAction(tr("&Cancel opening"), this);
  QToolButton* cancel_button_ = new QToolButton;
  QMenu* recordings_ = nullptr;
  std::vector<QAction*> of_recording_;  ///< Actions that need a recording to be shown.
  QAction* close_others_ = nullptr;
  QAction* follow_ = nullptr;
  QLabel* range_text_ = new QLabel;
};

template <typename View>
View& MainWindow::view(const char* name) const {
  return static_cast<View&>(*std::ranges::find(views_, QString::fromUtf8(name), &NamedView::name)->view);
}

}  // namespace draftscope::gui
