// SPDX-License-Identifier: GPL-3.0-or-later
#include "record_form.h"

#include <draftscope/base/shell_words.h>
#include <draftscope/traces/record_help.h>

#include <QFileDialog>
#include <QMenu>
#include <QSpinBox>
#include <QStandardItemModel>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "record/form/problem_label.h"
#include "widgets/files.h"

namespace draftscope::gui {

namespace {

QToolButton* browse_button(const QString& spoken) {
  auto* button = new QToolButton;
  button->setText(RecordForm::tr("Browse…"));
  button->setAccessibleName(spoken);
  return button;
}

void choose(QComboBox& box, const std::string& value) {
  const QString words = QString::fromStdString(value);
  // A command line may name a device that is not offered.
  if (box.findData(words) < 0) box.addItem(words, words);
  box.setCurrentIndex(box.findData(words));
}

std::string chosen(const QComboBox& box) {
  return box.currentData().toString().toStdString();
}

std::string text_in(const QLineEdit& line) {
  return line.text().trimmed().toStdString();
}

}  // namespace

RecordForm::RecordForm(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("What to record"));
  form_->setFieldGrowthPolicy(QFormLayout::ExpandingFieldsGrow);
  form_->setContentsMargins(0, 0, 6, 0);
  make_inputs();
  make_numbers();
  make_output();
  set_plan({});
}

QComboBox* RecordForm::path_box(const QString& spoken, const QStringList& offered) {
  auto* box = new QComboBox;
  box->setEditable(true);
  box->setInsertPolicy(QComboBox::NoInsert);
  box->setAccessibleName(spoken);
  box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  box->setMinimumContentsLength(12);
  box->addItems(offered);
  connect(box, &QComboBox::editTextChanged, this, [this] {
    if (!is_showing_) emit edited();
  });
  return box;
}

void RecordForm::add_field(PlanField field, const QString& label, QWidget& editor, QWidget* button) {
  auto* row = new QHBoxLayout;
  row->addWidget(&editor, 1);
  if (button != nullptr) row->addWidget(button);
  auto* column = new QVBoxLayout;
  column->setSpacing(2);
  column->addLayout(row);
  auto* problem = new ProblemLabel;
  column->addWidget(problem);
  problems_[field] = problem;
  auto* name = new QLabel(label);
  name->setBuddy(&editor);
  form_->addRow(name, column);
}

void RecordForm::make_inputs() {
  // The smallest synthetic model serves as an example of how they are spelled.
  model_ = path_box(tr("Model"), shipped_models() << QStringLiteral("synthetic:Qwen2.5-0.5B"));
  model_->setToolTip(tr(traces::record_help::model));
  auto* model_button = browse_button(tr("Browse for a model"));
  auto* menu = new QMenu(model_button);
  menu->addAction(tr("&Folder…"), this, &RecordForm::browse_model);
  menu->addAction(tr("&GGUF file…"), this, [this] {
    const QString path = QFileDialog::getOpenFileName(this, tr("Model"), model_->currentText(),
                                                      tr("GGUF files (*.gguf);;All files (*)"));
    if (!path.isEmpty()) model_->setEditText(path);
  });
  model_button->setMenu(menu);
  model_button->setPopupMode(QToolButton::InstantPopup);
  add_field(PlanField::model, tr("&Model"), *model_, model_button);
  prompts_ = path_box(tr("Prompts"), shipped_prompts());
  prompts_->setToolTip(tr(traces::record_help::prompts));
  auto* prompts_button = browse_button(tr("Browse for prompts"));
  connect(prompts_button, &QToolButton::clicked, this, &RecordForm::browse_prompts);
  add_field(PlanField::prompts, tr("&Prompts"), *prompts_, prompts_button);
}

QSpinBox* RecordForm::number_box(const QString& label, const QString& tooltip, PlanRange range) {
  auto* box = new QSpinBox;
  box->setRange(range.min, range.max);
  box->setToolTip(tooltip);
  box->setAccessibleName(QString(label).remove(u'&'));
  box->setMaximumWidth(110);
  form_->addRow(label, box);
  connect(box, &QSpinBox::valueChanged, this, [this] {
    if (!is_showing_) emit edited();
  });
  return box;
}

