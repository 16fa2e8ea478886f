// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The page of the device: its time by operation or kernel over a run, all runs or the visible range, beside a
// second run, of this or another open recording, if one is chosen; its gaps; how busy it was; and the
// durations of one name. A worker reads the kernels when the page is first shown, and another job answers
// each change of the choices.

#include <QSortFilterProxyModel>
#include <QWidget>
#include <memory>

#include "state/view_state.h"
#include "views/device/device_cells.h"
#include "widgets/background_job.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;
class QStackedWidget;
class QTabWidget;
class QTableView;

namespace draftscope::gui {

class ChartPane;

class DeviceView : public QWidget {
  Q_OBJECT

 public:
  explicit DeviceView(ViewState& state, QWidget* parent = nullptr);

  /// Reads the shown recording's kernels, unless that is done or under way.
  void start();
  /// Whether the choices are answered, or reading ended otherwise.
  [[nodiscard]] bool is_settled() const;
  /// Compares with a run of the shown recording, by index into OpenedRecording::runs(); absent = with none.
  void compare_with(std::optional<std::size_t> run);
  /// Shows only names with this text, and the durations of the longest of them.
  void find(const QString& text);
  /// Null before the first answer.
  [[nodiscard]] const std::shared_ptr<const DeviceAnswer>& answer() const { return answer_; }
  [[nodiscard]] const QAbstractItemModel& rows() const { return sorted_; }

 signals:
  void settled();
  /// Emitted to show a range of time in the timeline.
  void time_asked(const draftscope::gui::TimeRange& range);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  using TimelinePointer = std::shared_ptr<const simulator::DeviceTimeline>;

  void set_up_choices();
  void lay_out();
  void connect_parts();
  void take_recording();
  void list_runs();
  void cancel();
  void take(Result<simulator::DeviceTimeline> timeline);
  /// Shows words in place of the tables.
  void show_notice(const QString& words, bool is_reading);
  [[nodiscard]] DeviceAsked asked() const;
  void ask();
  /// The run to compare with; its timeline is null before it was read.
  [[nodiscard]] std::optional<OtherDevice> other() const;
  /// A token's time here and in the other run, and the phases that differ most.
  [[nodiscard]] QString beside_words() const;
  void show_answer();
  /// Starts computing the durations of the chosen row, here and in the run that it is compared with.
  void show_durations();
  struct DescribedName {
    NamedDurations here;
    std::optional<NamedDurations> other;
  };
  void show_described(const QString& name, const DescribedName& described);
  /// The name of the chosen row; absent without one.
  [[nodiscard]] std::optional<std::uint32_t> chosen_name() const;
  void show_longest();
  void show_gap(const QModelIndex& index);
  void go_to(const simulator::TimeWindow& time, traces::RoundId round_id);

  ViewState& state_;
  BackgroundJob reading_;
  BackgroundJob answering_;
  BackgroundJob describing_;
  bool is_stale_ = true;
  TimelinePointer timeline_;
  /// Runs to compare with, in order of the box after its first entry.
  std::vector<std::pair<RecordingPointer, std::uint32_t>> others_;
  /// Timeline of another recording that was compared with last.
  std::pair<RecordingPointer, TimelinePointer> other_timeline_;
  std::shared_ptr<const DeviceAnswer> answer_;
  DeviceCells cells_;
  QSortFilterProxyModel sorted_;
  DeviceCells gap_cells_;
  QSortFilterProxyModel sorted_gaps_;
  QComboBox* over_;
  QComboBox* phase_;
  QComboBox* by_;
  QComboBox* other_;
  QLineEdit* find_;
  QPushButton* longest_;
  QLabel* summary_;
  QStackedWidget* stack_;
  QLabel* notice_;
  QProgressBar* progress_;
  QPushButton* cancel_;
  QPushButton* again_;
  QTableView* table_;
  QTabWidget* tabs_;
  QTableView* gaps_;
  ChartPane* gaps_chart_;
  ChartPane* use_;
  ChartPane* durations_;
  ChartPane* layers_;
  ChartPane* rounds_;
};

}  // namespace draftscope::gui
