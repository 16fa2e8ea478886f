// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A recording while it is made, and its result: progress, one row per run, the text of the current request,
// and the recorder's output.

#include <QElapsedTimer>
#include <QLabel>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QTableView>
#include <QTextEdit>
#include <QWidget>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/numbers_model.h"
#include "record/form/problem_label.h"
#include "record/live_reader.h"

namespace draftscope::gui {

class LivePanel : public QWidget {
  Q_OBJECT

 public:
  explicit LivePanel(QWidget* parent = nullptr);

  /// Begins a recording with this many requests.
  void begin(std::int64_t requests);
  void show_figures(const LiveFigures& figures);
  void show_line(const QString& line) { log_->appendPlainText(line); }
  /// Replaces the words before the counts: "Stopping …".
  void show_state(const QString& words);
  /// Shows why the recording can't be read just now; empty if it can.
  void show_reading_problem(const QString& words) { problem_->set_problem(words); }
  /// Shows the end. `problem` says why it failed, empty if it did not. `can_open`: a recording can be opened.
  void end(const QString& words, const QString& problem, bool can_open);

  /// Runs as they were last read.
  [[nodiscard]] const std::vector<LiveRun>& runs() const { return figures_.runs; }

 signals:
  void open_requested();
  /// Emitted when the user goes back to the settings.
  void left();

 private:
  void show_progress();
  void show_runs();
  void show_text();

  std::int64_t planned_ = 0;
  LiveFigures figures_;
  QElapsedTimer since_begin_;
  QElapsedTimer since_first_;  ///< Time since the first request that finished.
  std::int64_t first_requests_ = 0;
  bool is_running_ = false;
  QString state_;
  QLabel* headline_ = new QLabel;
  QProgressBar* progress_ = new QProgressBar;
  ProblemLabel* problem_ = new ProblemLabel;
  NumbersModel numbers_;
  QTableView* runs_ = new QTableView;
  QLabel* request_ = new QLabel;
  QTextEdit* text_ = new QTextEdit;
  QPlainTextEdit* log_ = new QPlainTextEdit;
  QPushButton* open_ = new QPushButton(tr("&Open the recording"));
  QPushButton* back_ = new QPushButton(tr("&Back to the settings"));
};

}  // namespace draftscope::gui