void RecordForm::make_numbers() {
  limit_ = number_box(tr("Fir&st prompts"), tr("Only the first questions of the file"), count_range);
  limit_->setSpecialValueText(tr("all"));
  repeats_ = number_box(tr("Rep&eats"), tr(traces::record_help::repeats), positive_range);
  max_tokens_ = number_box(tr("Max to&kens"), tr(traces::record_help::max_tokens), positive_range);
  for (const std::string_view level : record_levels()) {
    const QString name = QString::fromUtf8(level.data(), static_cast<qsizetype>(level.size()));
    level_->addItem(name, name);
  }
  level_->setToolTip(tr(traces::record_help::level));
  level_->setAccessibleName(tr("Level"));
  level_->setMaximumWidth(110);
  form_->addRow(tr("&Level"), level_);
  make_device();
  threads_ = number_box(tr("&Threads"), tr("Threads that compute"), thread_range);
  threads_->setSpecialValueText(tr("one a core"));
  warmup_ = number_box(tr("W&arm-up"), tr(traces::record_help::warmup), count_range);
  shadow_->setToolTip(tr(traces::record_help::shadow));
  chat_->setToolTip(tr("Put the turns into the model's chat template"));
  auto* flags = new QHBoxLayout;
  skip_unfit_->setToolTip(tr(traces::record_help::skip_unfit));
  for (QCheckBox* flag : {shadow_, chat_}) flags->addWidget(flag);
  flags->addStretch();
  form_->addRow(QString(), flags);
  form_->addRow(QString(), skip_unfit_);
  system_->setAccessibleName(tr("System prompt"));
  system_->setPlaceholderText(tr("none"));
  add_field(PlanField::system, tr("S&ystem prompt"), *system_, nullptr);
  template_arguments_->setAccessibleName(tr("Template arguments"));
  template_arguments_->setPlaceholderText(tr("enable_thinking=false"));
  template_arguments_->setToolTip(tr(traces::record_help::template_arguments));
  add_field(PlanField::template_arguments, tr("Template arguments"), *template_arguments_, nullptr);
  connect(template_arguments_, &QLineEdit::textEdited, this, [this] {
    const auto words = template_arguments_of(template_arguments_->text().toStdString());
    template_arguments_problem_ = words ? std::string() : words.error().message;
    emit edited();
  });
  for (QComboBox* box : {level_, device_, device_trace_, weights_})
    connect(box, &QComboBox::activated, this, [this] {
      follow_device();
      emit edited();
    });
  for (QCheckBox* box : {shadow_, chat_, skip_unfit_, overwrite_})
    connect(box, &QCheckBox::clicked, this, &RecordForm::edited);
  connect(system_, &QLineEdit::textEdited, this, &RecordForm::edited);
}

void RecordForm::make_device() {
  const QString cpu = QStringLiteral("cpu");
  device_->addItem(cpu, cpu);
  device_->setToolTip(tr("What decodes: this computer's processor, or one of its GPUs"));
  device_->setAccessibleName(tr("Device"));
  add_field(PlanField::device, tr("Device"), *device_, nullptr);
  for (const char* word : traces::record_help::device_traces)
    device_trace_->addItem(QLatin1String(word), QString::fromLatin1(word));
  device_trace_->setAccessibleName(tr("Device trace"));
  add_field(PlanField::device_trace, tr("Device trace"), *device_trace_, nullptr);
  for (const std::string& name : record_weights())
    weights_->addItem(QString::fromStdString(name), QString::fromStdString(name));
  weights_->setToolTip(tr("How matrices are held: as they are stored, or rounded to fewer bits"));
  weights_->setAccessibleName(tr("Weights"));
  add_field(PlanField::weights, tr("&Weights"), *weights_, nullptr);
}

void RecordForm::set_gpus(const std::vector<GpuFacts>& gpus, const std::string& problem) {
  const std::string before = chosen(*device_);
  while (device_->count() > 1) device_->removeItem(1);
  for (const GpuFacts& gpu : gpus)
    device_->addItem(QString::fromStdString(gpu.device + ": " + gpu.name),
                     QString::fromStdString(gpu.device));
  choose(*device_, before);
  device_note_ = problem.empty() ? QString() : tr("No GPU: %1").arg(QString::fromStdString(problem));
  follow_device();
}

void RecordForm::follow_device() {
  const std::string device = chosen(*device_);
  const bool is_cpu = device == "cpu";
  const bool is_alone = device_->count() == 1;
  device_->setEnabled(!is_alone);
  // A choice that the device refuses stays changeable.
  device_trace_->setEnabled(!is_cpu || chosen(*device_trace_) != RecordPlan().device_trace);
  device_trace_->setToolTip(is_cpu ? tr("Only a GPU is traced") : tr(traces::record_help::device_trace));
  threads_->setEnabled(is_cpu || threads_->value() != 0);
  threads_->setToolTip(is_cpu ? tr("Threads that compute") : tr("Only for the device cpu"));
  const std::vector<std::string> fitting = record_weights_on(device);
  auto* rows = qobject_cast<QStandardItemModel*>(weights_->model());
  for (int i = 0; rows != nullptr && i < weights_->count(); ++i)
    rows->item(i)->setEnabled(std::ranges::find(fitting, weights_->itemData(i).toString().toStdString()) !=
                              fitting.end());
}

