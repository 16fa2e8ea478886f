// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Sliders and choices for a question. Each slider has a box beside it for the exact number.

#include <QWidget>

#include "what_if/learnt_recording.h"
#include "what_if/question.h"

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QFormLayout;
class QLabel;
class QSlider;
class QSpinBox;

namespace draftscope::gui {

class QuestionPanel : public QWidget {
  Q_OBJECT

 public:
  explicit QuestionPanel(QWidget* parent = nullptr);

  /// What can be asked of it.
  void set_recording(const LearntPointer& learnt);
  void forget_recording() { learnt_.reset(); }
  /// Moves everything there without a signal.
  void set_question(const Question& question);
  [[nodiscard]] const Question& question() const { return question_; }
  /// As set_question(), with a signal if anything changes.
  void change_question(const Question& question);

 signals:
  void changed();

 private:
  /// A slider over chosen values, and a box for every value.
  struct Steps {
    QSlider* slider = nullptr;
    QSpinBox* box = nullptr;
    std::vector<int> values;  ///< [slider position]; empty: the position is the value
  };
  Steps add_steps(QFormLayout& form, const QString& label, const QString& spoken, std::vector<int> values,
                  int least, int most);
  static void show_steps(const Steps& steps, int value);
  void add_threshold(QFormLayout& form);
  void show_question();
  void take();

  LearntPointer learnt_;
  Question question_;
  bool is_showing_ = false;
  QComboBox* strategy_;
  QComboBox* gpu_;
  QComboBox* model_;
  QComboBox* regime_;
  QCheckBox* above_exit_;
  QSlider* threshold_slider_;
  QDoubleSpinBox* threshold_;
  Steps exit_;
  Steps gamma_;
  Steps batch_;
  Steps context_;
};

}  // namespace draftscope::gui
