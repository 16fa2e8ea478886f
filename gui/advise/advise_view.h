// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The page of advice: the recommended setting in a sentence, competing settings, the assumptions of the
// answer, and the effect of threshold and length. It learns from the recording together with the what-if page
// when it is first shown; a worker computes the advice.

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QTabWidget>
#include <QTableView>
#include <QWidget>
#include <memory>
#include <optional>

#include "advise/advice_report.h"
#include "charts/chart_pane.h"
#include "models/numbers_model.h"
#include "state/view_state.h"
#include "what_if/questions/question_panel.h"
#include "widgets/background_job.h"

namespace draftscope::gui {

class WhatIfView;

class AdviseView : public QWidget {
  Q_OBJECT

 public:
  /// Both arguments must outlive this view.
  AdviseView(ViewState& state, WhatIfView& what_if, QWidget* parent = nullptr);

  /// Starts computing, unless that is done or under way.
  void start();
  /// Whether the newest question is answered, or refused.
  [[nodiscard]] bool is_settled() const { return !is_stale_ && !is_learning_ && !job_.is_running(); }
  /// Null before the first report.
  [[nodiscard]] const std::shared_ptr<const AdviceReport>& report() const { return report_; }
  [[nodiscard]] QString sentence() const { return sentence_->text(); }
  [[nodiscard]] AdviceQuestion question() const;
  void set_question(const AdviceQuestion& question);
  /// Asks about the question's GPU, model and weights, those that it names; the other choices stay. Waits
  /// with that until the recording is learnt from.
  void ask_about(const Question& machine);

  /// Writes the advised setting as a policy file. Errors: nothing is advised; those of
  /// simulator::advised_policy().
  [[nodiscard]] Result<void> write_policy(const QString& path) const;

 signals:
  void settled();
  /// Emitted to ask about a setting on the what-if page.
  void question_asked(const draftscope::gui::Question& question);

 private:
  void lay_out();
  QWidget* make_choices();
  QWidget* make_answers();
  void connect_what_if();
  void forget();
  /// Offers the choices of the trained recording, and asks.
  void take_trained();
  void learn(const std::string& recorded_gpu);
  void ask();
  void cancel();
  void take(Result<AdviceReport> report);
  void show_progress(int thousandths) {
    if (job_.is_running()) progress_->setValue(thousandths);
  }
  void show_message(const QString& words);
  void show_report();
  void ask_what_if();
  void show_curves_words();
  void choose_policy_file();

  ViewState& state_;
  WhatIfView& what_if_;
  BackgroundJob job_;
  bool is_stale_ = true;
  bool is_learning_ = false;
  bool is_showing_ = false;
  std::optional<Question> wanted_;  ///< Machine to ask about once the recording is learnt from.
  TrainedPointer offered_;          ///< Recording whose runs and machine the choices offer.
  std::shared_ptr<const AdviceReport> report_;
  NumbersModel settings_;
  QSortFilterProxyModel* sorted_ = new QSortFilterProxyModel(this);
  QLabel* sentence_ = new QLabel;
  QLabel* words_ = new QLabel;  ///< Shows progress, and which file was written.
  QProgressBar* progress_ = new QProgressBar;
  QPushButton* cancel_ = new QPushButton(tr("&Cancel"));
  QPushButton* again_ = new QPushButton(tr("A&dvise"));
  QPushButton* write_ = new QPushButton(tr("&Write policy…"));
  QPushButton* ask_ = new QPushButton(tr("As&k What if"));
  QTableView* table_ = new QTableView;
  QLabel* facts_ = new QLabel;
  QTabWidget* curves_ = new QTabWidget;
  QLabel* curves_words_ = new QLabel;  ///< Says what the shown curves are of.
  ChartPane* thresholds_ = new ChartPane(tr("Speedup over threshold"));
  ChartPane* lengths_ = new ChartPane(tr("Speedup over draft length"));
  QuestionPanel* machine_ = new QuestionPanel(QuestionScope::machine);
  QComboBox* considered_ = new QComboBox;
  QComboBox* curves_of_ = new QComboBox;
  QLineEdit* strategies_ = new QLineEdit;
};

}  // namespace draftscope::gui
