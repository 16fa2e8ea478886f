// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Form for a plan except its strategies: model, prompts, repeats, level of detail, and output. Each field
// shows its problem below it.

#include <QCheckBox>
#include <QComboBox>
#include <QFormLayout>
#include <QLineEdit>
#include <QWidget>
#include <map>
#include <optional>

#include "record/form/plan_problems.h"

class QSpinBox;

namespace draftscope::gui {

class ProblemLabel;

class RecordForm : public QWidget {
  Q_OBJECT

 public:
  explicit RecordForm(QWidget* parent = nullptr);

  /// Shows a plan without a signal; ignores the plan's strategies.
  void set_plan(const RecordPlan& plan);
  void set_output(const QString& path) { output_->setText(path); }
  /// Plan of the fields, without strategies.
  [[nodiscard]] RecordPlan plan() const;
  /// Why the further options can't be used; empty if they can.
  [[nodiscard]] const std::string& further_problem() const { return further_problem_; }

  void set_problems(const std::map<PlanField, std::string>& problems);
  /// Sets the line below the model, which shows while the model has no problem.
  void set_model_note(const QString& words) { model_note_ = words; }
  void set_prompts_note(const QString& words) { prompts_note_ = words; }
  /// Offers the GPUs; without one, the field says why.
  void set_gpus(const std::vector<GpuFacts>& gpus, const std::string& problem);
  /// Why the template's arguments can't be used; empty if they can.
  [[nodiscard]] const std::string& template_arguments_problem() const { return template_arguments_problem_; }

 signals:
  void edited();

 private:
  void make_inputs();
  void make_numbers();
  void make_device();
  void make_output();
  /// Shows what the chosen device can do: its formats, its trace, its threads.
  void follow_device();
  /// Adds a line to the form: label, field, an optional button, and the problem below.
  void add_field(PlanField field, const QString& label, QWidget& editor, QWidget* button);
  QComboBox* path_box(const QString& spoken, const QStringList& offered);
  QSpinBox* number_box(const QString& label, const QString& tooltip, PlanRange range);
  void browse_model();
  void browse_prompts();
  void browse_output();

  QFormLayout* form_ = new QFormLayout(this);
  QComboBox* model_;
  QComboBox* prompts_;
  QSpinBox* repeats_;
  QSpinBox* max_tokens_;
  QSpinBox* limit_;
  QSpinBox* warmup_;
  QSpinBox* threads_;
  QComboBox* level_ = new QComboBox;
  QComboBox* device_ = new QComboBox;
  QComboBox* device_trace_ = new QComboBox;
  QComboBox* weights_ = new QComboBox;
  QCheckBox* shadow_ = new QCheckBox(tr("shadow toke&ns"));
  QCheckBox* chat_ = new QCheckBox(tr("chat template"));
  QCheckBox* skip_unfit_ = new QCheckBox(tr("leave out prompts &beyond the context"));
  QLineEdit* system_ = new QLineEdit;
  QLineEdit* template_arguments_ = new QLineEdit;
  QLineEdit* output_ = new QLineEdit;
  QCheckBox* overwrite_ = new QCheckBox(tr("replace &it"));
  QLineEdit* further_ = new QLineEdit;
  std::string template_arguments_problem_;
  std::string further_problem_;
  std::map<PlanField, ProblemLabel*> problems_;
  QString model_note_;
  QString prompts_note_;
  QString device_note_;
  bool is_showing_ = false;
};

}  // namespace draftscope::gui
