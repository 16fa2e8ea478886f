// SPDX-License-Identifier: GPL-3.0-or-later
#include "question_panel.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QSlider>
#include <QSpinBox>
#include <algorithm>
#include <cmath>

#include "what_if/heat_map.h"

namespace draftscope::gui {

namespace {

constexpr int kind_role = Qt::UserRole;
constexpr int recorded_role = Qt::UserRole + 1;
constexpr int most_gamma = 63;  // the engine's longest draft
constexpr int most_batch = 4096;
constexpr int most_context = 1'048'576;
constexpr double threshold_steps = 100.0;

std::vector<int> doubled(int first, int last) {
  std::vector<int> values;
  for (int value = first; value <= last; value *= 2) values.push_back(value);
  return values;
}

QString words(const std::string& text) {
  return QString::fromStdString(text);
}

QComboBox* make_choice(const QString& spoken) {
  auto* choice = new QComboBox;
  choice->setAccessibleName(spoken);
  choice->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  choice->setMinimumContentsLength(18);
  return choice;
}

QString regime_words(simulator::Regime regime) {
  switch (regime) {
    case simulator::Regime::as_fitted:
      return QuestionPanel::tr("as recorded");
    case simulator::Regime::eager_python:
      return QuestionPanel::tr("eager, Python");
    case simulator::Regime::eager_cpp:
      return QuestionPanel::tr("eager, C++");
    case simulator::Regime::graph:
      return QuestionPanel::tr("a CUDA graph a pass");
    case simulator::Regime::device_loop:
      return QuestionPanel::tr("graphs, device loop");
    case simulator::Regime::persistent:
      return QuestionPanel::tr("one persistent kernel");
  }
  return {};
}

std::string meta_value(const traces::Recording& recording, const char* key) {
  const auto found = recording.meta.find(key);
  return found == recording.meta.end() ? "" : found->second;
}

}  // namespace

QuestionPanel::QuestionPanel(QWidget* parent)
    : QWidget(parent),
      strategy_(make_choice(tr("Strategy"))),
      gpu_(make_choice(tr("GPU"))),
      model_(make_choice(tr("Model"))),
      regime_(make_choice(tr("Engine regime: how kernels are launched"))),
      above_exit_(new QCheckBox(tr("verify &above the exit only"))),
      threshold_slider_(new QSlider(Qt::Horizontal)),
      threshold_(new QDoubleSpinBox) {
  setAccessibleName(tr("Question"));
  auto* form = new QFormLayout(this);
  form->setContentsMargins(4, 4, 4, 4);
  form->setRowWrapPolicy(QFormLayout::WrapLongRows);
  form->addRow(tr("&Strategy"), strategy_);
  exit_ = add_steps(*form, tr("&Exit layer"), tr("Exit layer"), {}, 1, 1);
  gamma_ = add_steps(*form, tr("Draft &length γ"), tr("Draft length"), {}, 1, longest_in_heat_map);
  gamma_.box->setMaximum(most_gamma);
  add_threshold(*form);
  form->addRow({}, above_exit_);
  form->addRow(tr("GP&U"), gpu_);
  form->addRow(tr("&Model"), model_);
  form->addRow(tr("Reg&ime"), regime_);
  batch_ = add_steps(*form, tr("&Batch"), tr("Requests decoded together"), doubled(1, 1024), 1, most_batch);
  std::vector<int> contexts = doubled(64, 131'072);
  contexts.insert(contexts.begin(), 0);
  context_ = add_steps(*form, tr("More conte&xt"), tr("Rows of context beside the recorded ones"), contexts,
                       0, most_context);
  context_.box->setSuffix(tr(" rows"));
  context_.box->setSpecialValueText(tr("as recorded"));
  for (const simulator::Regime regime : simulator::all_regimes)
    regime_->addItem(regime_words(regime), static_cast<int>(regime));
  for (QComboBox* choice : {strategy_, gpu_, model_, regime_})
    connect(choice, &QComboBox::currentIndexChanged, this, &QuestionPanel::take);
  connect(above_exit_, &QCheckBox::toggled, this, &QuestionPanel::take);
}

QuestionPanel::Steps QuestionPanel::add_steps(QFormLayout& form, const QString& label, const QString& spoken,
                                              std::vector<int> values, int least, int most) {
  Steps steps{new QSlider(Qt::Horizontal), new QSpinBox, std::move(values)};
  steps.box->setRange(least, most);
  steps.box->setAccessibleName(spoken);
  steps.box->setKeyboardTracking(false);
  steps.slider->setAccessibleName(tr("%1, slider").arg(spoken));
  if (steps.values.empty())
    steps.slider->setRange(least, most);
  else
    steps.slider->setRange(0, static_cast<int>(steps.values.size()) - 1);
  steps.slider->setPageStep(1);
  auto* row = new QHBoxLayout;
  row->addWidget(steps.slider, 1);
  row->addWidget(steps.box);
  auto* name = new QLabel(label);
  name->setBuddy(steps.slider);
  form.addRow(name, row);
  connect(steps.slider, &QSlider::valueChanged, this, [box = steps.box, of = steps.values](int position) {
    box->setValue(of.empty() ? position : of[static_cast<std::size_t>(position)]);
  });
  connect(steps.box, &QSpinBox::valueChanged, this, [this, steps](int value) {
    show_steps(steps, value);
    take();
  });
  return steps;
}

void QuestionPanel::show_steps(const Steps& steps, int value) {
  const QSignalBlocker quiet_slider(steps.slider);
  const QSignalBlocker quiet_box(steps.box);
  steps.box->setValue(value);
  if (steps.values.empty()) {
    steps.slider->setValue(value);
    return;
  }
  const auto nearest = std::min_element(steps.values.begin(), steps.values.end(), [value](int a, int b) {
    return std::abs(a - value) < std::abs(b - value);
  });
  steps.slider->setValue(static_cast<int>(nearest - steps.values.begin()));
}

void QuestionPanel::add_threshold(QFormLayout& form) {
  threshold_slider_->setRange(0, static_cast<int>(threshold_steps));
  threshold_slider_->setPageStep(5);
  threshold_slider_->setAccessibleName(tr("Confidence threshold, slider"));
  threshold_->setRange(0.0, 1.0);
  threshold_->setDecimals(3);
  threshold_->setSingleStep(0.05);
  threshold_->setKeyboardTracking(false);
  threshold_->setAccessibleName(tr("Confidence threshold"));
  auto* row = new QHBoxLayout;
  row->addWidget(threshold_slider_, 1);
  row->addWidget(threshold_);
  auto* name = new QLabel(tr("Confidence &threshold"));
  name->setBuddy(threshold_slider_);
  form.addRow(name, row);
  connect(threshold_slider_, &QSlider::valueChanged, this,
          [this](int position) { threshold_->setValue(position / threshold_steps); });
  connect(threshold_, &QDoubleSpinBox::valueChanged, this, [this](double value) {
    const QSignalBlocker quiet(threshold_slider_);
    threshold_slider_->setValue(static_cast<int>(std::lround(value * threshold_steps)));
    take();
  });
}

void QuestionPanel::set_recording(const LearntPointer& pointer) {
  learnt_ = pointer;
  const LearntRecording& learnt = *pointer;
  is_showing_ = true;
  strategy_->clear();
  strategy_->addItem(tr("early exit, fixed length"));
  strategy_->setItemData(0, static_cast<int>(StrategyKind::fixed_length), kind_role);
  strategy_->addItem(tr("early exit, threshold stop"));
  strategy_->setItemData(1, static_cast<int>(StrategyKind::threshold), kind_role);
  for (const std::string& strategy : learnt.strategies()) {
    strategy_->addItem(tr("recorded: %1").arg(words(strategy)));
    const int place = strategy_->count() - 1;
    strategy_->setItemData(place, static_cast<int>(StrategyKind::recorded), kind_role);
    strategy_->setItemData(place, words(strategy), recorded_role);
    strategy_->setItemData(place, words(strategy), Qt::ToolTipRole);
  }
  gpu_->clear();
  const std::string processor = meta_value(learnt.recording(), "processor");
  gpu_->addItem(processor.empty() ? tr("as recorded") : tr("as recorded: %1").arg(words(processor)),
                QString());
  for (const simulator::GpuSpecification& gpu : simulator::known_gpus())
    gpu_->addItem(words(gpu.name), words(gpu.name));
  model_->clear();
  model_->addItem(tr("as recorded: %1").arg(words(learnt.what_if().costs().model.shape.name)), QString());
  if (const auto shapes = simulator::known_model_shapes())
    for (const simulator::ModelShape& shape : *shapes) model_->addItem(words(shape.name), words(shape.name));
  const int exits = std::max(1, learnt.n_layers() - 1);
  exit_.slider->setRange(1, exits);
  exit_.box->setRange(1, exits);
  is_showing_ = false;
  show_question();
}

void QuestionPanel::set_question(const Question& question) {
  question_ = question;
  show_question();
}

void QuestionPanel::change_question(const Question& question) {
  if (question == question_) return;
  set_question(question);
  emit changed();
}

void QuestionPanel::show_question() {
  is_showing_ = true;
  for (int place = 0; place < strategy_->count(); ++place) {
    const auto kind = static_cast<StrategyKind>(strategy_->itemData(place, kind_role).toInt());
    const bool is_run = strategy_->itemData(place, recorded_role).toString() == words(question_.recorded);
    if (kind == question_.kind && (kind != StrategyKind::recorded || is_run))
      strategy_->setCurrentIndex(place);
  }
  gpu_->setCurrentIndex(std::max(0, gpu_->findData(words(question_.gpu))));
  model_->setCurrentIndex(std::max(0, model_->findData(words(question_.model))));
  regime_->setCurrentIndex(std::max(0, regime_->findData(static_cast<int>(question_.regime))));
  show_steps(exit_, question_.exit);
  show_steps(gamma_, question_.gamma);
  show_steps(batch_, question_.batch);
  show_steps(context_, question_.longer_context);
  threshold_->setValue(question_.threshold);
  above_exit_->setChecked(question_.verifies_above_exit);
  is_showing_ = false;
  // A recorded run is asked about as it was.
  const bool is_free = question_.kind != StrategyKind::recorded;
  for (const Steps& steps : {exit_, gamma_}) {
    steps.slider->setEnabled(is_free);
    steps.box->setEnabled(is_free);
  }
  above_exit_->setEnabled(is_free);
  threshold_->setEnabled(question_.kind == StrategyKind::threshold);
  threshold_slider_->setEnabled(question_.kind == StrategyKind::threshold);
}

void QuestionPanel::take() {
  if (is_showing_ || learnt_ == nullptr) return;
  Question asked = question_;
  asked.kind = static_cast<StrategyKind>(strategy_->currentData(kind_role).toInt());
  if (asked.kind == StrategyKind::recorded)
    asked.recorded = strategy_->currentData(recorded_role).toString().toStdString();
  asked.gpu = gpu_->currentData().toString().toStdString();
  asked.model = model_->currentData().toString().toStdString();
  asked.regime = static_cast<simulator::Regime>(regime_->currentData().toInt());
  asked.exit = exit_.box->value();
  asked.gamma = gamma_.box->value();
  asked.batch = batch_.box->value();
  asked.longer_context = context_.box->value();
  asked.threshold = threshold_->value();
  asked.verifies_above_exit = above_exit_->isChecked();
  if (asked.kind == StrategyKind::recorded && asked.recorded != question_.recorded) {
    // The sliders go where the run stood.
    const Question run = learnt_->question_of(asked.recorded);
    asked.exit = run.exit;
    asked.gamma = run.gamma;
    asked.verifies_above_exit = run.verifies_above_exit;
  }
  change_question(asked);
}

}  // namespace draftscope::gui
