// SPDX-License-Identifier: GPL-3.0-or-later
// Controls of a question that are about the machine: GPU, model, host, and cost of a draft step.
#include <draftscope/simulator/analysis/gpu.h>
#include <draftscope/speculation/published_models.h>
#include <fmt/format.h>

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QSignalBlocker>
#include <algorithm>

#include "what_if/questions/question_panel.h"
#include "what_if/questions/question_roles.h"

namespace draftscope::gui {

namespace {

constexpr const char* share_of_step = "share";  // Stands in for the option's word.

/// A processor's name without what says nothing in a list: "Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz" is
/// "Intel Xeon Gold 6338", "NVIDIA H200" is "H200", as the names of GPUs are.
QString short_name(const QString& processor) {
  static const QRegularExpression idle(
      QStringLiteral(R"(^NVIDIA\b| *(\((R|TM)\)|\b(CPU|Processor|\d+-Core)\b|@ *[\d.]+ *GHz))"),
      QRegularExpression::CaseInsensitiveOption);
  return QString(processor).remove(idle).simplified();
}

QString machine_text(const simulator::MachineFile& file) {
  return file.gpu ? QuestionPanel::tr("%1 (file)").arg(QString::fromUtf8(file.gpu->name))
                  : QString::fromUtf8(file.calibrated->name());
}

/// A choice with a button beside it that opens a file.
struct FileChoice {
  QString label;
  QComboBox* choice;
  QString title;  ///< Title of the dialog that asks for the file; the button's spoken name.
  QString tip;
  QString filter;
};

void add_choice(QFormLayout& form, const FileChoice& of, QuestionPanel* panel,
                void (QuestionPanel::*open)(const QString&)) {
  constexpr int min_letters = 10;
  of.choice->setMinimumContentsLength(min_letters);
  auto* button = new QPushButton(QuestionPanel::tr("File…"));
  button->setAccessibleName(of.title);
  button->setToolTip(of.tip);
  // The button is as wide as its words, not as wide as a dialog's button.
  button->setFixedWidth(button->fontMetrics().horizontalAdvance(button->text()) + 20);
  auto* row = new QHBoxLayout;
  row->addWidget(of.choice, 1);
  row->addWidget(button);
  form.addRow(of.label, row);
  qobject_cast<QLabel*>(form.labelForField(row))->setBuddy(of.choice);
  QObject::connect(button, &QPushButton::clicked, panel, [panel, open, title = of.title, filter = of.filter] {
    const QString path = QFileDialog::getOpenFileName(panel, title, {}, filter);
    // The recording may have gone while the dialog was open.
    if (!path.isEmpty() && panel->has_recording()) (panel->*open)(path);
  });
}

}  // namespace

void QuestionPanel::add_machine(QFormLayout& form) {
  add_choice(form,
             {tr("G&PU"), gpu_, tr("Open machine file"),
              tr("Open machine file: measured by draftscope calibrate, or a GPU's specification"),
              tr("Calibrations and specifications (*.json *.csv);;All files (*)")},
             this, &QuestionPanel::open_machine_file);
}

void QuestionPanel::add_model(QFormLayout& form) {
  add_choice(form,
             {tr("&Model"), model_, tr("Open model file"), tr("Open model file: a checkpoint's config.json"),
              tr("Model shapes (*.json)")},
             this, &QuestionPanel::open_model_file);
}

void QuestionPanel::add_host(QFormLayout& form) {
  host_->addItem(tr("as the regime has it"), QString());
  for (const simulator::HostTime& host : simulator::known_host_times())
    host_->addItem(QString::fromUtf8(host.name), QString::fromUtf8(host.name));
  host_->setToolTip(tr("Of a specified GPU: scheduling, sampling and launches that the device waits for"));
  add_choice(form,
             {tr("Host"), host_, tr("Open host profile"),
              tr("Open a host profile: what your engine takes beside passes, as JSON (--host)"),
              tr("Host profiles (*.json)")},
             this, &QuestionPanel::open_host_file);
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
  draft_cost_->addItem(tr("the next-token layer"), QStringLiteral("mtp"));
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
  // An earlier version of this file described another machine.
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
  const auto processor = QString::fromUtf8(simulator::meta_value(trained_->recording().meta, "processor"));
  gpu_->addItem(trained_->is_imported() ? tr("choose a GPU")
                : processor.isEmpty()   ? tr("as recorded")
                                        : tr("%1 (recorded)").arg(short_name(processor)),
                QString());
  gpu_->setItemData(0, processor, Qt::ToolTipRole);
  gpu_->setToolTip(processor);
  gpu_->lineEdit()->setCursorPosition(0);
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
                  : trained_->is_imported() ? tr("%1 (named)").arg(QString::fromUtf8(shape->name))
                                            : tr("%1 (recorded)").arg(QString::fromUtf8(shape->name)),
                  QString());
  for (const auto& [name, path] : model_files_) {
    model_->addItem(tr("%1 (file)").arg(name), path);
    model_->setItemData(model_->count() - 1, path, Qt::ToolTipRole);
  }
  if (const auto shapes = speculation::known_model_shapes())
    for (const simulator::ModelShape& known : *shapes)
      model_->addItem(QString::fromUtf8(known.name), QString::fromUtf8(known.name));
}

}  // namespace draftscope::gui
