// SPDX-License-Identifier: GPL-3.0-or-later
#include "question_panel.h"

#include <draftscope/simulator/analysis/gpu.h>

#include <QComboBox>
#include <QCompleter>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QSpinBox>
#include <algorithm>
#include <cmath>

#include "what_if/questions/heat_map.h"
#include "what_if/questions/question_roles.h"

namespace draftscope::gui {

namespace {

constexpr int max_gamma = 255;  // The engine's longest draft.
constexpr int max_batch = 4096;
constexpr int max_context = 1'048'576;
constexpr int max_gpus = 256;
constexpr double threshold_steps = 100.0;

std::vector<int> doubled(int first, int last) {
  std::vector<int> values;
  for (int value = first; value <= last; value *= 2) values.push_back(value);
  return values;
}

QComboBox* make_choice(const QString& spoken) {
  auto* choice = new QComboBox;
  choice->setAccessibleName(spoken);
  choice->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  choice->setMinimumContentsLength(18);
  // Long names are cut off in the box.
  QObject::connect(choice, &QComboBox::currentTextChanged, choice, [choice](const QString& text) {
    const QString whole = choice->currentData(Qt::ToolTipRole).toString();
    choice->setToolTip(whole.isEmpty() ? text : whole);
  });
  return choice;
}

/// Lets the user find entries by typing any part. If no entry has it, the box returns to the earlier choice.
void make_searchable(QComboBox* choice) {
  choice->setEditable(true);
  choice->setInsertPolicy(QComboBox::NoInsert);
  choice->completer()->setCompletionMode(QCompleter::PopupCompletion);
  choice->completer()->setFilterMode(Qt::MatchContains);
  choice->lineEdit()->setPlaceholderText(QuestionPanel::tr("type to search"));
  // Show the beginning of a long name.
  QObject::connect(choice, &QComboBox::currentIndexChanged, choice->lineEdit(),
                   [line = choice->lineEdit()] { line->setCursorPosition(0); });
  QObject::connect(choice->lineEdit(), &QLineEdit::editingFinished, choice, [choice] {
    const QString typed = choice->currentText();
    if (typed == choice->itemText(choice->currentIndex())) return;
    int found = choice->findText(typed, Qt::MatchFixedString);
    if (found < 0 && !typed.isEmpty()) found = choice->findText(typed, Qt::MatchContains);
    if (found >= 0) choice->setCurrentIndex(found);
    choice->setEditText(choice->itemText(choice->currentIndex()));
  });
}

QString regime_text(simulator::Regime regime) {
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

QString weights_text(simulator::WeightType weights) {
  return QString::fromUtf8(weight_type_name(weights));
}

}  // namespace

QuestionPanel::QuestionPanel(QuestionScope scope, QWidget* parent)
    : QWidget(parent),
      scope_(scope),
      strategy_(make_choice(tr("Strategy"))),
      gpu_(make_choice(tr("GPU"))),
      model_(make_choice(tr("Model"))),
      weights_(make_choice(tr("Number type of the weights"))),
      regime_(make_choice(tr("Engine regime: how kernels are launched"))),
      recorded_gpu_(make_choice(tr("The GPU of the recording"))),
      host_(make_choice(tr("What the engine takes beside passes"))),
      draft_cost_(make_choice(tr("Cost of a draft step"))) {
  setAccessibleName(tr("Question"));
  QFormLayout* const form = form_;
  form->setContentsMargins(4, 4, 4, 4);
  form->setRowWrapPolicy(QFormLayout::WrapLongRows);
  form->addRow(tr("&Strategy"), strategy_);
  exit_ = add_steps(*form, tr("&Exit layer"), tr("Exit layer"), {}, 1, 1);
  gamma_ = add_steps(*form, tr("Draft &length γ"), tr("Draft length"), {}, 1, longest_in_heat_map);
  gamma_.box->setMaximum(max_gamma);
  add_threshold(*form);
  form->addRow({}, above_exit_);
  machine_row_ = form->rowCount();
  add_machine(*form);
  add_model(*form);
  form->addRow(tr("We&ights"), weights_);
  form->addRow(tr("Regime"), regime_);
  batch_ = add_steps(*form, tr("&Batch"), tr("Requests decoded together"), doubled(1, 1024), 1, max_batch);
  gpus_ =
      add_steps(*form, tr("Tens&or parallel"), tr("GPUs that share the model"), doubled(1, 16), 1, max_gpus);
  std::vector<int> contexts = doubled(64, 131'072);
  contexts.insert(contexts.begin(), 0);
  context_ = add_steps(*form, tr("More conte&xt"), tr("Rows of context beside the recorded ones"), contexts,
                       0, max_context);
  context_.box->setSuffix(tr(" rows"));
  context_.box->setSpecialValueText(tr("as recorded"));
  add_host(*form);
  add_draft_cost(*form);
  form->addRow(tr("Recorded on"), recorded_gpu_);
  // Qt gives a wrapped row no height if a row that was laid out before it wrapped and then hidden had its
  // place.
  form->setRowVisible(recorded_gpu_, false);
  for (QComboBox* choice : {gpu_, model_, recorded_gpu_}) make_searchable(choice);
  if (scope_ == QuestionScope::machine) {
    // The first rows choose what drafts, which is what the advice decides.
    for (int row = 0; row < machine_row_; ++row) form->setRowVisible(row, false);
    form->setRowVisible(draft_row_, false);
  }
  for (const simulator::Regime regime : simulator::all_regimes)
    regime_->addItem(regime_text(regime), static_cast<int>(regime));
  for (QComboBox* choice : {strategy_, gpu_, model_, weights_, regime_, recorded_gpu_, host_, draft_cost_})
    connect(choice, &QComboBox::currentIndexChanged, this, &QuestionPanel::take);
  connect(above_exit_, &QCheckBox::toggled, this, &QuestionPanel::take);
}

QuestionPanel::StepControls QuestionPanel::add_steps(QFormLayout& form, const QString& label,
                                                     const QString& spoken, std::vector<int> values, int min,
                                                     int max) {
  StepControls steps{new QSlider(Qt::Horizontal), new QSpinBox, std::move(values)};
  steps.box->setRange(min, max);
  steps.box->setAccessibleName(spoken);
  steps.box->setKeyboardTracking(false);
  steps.slider->setAccessibleName(tr("%1, slider").arg(spoken));
  if (steps.values.empty())
    steps.slider->setRange(min, max);
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

void QuestionPanel::show_steps(const StepControls& steps, int value) {
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

void QuestionPanel::set_recording(const TrainedPointer& pointer) {
  trained_ = pointer;
  const TrainedRecording& trained = *pointer;
  is_showing_ = true;
  strategy_->clear();
  strategy_->addItem(tr("early exit, fixed length"));
  strategy_->setItemData(0, static_cast<int>(StrategyKind::fixed_length), kind_role);
  strategy_->addItem(tr("early exit, threshold stop"));
  strategy_->setItemData(1, static_cast<int>(StrategyKind::threshold), kind_role);
  if (!trained.strategies().empty()) strategy_->insertSeparator(strategy_->count());
  for (const std::string& strategy : trained.strategies()) {
    strategy_->addItem(QString::fromUtf8(strategy));
    const int place = strategy_->count() - 1;
    strategy_->setItemData(place, static_cast<int>(StrategyKind::recorded), kind_role);
    strategy_->setItemData(place, QString::fromUtf8(strategy), recorded_role);
    strategy_->setItemData(place, tr("recorded: %1").arg(QString::fromUtf8(strategy)), Qt::ToolTipRole);
  }
  list_machines();
  list_models();
  weights_->clear();
  const auto recorded_weights = trained.recorded_weights();
  weights_->addItem(recorded_weights ? tr("%1 (recorded)").arg(weights_text(*recorded_weights))
                                     : tr("not recorded: bf16"));
  for (const simulator::WeightType weights : simulator::all_weight_types)
    weights_->addItem(weights_text(weights), static_cast<int>(weights));
  recorded_gpu_->clear();
  recorded_gpu_->addItem(trained.known_gpu().empty()
                             ? tr("not said")
                             : tr("driver: %1").arg(QString::fromUtf8(trained.known_gpu())),
                         QString());
  for (const simulator::GpuSpecification& gpu : simulator::known_gpus())
    recorded_gpu_->addItem(QString::fromUtf8(gpu.name), QString::fromUtf8(gpu.name));
  // The recorded GPU fills in what a GPU recording leaves open; a recording on a CPU leaves nothing open.
  form_->setRowVisible(recorded_gpu_,
                       !trained.is_imported() && simulator::is_gpu_recording(trained.recording().meta));
  is_showing_ = false;
  show_question();
}

void QuestionPanel::set_question(const Question& question) {
  question_ = question;
  show_question();
}

void QuestionPanel::change_question(const Question& question) {
  Question asked = question;
  // A chosen model may be shallower than the one before.
  if (const auto layers = trained_->n_layers(asked))
    asked.exit = std::clamp(asked.exit, 1, std::max(1, *layers - 1));
  if (asked == question_) return;
  set_question(asked);
  emit changed();
}

void QuestionPanel::show_question() {
  is_showing_ = true;
  if (question_.kind == StrategyKind::recorded) list_asked_strategy();
  for (int place = 0; place < strategy_->count(); ++place) {
    if (!strategy_->itemData(place, kind_role).isValid()) continue;  // The separator has no kind.
    const auto kind = static_cast<StrategyKind>(strategy_->itemData(place, kind_role).toInt());
    const bool is_run =
        strategy_->itemData(place, recorded_role).toString() == QString::fromUtf8(question_.recorded);
    if (kind == question_.kind && (kind != StrategyKind::recorded || is_run))
      strategy_->setCurrentIndex(place);
  }
  show_machine();
  model_->setCurrentIndex(std::max(0, model_->findData(QString::fromUtf8(question_.model))));
  weights_->setCurrentIndex(
      question_.weights ? std::max(0, weights_->findData(static_cast<int>(*question_.weights))) : 0);
  regime_->setCurrentIndex(std::max(0, regime_->findData(static_cast<int>(question_.regime))));
  recorded_gpu_->setCurrentIndex(
      std::max(0, recorded_gpu_->findData(QString::fromUtf8(question_.recorded_gpu))));
  show_range();
  show_steps(exit_, question_.exit);
  show_steps(gamma_, question_.gamma);
  show_steps(batch_, question_.batch);
  show_steps(gpus_, question_.tensor_parallel);
  show_steps(context_, question_.longer_context);
  show_host();
  show_draft_cost();
  threshold_->setValue(question_.threshold);
  above_exit_->setChecked(question_.verifies_above_exit);
  is_showing_ = false;
  // A recorded run is asked about as it was.
  const bool is_free = question_.kind != StrategyKind::recorded;
  for (const StepControls& steps : {exit_, gamma_}) {
    steps.slider->setEnabled(is_free);
    steps.box->setEnabled(is_free);
  }
  above_exit_->setEnabled(is_free);
  threshold_->setEnabled(question_.kind == StrategyKind::threshold);
  threshold_slider_->setEnabled(question_.kind == StrategyKind::threshold);
}

void QuestionPanel::show_machine() {
  if (question_.machine_file == nullptr) {
    gpu_->setCurrentIndex(std::max(0, gpu_->findData(QString::fromUtf8(question_.gpu))));
    return;
  }
  const auto known = std::find(machine_files_.begin(), machine_files_.end(), question_.machine_file);
  const auto file = static_cast<int>(known - machine_files_.begin());
  if (known == machine_files_.end()) {
    machine_files_.push_back(question_.machine_file);
    list_machines();
  }
  gpu_->setCurrentIndex(gpu_->findData(file, file_role));
}

/// Fits the slider to the exits of the question's model.
void QuestionPanel::show_range() {
  if (trained_ == nullptr) return;
  const QSignalBlocker quiet_slider(exit_.slider);
  const QSignalBlocker quiet_box(exit_.box);
  const int exits = std::max(1, trained_->n_layers(question_).value_or(question_.exit + 1) - 1);
  exit_.slider->setRange(1, exits);
  exit_.box->setRange(1, exits);
}

void QuestionPanel::take() {
  if (is_showing_ || trained_ == nullptr) return;
  Question asked = question_;
  asked.kind = static_cast<StrategyKind>(strategy_->currentData(kind_role).toInt());
  if (asked.kind == StrategyKind::recorded)
    asked.recorded = strategy_->currentData(recorded_role).toString().toStdString();
  const QVariant file = gpu_->currentData(file_role);
  asked.machine_file =
      file.isValid() ? machine_files_[static_cast<std::size_t>(file.toInt())] : MachineFilePointer();
  asked.gpu = gpu_->currentData().toString().toStdString();
  asked.model = model_->currentData().toString().toStdString();
  const QVariant weights = weights_->currentData();
  asked.weights.reset();
  if (weights.isValid()) asked.weights = static_cast<simulator::WeightType>(weights.toInt());
  asked.regime = static_cast<simulator::Regime>(regime_->currentData().toInt());
  asked.recorded_gpu = recorded_gpu_->currentData().toString().toStdString();
  asked.exit = exit_.box->value();
  asked.gamma = gamma_.box->value();
  asked.batch = batch_.box->value();
  asked.tensor_parallel = gpus_.box->value();
  asked.longer_context = context_.box->value();
  asked.host = host_->currentData().toString().toStdString();
  asked.draft_cost = chosen_draft_cost();
  asked.threshold = threshold_->value();
  asked.verifies_above_exit = above_exit_->isChecked();
  if (asked.kind == StrategyKind::recorded && asked.recorded != question_.recorded) {
    // Move the sliders to the run's settings.
    const Question run = trained_->question_of(asked.recorded);
    asked.exit = run.exit;
    asked.gamma = run.gamma;
    asked.verifies_above_exit = run.verifies_above_exit;
  }
  change_question(asked);
}

}  // namespace draftscope::gui
