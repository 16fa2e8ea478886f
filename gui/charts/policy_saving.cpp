// SPDX-License-Identifier: GPL-3.0-or-later
#include "policy_saving.h"

#include <QCoreApplication>
#include <QFileDialog>
#include <QPointer>
#include <QThreadPool>
#include <utility>

namespace draftscope::gui {

void save_policy(QLabel& words, std::function<Result<void>(const std::string& path)> write) {
  const auto tr = [](const char* text) { return QCoreApplication::translate("save_policy", text); };
  const QString path = QFileDialog::getSaveFileName(&words, tr("Write a policy"),
                                                    QStringLiteral("policy.json"), tr("Policies (*.json)"));
  if (path.isEmpty()) return;
  words.setText(tr("Writing %1 …").arg(path));
  QThreadPool::globalInstance()->start(
      [label = QPointer<QLabel>(&words), write = std::move(write), path, tr] {
        const Result<void> written = write(path.toStdString());
        const QString outcome = written ? tr("Written: %1. It runs with --strategy tuned:policy=%1").arg(path)
                                        : QString::fromUtf8(written.error().message);
        QMetaObject::invokeMethod(
            QCoreApplication::instance(),
            [label, outcome] {
              if (label != nullptr) label->setText(outcome);
            },
            Qt::QueuedConnection);
      });
}

}  // namespace draftscope::gui
