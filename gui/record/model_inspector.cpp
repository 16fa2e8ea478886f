// SPDX-License-Identifier: GPL-3.0-or-later
#include "model_inspector.h"

#include "record/command_process.h"

namespace draftscope::gui {

void ModelInspector::inspect(const QString& program, const QString& model) {
  cancel();
  process_ = new QProcess(this);
  connect(process_, &QProcess::finished, this, &ModelInspector::take);
  connect(process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error == QProcess::FailedToStart) take();
  });
  start_command(*process_, program, {QStringLiteral("inspect"), model, QStringLiteral("--json")});
}

void ModelInspector::cancel() {
  if (process_ == nullptr) return;
  process_->disconnect(this);
  // The process is deleted when it has ended, since waiting for that would block the window.
  connect(process_, &QProcess::finished, process_, &QObject::deleteLater);
  if (process_->state() == QProcess::NotRunning)
    process_->deleteLater();
  else
    process_->kill();
  process_ = nullptr;
}

ModelInspector::~ModelInspector() {
  for (QProcess* process : findChildren<QProcess*>()) {
    process->disconnect();
    process->kill();
    process->waitForFinished();
  }
}

void ModelInspector::take() {
  const QByteArray json = process_->readAllStandardOutput();
  const QStringList lines =
      QString::fromUtf8(process_->readAllStandardError()).split(u'\n', Qt::SkipEmptyParts);
  const bool is_fine = process_->error() != QProcess::FailedToStart &&
                       process_->exitStatus() == QProcess::NormalExit && process_->exitCode() == 0;
  const QString problem = is_fine ? QString() : failure_text(*process_, lines);
  process_->deleteLater();
  process_ = nullptr;
  if (!is_fine) {
    emit failed(problem);
    return;
  }
  const auto facts = model_facts_of({json.constData(), static_cast<std::size_t>(json.size())});
  if (facts)
    emit found(*facts);
  else
    emit failed(QString::fromStdString(facts.error().message));
}

}  // namespace draftscope::gui
