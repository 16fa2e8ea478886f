// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Sliders and choices for a question. Each slider has a box beside it for the exact number. Machines and
// models may also come from files, which a worker reads.

#include <QCheckBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QSlider>
#include <QWidget>

#include "what_if/questions/question.h"
#include "what_if/questions/trained_recording.h"
#include "widgets/background_job.h"

class QComboBox;
class QSpinBox;

namespace draftscope::gui {

/// Choices that a panel offers.
enum class QuestionScope : std::uint8_t { whole, machine };

class QuestionPanel : public QWidget {
  Q_OBJECT

 public:
  explicit QuestionPanel(QuestionScope scope = QuestionScope::whole, QWidget* parent = nullptr);

  /// Offers what can be asked of the recording.
  void set_recording(const TrainedPointer& trained);
  void forget_recording() {
    reading_.cancel();
    trained_.reset();
  }
  [[nodiscard]] bool has_recording() const { return trained_ != nullptr; }
  /// Moves all controls to a question without a signal.
  void set_question(const Question& question);
  [[nodiscard]] const Question& question() const { return question_; }
  /// Moves all controls to a question, and signals if anything changes. Expects a recording; an exit beyond
  /// the model's layers becomes its last exit.
  void change_question(const Question& question);

  /// Chooses the machine or model of a file: measured by `draftscope calibrate`, specified, or a config.json.
  void open_machine_file(const QString& path);
  void open_model_file(const QString& path);
  /// Chooses a host profile (`--host FILE.json`).
  void open_host_file(const QString& path);

 signals:
  void changed();
  /// Emitted with one line: why a file describes no machine or model.
  void failed(const QString& reason);

 private:
  /// A slider over chosen values, and a box for every value.
  struct StepControls {
    QSlider* slider = nullptr;
    QSpinBox* box = nullptr;
    std::vector<int> values;  ///< Value [slider position]; empty = the position is the value.
  };
  StepControls add_steps(QFormLayout& form, const QString& label, const QString& spoken,
                         std::vector<int> values, int min, int max);
  static void show_steps(const StepControls& steps, int value);
  void add_threshold(QFormLayout& form);
  /// Adds a choice with a button beside it that opens a file.
  void add_machine(QFormLayout& form);
  void add_model(QFormLayout& form);
  void add_host(QFormLayout& form);
  void add_draft_cost(QFormLayout& form);
  /// Adds a strategy that was not recorded to the list.
  void list_asked_strategy();
  void show_host();
  void show_draft_cost();
  [[nodiscard]] std::string chosen_draft_cost() const;
  void take_machine(simulator::MachineFile file);
  void take_model(const std::string& name, const QString& path);
  void list_machines();
  void list_models();
  void show_question();
  void show_machine();
  void show_range();
  void take();

  QuestionScope scope_;
  TrainedPointer trained_;
  Question question_;
  std::vector<MachineFilePointer> machine_files_;
  std::vector<std::pair<QString, QString>> model_files_;  ///< Name of the shape, and path.
  BackgroundJob reading_;
  QFormLayout* form_ = new QFormLayout(this);
  bool is_showing_ = false;
  int machine_row_ = 0;  ///< First row of the form that is not about the strategy.
  int draft_row_ = 0;
  QComboBox* strategy_;
  QComboBox* gpu_;
  QComboBox* model_;
  QComboBox* weights_;
  QComboBox* regime_;
  QComboBox* recorded_gpu_;
  QComboBox* host_;
  QComboBox* draft_cost_;
  QDoubleSpinBox* draft_share_ = new QDoubleSpinBox;
  QCheckBox* above_exit_ = new QCheckBox(tr("verify &above the exit only"));
  QSlider* threshold_slider_ = new QSlider(Qt::Horizontal);
  QDoubleSpinBox* threshold_ = new QDoubleSpinBox;
  StepControls exit_;
  StepControls gamma_;
  StepControls batch_;
  StepControls gpus_;
  StepControls context_;
};

}  // namespace draftscope::gui
