// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The Record page: a form for `draftscope record` with its command line, the recorder as a process, and the
// recording while it grows. The app itself only reads; the command opens models.

#include <draftscope/base/result.h>
#include <QElapsedTimer>
#include <QLineEdit>
#include <QPushButton>
#include <QStackedWidget>
#include <QTimer>
#include <QWidget>
#include <memory>
#include <optional>
#include <vector>

#include "record/command_process.h"
#include "record/form/plan_problems.h"
#include "record/form/problem_label.h"
#include "record/form/prompt_preview.h"
#include "record/form/record_form.h"
#include "record/form/strategy_chooser.h"
#include "record/live_panel.h"
#include "widgets/background_job.h"

namespace draftscope::traces {
struct Question;
}

namespace draftscope::gui {

class LiveReader;
struct LiveFigures;

class RecordPage : public QWidget {
  Q_OBJECT

 public:
  explicit RecordPage(QWidget* parent = nullptr);
  /// Stops a running recorder.
  ~RecordPage() override;

  /// Sets the path of the command `draftscope`; the default is find_command().
  void set_command(const QString& program);
  [[nodiscard]] RecordPlan plan() const;
  void set_plan(const RecordPlan& plan);
  /// Problems of the plan by field; empty = it can start.
  [[nodiscard]] const std::map<PlanField, std::string>& problems() const { return problems_; }
  /// Whether model and prompts have been examined.
  [[nodiscard]] bool is_settled() const;

  /// Starts recording, unless there is a problem or a recorder already runs.
  void start();
  void stop();
  [[nodiscard]] const RecorderProcess& recorder() const { return recorder_; }
  [[nodiscard]] LivePanel& live() { return *live_; }

 signals:
  /// Emitted to open a recording: a complete or stopped one, or the rest of a failed one if the user asks for
  /// it.
  void recorded(const QString& path);
  void settled();
  /// Emitted when a recorder has ended and its result is shown.
  void ended();

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  /// Identity of a file; all 0 if there is none.
  struct FileIdentity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
  };

  void make_layout();
  QWidget* make_settings();
  QWidget* make_bottom();
  void connect_all();
  /// Plan of a page that is first shown without one.
  [[nodiscard]] RecordPlan first_plan() const;
  /// Unused file name for the model's next recording.
  [[nodiscard]] QString free_output() const;
  void take_edit();
  void take_command_line();
  void show_plan();
  void check();
  void inspect_model();
  void take_facts(const ModelFacts& facts);
  void read_prompts();
  void say_when_settled() {
    if (is_settled()) emit settled();
  }
  [[nodiscard]] FileIdentity output_identity() const;
  void tick();
  void take_end(RecorderEnd end, const QString& reason);
  void read_live();
  void take_live(const Result<LiveFigures>& reading);
  void show_end();
  void show_buttons();

  QString command_;
  bool has_plan_ = false;
  RecordPlan shown_;  ///< Plan that the command line shows.
  PlanContext context_;
  std::map<PlanField, std::string> problems_;
  std::string inspected_;  ///< Model that `context_` describes, or will describe.
  std::string read_;       ///< Prompt file that `context_` describes, or will describe.
  std::vector<traces::Question> questions_;
  ModelInspector inspector_;
  BackgroundJob prompts_job_;
  QTimer model_pause_;
  QTimer prompts_pause_;
  QString free_output_;  ///< Suggested name; the form may have another by now.

  RecorderProcess recorder_;
  std::string output_;   ///< Output of the recorder.
  FileIdentity before_;  ///< Identity of the file that had the output's name before.
  std::shared_ptr<LiveReader> reader_;
  BackgroundJob live_job_;
  QTimer live_timer_;
  QElapsedTimer since_read_;
  qint64 read_ms_ = 0;  ///< Duration of the last reading.
  std::optional<RecorderEnd> end_;
  QString end_reason_;
  bool has_figures_ = false;  ///< True once it was read; at the end, whether it can be read.

  RecordForm* form_ = new RecordForm;
  StrategyChooser* chooser_ = new StrategyChooser;
  PromptPreview* preview_ = new PromptPreview;
  ProblemLabel* strategies_problem_ = new ProblemLabel;
  QStackedWidget* stack_ = new QStackedWidget;
  QWidget* settings_;
  LivePanel* live_ = new LivePanel;
  QLineEdit* line_ = new QLineEdit;
  ProblemLabel* line_problem_ = new ProblemLabel;
  QPushButton* copy_ = new QPushButton(tr("Copy"));
  QPushButton* start_ = new QPushButton(tr("Recor&d"));
};

}  // namespace draftscope::gui
