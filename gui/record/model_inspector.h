// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Asks `draftscope inspect` about a model, in a process, so that the app need not read any kind of
// checkpoint. Use it on the main thread only.

#include <QObject>
#include <QProcess>

#include "record/form/model_facts.h"

namespace draftscope::gui {

class ModelInspector : public QObject {
  Q_OBJECT

 public:
  explicit ModelInspector(QObject* parent = nullptr) : QObject(parent) {}
  /// Cancels what is under way.
  ~ModelInspector() override;

  /// Asks about a model, and cancels the question before.
  void inspect(const QString& program, const QString& model);
  void cancel();
  [[nodiscard]] bool is_running() const { return process_ != nullptr; }

 signals:
  void found(const draftscope::gui::ModelFacts& facts);
  /// Emitted with one line: why it is not a model.
  void failed(const QString& reason);

 private:
  void take();

  QProcess* process_ = nullptr;
};

}  // namespace draftscope::gui
