// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The page of the device: its time by operation or kernel over a run, all runs or the visible range, beside a
// second run, of this or another open recording, if one is chosen; its gaps; how busy it was; and the
// durations of one name. A worker reads the kernels when the page is first shown, and another job answers
// each change of the choices.

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QStackedWidget>
#include <QTabWidget>
#include <QTableView>
#include <QWidget>
#include <memory>

#include "charts/chart_pane.h"
#include "state/view_state.h"
#include "views/device/device_cells.h"
#include "widgets/background_job.h"

namespace draftscope::gui {

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
  QComboBox* over_ = new QComboBox;
  QComboBox* phase_ = new QComboBox;
  QComboBox* by_ = new QComboBox;
  QComboBox* other_ = new QComboBox;
  QLineEdit* find_ = new QLineEdit;
  QPushButton* longest_ = new QPushButton(tr("Show the &longest"));
  QLabel* summary_ = new QLabel;
  QStackedWidget* stack_ = new QStackedWidget;
  QLabel* notice_ = new QLabel;
  QProgressBar* progress_ = new QProgressBar;
  QPushButton* cancel_ = new QPushButton(tr("&Cancel"));
  QPushButton* again_ = new QPushButton(tr("R&ead again"));
  QTableView* table_ = new QTableView;
  QTabWidget* tabs_ = new QTabWidget;
  QTableView* gaps_ = new QTableView;
  ChartPane* gaps_chart_ = new ChartPane(tr("Gaps by length"));
  ChartPane* use_ = new ChartPane(tr("Use over time"));
  ChartPane* durations_ = new ChartPane(tr("Durations of one name"));
  ChartPane* layers_ = new ChartPane(tr("Durations by layer"));
  ChartPane* rounds_ = new ChartPane(tr("Durations by round"));
};

}  // namespace draftscope::gui
