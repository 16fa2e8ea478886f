// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Asks `draftscope inspect` what a model is, in a process: a checkpoint of any kind, without the app knowing
// how one is read. On the main thread only.

#include <QObject>
#include <QProcess>

#include "record/form/model_facts.h"

namespace draftscope::gui {

class ModelInspector : public QObject {
  Q_OBJECT

 public:
  explicit ModelInspector(QObject* parent = nullptr) : QObject(parent) {}
  /// Ends what is under way.
  ~ModelInspector() override;

  /// In place of what is being asked.
  void inspect(const QString& program, const QString& model);
  void cancel();
  [[nodiscard]] bool is_running() const { return process_ != nullptr; }

 signals:
  void found(const draftscope::gui::ModelFacts& facts);
  /// One line: why it is no model.
  void failed(const QString& reason);

 private:
  void take();

  QProcess* process_ = nullptr;
};

}  // namespace draftscope::gui
