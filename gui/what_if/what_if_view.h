// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The what-if page: a question by sliders, its live answer with error bars, and pictures that explain it:
// correction ladder, waterfall to the oracle, map over exits and lengths, and roofline. Learning from the
// recording starts when the page is first shown; workers compute everything (what_if_worker.h).

#include <QElapsedTimer>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QTabWidget>
#include <QWidget>
#include <optional>

#include "state/view_state.h"
#include "what_if/answer_panel.h"
#include "what_if/gpus_pane.h"
#include "what_if/questions/question_panel.h"
#include "what_if/questions/what_if_worker.h"
#include "what_if/scenarios_pane.h"

namespace draftscope::gui {

class PicturePane;

class WhatIfView : public QWidget {
  Q_OBJECT

 public:
  explicit WhatIfView(ViewState& state, QWidget* parent = nullptr);

  /// Learns from the shown recording, unless that is done or under way.
  void start();
  /// Learns from the shown recording for another page, without a question; this page asks when it is shown.
  /// `recorded_gpu` is as in Question; another one than before makes it learn anew.
  void learn(const std::string& recorded_gpu = {});
  /// Asks about a setting at once, or when learning has ended.
  void ask_about(const Question& question);
  /// Whether the newest question is answered and all pictures belong to it; true if there is nothing to
  /// answer.
  [[nodiscard]] bool is_settled() const { return !is_stale_ && worker_.is_settled(); }

  [[nodiscard]] QuestionPanel& question() { return *question_; }
  [[nodiscard]] const AnswerPanel& answer_panel() const { return *answer_panel_; }
  [[nodiscard]] WhatIfWorker& worker() { return worker_; }
  /// Null before the first answer.
  [[nodiscard]] const AnswerPointer& answer() const { return answer_; }

  /// A picture of the answer; its object name is "what-if-heat-map", and so on.
  struct AnswerPane {
    PicturePane* pane = nullptr;
    bool is_current = false;  ///< True if it shows the newest answer, or why it can't.
  };
  [[nodiscard]] const std::vector<AnswerPane>& panes() const { return panes_; }
  [[nodiscard]] ScenariosPane& scenarios() const { return *scenarios_; }
  [[nodiscard]] GpusPane& gpus() const { return *gpus_; }

  /// Writes the answered setting as a policy file. Errors: nothing was answered, the setting is for another
  /// model, an unreadable recording, a file that can't be written.
  [[nodiscard]] Result<void> write_policy(const QString& path) const;

 signals:
  void settled();

 private:
  void make_layout();
  QWidget* make_controls();
  void connect_controls();
  void connect_worker();
  /// Asks the same question with another exit layer and length, chosen on the heat map.
  void ask_about_place(int exit, int gamma);
  void make_pictures_again();
  void forget();
  /// Starts learning on a worker, then asks `then`, or a question that the shown run suggests.
  void train(const std::optional<Question>& then, const std::string& recorded_gpu);
  void show_message(const QString& words);
  /// Shows the progress of slow pictures; the bar appears after a delay.
  void show_progress(const QString& words, int done, int all);
  void hide_progress();
  void show_stopped();
  void take_trained();
  void ask();
  void show_answer(const AnswerPointer& answer);
  [[nodiscard]] PicturePane& map_pane() const { return *panes_.front().pane; }
  /// Pane of the picture that has arrived.
  PicturePane& current_pane(std::size_t place);
  void show_ladder(const LadderPicture& picture);
  void show_roofline(const RooflinePicture& picture);
  void show_heat_map(const HeatMapPicture& picture);
  void show_waterfall(const WaterfallPicture& picture);
  /// Frames the setting on the map, and marks the map as stale if it belongs to another question.
  void mark_map();
  void choose_policy_file();
  void add_scenarios();

  ViewState& state_;
  WhatIfWorker worker_;
  bool is_stale_ = true;  ///< True until the shown recording has been trained on.
  std::optional<Question> then_;
  bool is_for_another_ = false;  ///< Another page started the learning.
  QElapsedTimer since_question_;
  AnswerPointer answer_;
  HeatMapPicture heat_map_;
  double scale_limit_ = 1.0;  ///< Limit of the heat map's colours; only grows per recording.
  QuestionPanel* question_ = new QuestionPanel;
  AnswerPanel* answer_panel_ = new AnswerPanel;
  ScenariosPane* scenarios_ = new ScenariosPane;
  GpusPane* gpus_ = new GpusPane;
  QTabWidget* tabs_ = new QTabWidget;
  std::vector<AnswerPane> panes_;
  QLabel* words_ = new QLabel;
  QProgressBar* progress_ = new QProgressBar;
  QPushButton* cancel_ = new QPushButton(tr("&Cancel"));
  QPushButton* write_ = new QPushButton(tr("&Write policy…"));
  QPushButton* reset_ = new QPushButton(tr("As recor&ded"));
  QPushButton* again_ = new QPushButton(tr("Lear&n from the recording"));
  QPushButton* draw_again_ = new QPushButton(tr("Ma&ke the pictures"));
  QPushButton* pin_ = new QPushButton(tr("Pi&n it"));
  Question first_question_;
};

}  // namespace draftscope::gui
