// SPDX-License-Identifier: GPL-3.0-or-later
#include "question_panel.h"

#include <draftscope/simulator/hardware/gpu.h>
#include <draftscope/speculation/published_models.h>
#include <fmt/format.h>

#include <QCheckBox>
#include <QComboBox>
#include <QCompleter>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSlider>
#include <QSpinBox>
#include <algorithm>
#include <cmath>

#include "what_if/pictures/heat_map.h"

namespace draftscope::gui {

namespace {

constexpr int kind_role = Qt::UserRole;
constexpr int recorded_role = Qt::UserRole + 1;
constexpr int file_role = Qt::UserRole + 1;  // an index into the files that were opened
constexpr int max_gamma = 255;               // the engine's longest draft
constexpr int max_batch = 4096;
constexpr int max_context = 1'048'576;
constexpr int max_gpus = 256;
constexpr double threshold_steps = 100.0;
constexpr const char* share_of_step = "share";  // in place of an option's word

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
  QObject::connect(choice, &QComboBox::currentTextChanged, choice, &QWidget::setToolTip);
  return choice;
}

/// Makes entries be found by a part that is typed; what none holds gives way to what was chosen before.
void make_searchable(QComboBox* choice) {
  choice->setEditable(true);
  choice->setInsertPolicy(QComboBox::NoInsert);
  choice->completer()->setCompletionMode(QCompleter::PopupCompletion);
  choice->completer()->setFilterMode(Qt::MatchContains);
  choice->lineEdit()->setPlaceholderText(QuestionPanel::tr("type to search"));
  // Of a long name the beginning is seen.
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

QString machine_text(const simulator::MachineFile& file) {
  return file.gpu ? QuestionPanel::tr("%1 (file)").arg(QString::fromUtf8(file.gpu->name))
                  : QString::fromUtf8(file.calibrated->name());
}

/// A choice with a button for what is not in its list.
QHBoxLayout* with_button(QComboBox* choice, QPushButton* button) {
  constexpr int min_letters = 10;
  choice->setMinimumContentsLength(min_letters);
  // A button is as wide as its words, not as wide as one of a dialogue.
  button->setFixedWidth(button->fontMetrics().horizontalAdvance(button->text()) + 20);
  auto* row = new QHBoxLayout;
  row->addWidget(choice, 1);
  row->addWidget(button);
  return row;
}

}  // namespace

QuestionPanel::QuestionPanel(QuestionScope scope, QWidget* parent)
    : QWidget(parent),
      scope_(scope),
      form_(new QFormLayout(this)),
      strategy_(make_choice(tr("Strategy"))),
      gpu_(make_choice(tr("GPU"))),
      model_(make_choice(tr("Model"))),
      weights_(make_choice(tr("Number type of the weights"))),
      regime_(make_choice(tr("Engine regime: how kernels are launched"))),
      recorded_gpu_(make_choice(tr("The GPU of the recording"))),
      host_(make_choice(tr("What the engine takes beside passes"))),
      draft_cost_(make_choice(tr("Cost of a draft step"))),
      draft_share_(new QDoubleSpinBox),
      price_(new QDoubleSpinBox),
      above_exit_(new QCheckBox(tr("verify &above the exit only"))),
      threshold_slider_(new QSlider(Qt::Horizontal)),
      threshold_(new QDoubleSpinBox) {
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
  form->addRow(tr("Wei&ghts"), weights_);
  form->addRow(tr("Reg&ime"), regime_);
  batch_ = add_steps(*form, tr("&Batch"), tr("Requests decoded together"), doubled(1, 1024), 1, max_batch);
  gpus_ =
      add_steps(*form, tr("Tensor pa&rallel"), tr("GPUs that share the model"), doubled(1, 16), 1, max_gpus);
  std::vector<int> contexts = doubled(64, 131'072);
  contexts.insert(contexts.begin(), 0);
  context_ = add_steps(*form, tr("More conte&xt"), tr("Rows of context beside the recorded ones"), contexts,
                       0, max_context);
  context_.box->setSuffix(tr(" rows"));
  context_.box->setSpecialValueText(tr("as recorded"));
  add_host(*form);
  add_draft_cost(*form);
  add_price(*form);
  form->addRow(tr("Re&corded on"), recorded_gpu_);
  for (QComboBox* choice : {gpu_, model_, recorded_gpu_}) make_searchable(choice);
  if (scope_ == QuestionScope::machine) {
    // The first rows say what drafts; advice on that is asked for.
    for (int row = 0; row < machine_row_; ++row) form->setRowVisible(row, false);
    form->setRowVisible(draft_row_, false);
    form->setRowVisible(price_, false);
    form->setRowVisible(recorded_gpu_, false);
  }
  for (const simulator::Regime regime : simulator::all_regimes)
    regime_->addItem(regime_text(regime), static_cast<int>(regime));
  for (QComboBox* choice : {strategy_, gpu_, model_, weights_, regime_, recorded_gpu_, host_, draft_cost_})
    connect(choice, &QComboBox::currentIndexChanged, this, &QuestionPanel::take);
  connect(above_exit_, &QCheckBox::toggled, this, &QuestionPanel::take);
}

QuestionPanel::Steps QuestionPanel::add_steps(QFormLayout& form, const QString& label, const QString& spoken,
                                              std::vector<int> values, int min, int max) {
  Steps steps{new QSlider(Qt::Horizontal), new QSpinBox, std::move(values)};
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

void QuestionPanel::add_machine(QFormLayout& form) {
  auto* open = new QPushButton(tr("File…"));
  open->setAccessibleName(tr("Open machine file"));
  open->setToolTip(tr("Open machine file: measured by draftscope calibrate, or a GPU's specification"));
  form.addRow(tr("GP&U"), with_button(gpu_, open));
  qobject_cast<QLabel*>(form.itemAt(form.rowCount() - 1, QFormLayout::LabelRole)->widget())->setBuddy(gpu_);
  connect(open, &QPushButton::clicked, this, [this] {
    const QString path =
        QFileDialog::getOpenFileName(this, tr("Open machine file"), {},
                                     tr("Calibrations and specifications (*.json *.csv);;All files (*)"));
    if (!path.isEmpty()) open_machine_file(path);
  });
}

void QuestionPanel::add_model(QFormLayout& form) {
  auto* open = new QPushButton(tr("File…"));
  open->setAccessibleName(tr("Open model file"));
  open->setToolTip(tr("Open model file: a checkpoint's config.json"));
  form.addRow(tr("&Model"), with_button(model_, open));
  qobject_cast<QLabel*>(form.itemAt(form.rowCount() - 1, QFormLayout::LabelRole)->widget())->setBuddy(model_);
  connect(open, &QPushButton::clicked, this, [this] {
    const QString path =
        QFileDialog::getOpenFileName(this, tr("Open model file"), {}, tr("Model shapes (*.json)"));
    if (!path.isEmpty()) open_model_file(path);
  });
}

void QuestionPanel::add_host(QFormLayout& form) {
  host_->addItem(tr("as the regime has it"), QString());
  for (const simulator::HostTime& host : simulator::known_host_times())
    host_->addItem(QString::fromUtf8(host.name), QString::fromUtf8(host.name));
  auto* open = new QPushButton(tr("File…"));
  open->setAccessibleName(tr("Open host profile"));
  open->setToolTip(tr("Open a host profile: what your engine takes beside passes, as JSON (--host)"));
  form.addRow(tr("Host"), with_button(host_, open));
  qobject_cast<QLabel*>(form.itemAt(form.rowCount() - 1, QFormLayout::LabelRole)->widget())->setBuddy(host_);
  host_->setToolTip(tr("Of a specified GPU: scheduling, sampling and launches that the device waits for"));
  connect(open, &QPushButton::clicked, this, &QuestionPanel::choose_host_file);
}

void QuestionPanel::choose_host_file() {
  const QString path =
      QFileDialog::getOpenFileName(this, tr("Open host profile"), {}, tr("Host profiles (*.json)"));
  if (!path.isEmpty()) open_host_file(path);
}

void QuestionPanel::open_host_file(const QString& path) {
  reading_.start(
      read_and_take([path = path.toStdString()](const auto&) { return simulator::host_time_of(path); },
                    [this, path](const Result<simulator::HostTime>& host) {
                      if (!host) {
                        emit failed(QString::fromUtf8(host.error().message));
                        return;
                      }
                      Question asked = question_;
                      asked.host = path.toStdString();
                      change_question(asked);
                    }));
}

void QuestionPanel::add_draft_cost(QFormLayout& form) {
  draft_cost_->addItem(tr("its layers"), QString());
  draft_cost_->addItem(tr("free"), QStringLiteral("free"));
  draft_cost_->addItem(tr("one layer and a head"), QStringLiteral("one-layer"));
  draft_cost_->addItem(tr("a share of a step"), QString::fromLatin1(share_of_step));
  constexpr int min_letters = 10;
  draft_cost_->setMinimumContentsLength(min_letters);
  draft_share_->setRange(0.0, 10.0);
  draft_share_->setDecimals(3);
  draft_share_->setSingleStep(0.05);
  draft_share_->setValue(0.1);
  draft_share_->setKeyboardTracking(false);
  draft_share_->setAccessibleName(tr("Cost of a draft step, as a share of a vanilla step"));
  auto* row = new QHBoxLayout;
  row->addWidget(draft_cost_, 1);
  row->addWidget(draft_share_);
  draft_row_ = form.rowCount();
  form.addRow(tr("Draft cost"), row);
  qobject_cast<QLabel*>(form.itemAt(draft_row_, QFormLayout::LabelRole)->widget())->setBuddy(draft_cost_);
  connect(draft_share_, &QDoubleSpinBox::valueChanged, this, &QuestionPanel::take);
}

void QuestionPanel::add_price(QFormLayout& form) {
  price_->setRange(0.0, 100'000.0);
  price_->setDecimals(2);
  price_->setSpecialValueText(tr("not given"));
  price_->setSuffix(tr(" an hour"));
  price_->setKeyboardTracking(false);
  price_->setAccessibleName(tr("Price of the machine"));
  price_->setToolTip(tr("Of all its GPUs, in your currency: the answer then has a price per million tokens"));
  form.addRow(tr("Price"), price_);
  connect(price_, &QDoubleSpinBox::valueChanged, this, &QuestionPanel::take);
}

void QuestionPanel::list_asked_strategy() {
  const QString asked = QString::fromUtf8(question_.recorded);
  if (strategy_->findData(asked, recorded_role) >= 0 || asked.isEmpty()) return;
  strategy_->addItem(asked);
  const int place = strategy_->count() - 1;
  strategy_->setItemData(place, static_cast<int>(StrategyKind::recorded), kind_role);
  strategy_->setItemData(place, asked, recorded_role);
  strategy_->setItemData(place, tr("not recorded: %1").arg(asked), Qt::ToolTipRole);
}

void QuestionPanel::show_host() {
  const QString host = QString::fromUtf8(question_.host);
  if (host_->findData(host) < 0) host_->addItem(tr("%1 (file)").arg(QFileInfo(host).fileName()), host);
  host_->setCurrentIndex(host_->findData(host));
}

void QuestionPanel::show_draft_cost() {
  const QString cost = QString::fromUtf8(question_.draft_cost);
  const int named = draft_cost_->findData(cost);
  draft_cost_->setCurrentIndex(named >= 0 ? named
                                          : draft_cost_->findData(QString::fromLatin1(share_of_step)));
  if (named < 0) draft_share_->setValue(cost.toDouble());
  draft_share_->setEnabled(named < 0);
}

std::string QuestionPanel::chosen_draft_cost() const {
  const QString chosen = draft_cost_->currentData().toString();
  return chosen == QLatin1String(share_of_step) ? fmt::format("{}", draft_share_->value())
                                                : chosen.toStdString();
}

void QuestionPanel::open_machine_file(const QString& path) {
  reading_.start(
      read_and_take([path = path.toStdString()](const auto&) { return simulator::read_machine_file(path); },
                    [this](Result<simulator::MachineFile> file) {
                      if (file)
                        take_machine(*std::move(file));
                      else
                        emit failed(QString::fromUtf8(file.error().message));
                    }));
}

void QuestionPanel::take_machine(simulator::MachineFile file) {
  Question asked = question_;
  asked.machine_file = std::make_shared<const simulator::MachineFile>(std::move(file));
  asked.gpu.clear();
  // What it described before is another machine.
  std::erase_if(machine_files_,
                [&](const MachineFilePointer& known) { return known->path == asked.machine_file->path; });
  change_question(asked);
}

void QuestionPanel::open_model_file(const QString& path) {
  reading_.start(read_and_take(
      [path](const auto&) -> Result<simulator::ModelShape> {
        if (!path.endsWith(u".json")) return fail("{}: expected a config.json", path.toStdString());
        return simulator::model_shape_of(path.toStdString());
      },
      [this, path](const Result<simulator::ModelShape>& shape) {
        if (shape)
          take_model(shape->name, path);
        else
          emit failed(QString::fromUtf8(shape.error().message));
      }));
}

void QuestionPanel::take_model(const std::string& name, const QString& path) {
  std::erase_if(model_files_, [&](const auto& known) { return known.second == path; });
  model_files_.emplace_back(QString::fromUtf8(name), path);
  is_showing_ = true;
  list_models();
  is_showing_ = false;
  Question asked = question_;
  asked.model = path.toStdString();
  change_question(asked);
  show_question();
}

void QuestionPanel::list_machines() {
  gpu_->clear();
  const std::string processor = simulator::meta_value(trained_->recording().meta, "processor");
  gpu_->addItem(trained_->is_imported() ? tr("choose a GPU")
                : processor.empty()     ? tr("as recorded")
                                        : tr("as recorded: %1").arg(QString::fromUtf8(processor)),
                QString());
  for (std::size_t file = 0; file < machine_files_.size(); ++file) {
    gpu_->addItem(machine_text(*machine_files_[file]), QString());
    gpu_->setItemData(gpu_->count() - 1, static_cast<int>(file), file_role);
    gpu_->setItemData(gpu_->count() - 1, QString::fromUtf8(machine_files_[file]->path.string()),
                      Qt::ToolTipRole);
  }
  for (const simulator::GpuSpecification& gpu : simulator::known_gpus())
    gpu_->addItem(QString::fromUtf8(gpu.name), QString::fromUtf8(gpu.name));
}

void QuestionPanel::list_models() {
  model_->clear();
  const auto& shape = trained_->recorded_shape();
  model_->addItem(!shape                    ? tr("choose a model")
                  : trained_->is_imported() ? tr("as named: %1").arg(QString::fromUtf8(shape->name))
                                            : tr("as recorded: %1").arg(QString::fromUtf8(shape->name)),
                  QString());
  for (const auto& [name, path] : model_files_) {
    model_->addItem(tr("%1 (file)").arg(name), path);
    model_->setItemData(model_->count() - 1, path, Qt::ToolTipRole);
  }
  if (const auto shapes = speculation::known_model_shapes())
    for (const simulator::ModelShape& known : *shapes)
      model_->addItem(QString::fromUtf8(known.name), QString::fromUtf8(known.name));
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
  weights_->addItem(recorded_weights ? tr("as recorded: %1").arg(weights_text(*recorded_weights))
                                     : tr("not recorded: bf16"));
  for (const simulator::WeightType weights : simulator::all_weight_types)
    weights_->addItem(weights_text(weights), static_cast<int>(weights));
  recorded_gpu_->clear();
  recorded_gpu_->addItem(tr("not said"), QString());
  for (const simulator::GpuSpecification& gpu : simulator::known_gpus())
    recorded_gpu_->addItem(QString::fromUtf8(gpu.name), QString::fromUtf8(gpu.name));
  // Which fills in what a recording of that GPU leaves open; of a processor there is nothing to fill in.
  form_->setRowVisible(recorded_gpu_, scope_ == QuestionScope::whole && !trained.is_imported() &&
                                          simulator::is_gpu_recording(trained.recording().meta));
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
    if (!strategy_->itemData(place, kind_role).isValid()) continue;  // the separator
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
  price_->setValue(question_.price_per_hour.value_or(0.0));
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

/// Exits of the model that is asked about.
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
  asked.price_per_hour.reset();
  if (price_->value() > 0.0) asked.price_per_hour = price_->value();
  asked.threshold = threshold_->value();
  asked.verifies_above_exit = above_exit_->isChecked();
  if (asked.kind == StrategyKind::recorded && asked.recorded != question_.recorded) {
    // The sliders go where the run stood.
    const Question run = trained_->question_of(asked.recorded);
    asked.exit = run.exit;
    asked.gamma = run.gamma;
    asked.verifies_above_exit = run.verifies_above_exit;
  }
  change_question(asked);
}

}  // namespace draftscope::gui
