// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A recording while it is being made, and what came of it: how far it is, a row a run, the text of the
// request at hand, and what the recorder says.

#include <QElapsedTimer>
#include <QWidget>
#include <cstdint>
#include <optional>
#include <vector>

#include "record/live_reader.h"
#include "what_if/questions/numbers_model.h"

class QLabel;
class QPlainTextEdit;
class QProgressBar;
class QPushButton;
class QTableView;
class QTextEdit;

namespace draftscope::gui {

class ProblemLabel;

class LivePanel : public QWidget {
  Q_OBJECT

 public:
  explicit LivePanel(QWidget* parent = nullptr);

  /// A recording of so many requests begins.
  void begin(std::int64_t requests);
  void show_figures(const LiveFigures& figures);
  void show_line(const QString& line);
  /// Replaces the words in front of the counts: "Stopping …".
  void show_state(const QString& words);
  /// Why the recording can't be read just now; empty if it can.
  void show_reading_problem(const QString& words);
  /// It has ended. `problem`: why it failed, empty if it did not. `can_open`: what there is can be opened.
  void end(const QString& words, const QString& problem, bool can_open);

  /// As they were read last.
  [[nodiscard]] const std::vector<LiveRun>& runs() const { return figures_.runs; }

 signals:
  void open_requested();
  /// Back to the settings.
  void left();

 protected:
  void changeEvent(QEvent* event) override;

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
  QLabel* headline_;
  QProgressBar* progress_;
  ProblemLabel* problem_;
  NumbersModel numbers_;
  QTableView* runs_;
  QLabel* request_;
  QTextEdit* text_;
  QPlainTextEdit* log_;
  QPushButton* open_;
  QPushButton* back_;
};

}  // namespace draftscope::gui