void RecordForm::make_output() {
  output_->setAccessibleName(tr("Output"));
  output_->setToolTip(tr(traces::record_help::output));
  auto* button = browse_button(tr("Browse for the output"));
  connect(button, &QToolButton::clicked, this, &RecordForm::browse_output);
  add_field(PlanField::output, tr("&Output"), *output_, button);
  overwrite_->setToolTip(tr(traces::record_help::overwrite));
  form_->addRow(QString(), overwrite_);
  further_->setAccessibleName(tr("Further options"));
  further_->setPlaceholderText(tr("--temperature 0.7 --seed 1"));
  further_->setToolTip(tr("Options of draftscope record that have no field here, as on the command line"));
  add_field(PlanField::further, tr("Further options"), *further_, nullptr);
  connect(output_, &QLineEdit::textEdited, this, &RecordForm::edited);
  connect(further_, &QLineEdit::textEdited, this, [this] {
    const auto words = further_options(further_->text().toStdString());
    further_problem_ = words ? std::string() : words.error().message;
    emit edited();
  });
}

void RecordForm::set_plan(const RecordPlan& plan) {
  is_showing_ = true;
  model_->setEditText(QString::fromStdString(plan.model));
  prompts_->setEditText(QString::fromStdString(plan.prompts));
  limit_->setValue(plan.limit);
  repeats_->setValue(plan.repeats);
  max_tokens_->setValue(plan.max_tokens);
  warmup_->setValue(plan.warmup);
  threads_->setValue(plan.threads);
  choose(*level_, plan.level);
  choose(*device_, plan.device);
  choose(*device_trace_, plan.device_trace);
  choose(*weights_, plan.weights);
  shadow_->setChecked(plan.shadow);
  chat_->setChecked(plan.chat);
  skip_unfit_->setChecked(plan.skip_unfit);
  system_->setText(QString::fromStdString(plan.system));
  const std::string arguments = shell_line(plan.template_arguments);
  template_arguments_->setText(QString::fromStdString(arguments));
  const auto words = template_arguments_of(arguments);
  template_arguments_problem_ = words ? std::string() : words.error().message;
  output_->setText(QString::fromStdString(plan.output));
  overwrite_->setChecked(plan.overwrite);
  further_->setText(QString::fromStdString(shell_line(plan.further)));
  further_problem_.clear();
  follow_device();
  is_showing_ = false;
}

RecordPlan RecordForm::plan() const {
  RecordPlan plan;
  plan.model = model_->currentText().trimmed().toStdString();
  plan.prompts = prompts_->currentText().trimmed().toStdString();
  plan.limit = limit_->value();
  plan.repeats = repeats_->value();
  plan.max_tokens = max_tokens_->value();
  plan.warmup = warmup_->value();
  plan.threads = threads_->value();
  plan.level = chosen(*level_);
  plan.device = chosen(*device_);
  plan.device_trace = chosen(*device_trace_);
  plan.weights = chosen(*weights_);
  plan.shadow = shadow_->isChecked();
  plan.chat = chat_->isChecked();
  plan.skip_unfit = skip_unfit_->isChecked();
  plan.system = system_->text().toStdString();
  if (auto words = shell_words(text_in(*template_arguments_))) plan.template_arguments = *std::move(words);
  plan.output = text_in(*output_);
  plan.overwrite = overwrite_->isChecked();
  if (auto words = further_options(text_in(*further_))) plan.further = *std::move(words);
  return plan;
}

void RecordForm::set_problems(const std::map<PlanField, std::string>& problems) {
  for (const auto& [field, label] : problems_) {
    const auto found = problems.find(field);
    if (found != problems.end())
      label->set_problem(QString::fromStdString(found->second));
    else
      label->set_note(field == PlanField::model     ? model_note_
                      : field == PlanField::prompts ? prompts_note_
                      : field == PlanField::device  ? device_note_
                                                    : QString());
  }
}

void RecordForm::browse_model() {
  const QString path = QFileDialog::getExistingDirectory(this, tr("Model"), model_->currentText());
  if (!path.isEmpty()) model_->setEditText(path);
}

void RecordForm::browse_prompts() {
  const QString path = QFileDialog::getOpenFileName(this, tr("Prompts"), prompts_->currentText(),
                                                    tr("Prompts (*.jsonl);;All files (*)"));
  if (!path.isEmpty()) prompts_->setEditText(path);
}

void RecordForm::browse_output() {
  // The form decides whether the file may be replaced.
  const QString path =
      QFileDialog::getSaveFileName(this, tr("Output"), output_->text(), tr("Recordings (*.dstrace)"), nullptr,
                                   QFileDialog::DontConfirmOverwrite);
  if (path.isEmpty()) return;
  const QString ending = QStringLiteral(".dstrace");
  output_->setText(path.endsWith(ending) ? path : path + ending);
  emit edited();
}

}  // namespace draftscope::gui
