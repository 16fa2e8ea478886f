// SPDX-License-Identifier: GPL-3.0-or-later
#include "files.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QPointer>
#include <QRegularExpression>
#include <QSettings>
#include <QThreadPool>
#include <QUrl>
#include <utility>

namespace draftscope::gui {

namespace {

/// The path as one would type it in the current folder.
QString from_here(const QString& path) {
  const QString relative = QDir::current().relativeFilePath(path);
  return relative.startsWith(u"..") ? path : relative;
}

}  // namespace

PathsToOpen paths_to_open(const QStringList& paths) {
  PathsToOpen found;
  for (const QString& path : paths) {
    if (path.isEmpty()) continue;
    const QFileInfo info(path);
    if (!info.isDir()) {
      found.files << QDir::cleanPath(info.absoluteFilePath());
      continue;
    }
    const QFileInfoList inside =
        QDir(path).entryInfoList({QStringLiteral("*.dstrace")}, QDir::Files, QDir::Name);
    for (const QFileInfo& file : inside) found.files << QDir::cleanPath(file.absoluteFilePath());
    if (!inside.isEmpty()) continue;
    found.problems << (info.isReadable()
                           ? QObject::tr("%1: no recordings (*.dstrace) in this folder").arg(path)
                           : QObject::tr("%1: this folder can't be read").arg(path));
  }
  found.files.removeDuplicates();
  return found;
}

QStringList dropped_paths(const QMimeData& data) {
  QStringList paths;
  for (const QUrl& url : data.urls())
    if (const QString path = url.toLocalFile(); !path.isEmpty()) paths << path;
  return paths;
}

QString with_ending(const QString& path, const QString& file_type) {
  static const QRegularExpression ending(QStringLiteral("\\*(\\.[a-z]+)"));
  const QRegularExpressionMatch match = ending.match(file_type);
  if (path.isEmpty() || !match.hasMatch() || !QFileInfo(path).suffix().isEmpty()) return path;
  return path + match.captured(1);
}

QString shipped_folder(const QString& name, const QString& source) {
  const QDir program(QCoreApplication::applicationDirPath());
  QStringList places{QStringLiteral("../share/draftscope/%1").arg(name)};
  for (const QString& up : {QStringLiteral("../../.."), QStringLiteral("../../../..")})
    places << QStringLiteral("%1/%2").arg(up, source);
  for (const QString& place : places)
    if (const QDir folder(program.filePath(place)); folder.exists()) return folder.canonicalPath();
  return {};
}

QStringList shipped_models() {
  const QString folder = shipped_folder(QStringLiteral("models"), QStringLiteral("models"));
  QStringList models;
  if (folder.isEmpty()) return models;
  for (const QFileInfo& inside : QDir(folder).entryInfoList(QDir::Dirs | QDir::NoDotAndDotDot, QDir::Name))
    if (QFileInfo::exists(inside.filePath() + QStringLiteral("/config.json")))
      models << from_here(inside.filePath());
  return models;
}

QStringList shipped_prompts() {
  const QString folder = shipped_folder(QStringLiteral("prompts"), QStringLiteral("traces/prompts"));
  QStringList prompts;
  if (folder.isEmpty()) return prompts;
  for (const QFileInfo& file :
       QDir(folder).entryInfoList({QStringLiteral("*.jsonl")}, QDir::Files, QDir::Name))
    prompts << from_here(file.filePath());
  return prompts;
}

namespace {

constexpr int max_recent = 10;

QString key() {
  return QStringLiteral("recent");
}

}  // namespace

QStringList recent_files() {
  return QSettings().value(key()).toStringList();
}

void add_recent_file(const QString& path) {
  QStringList recent = recent_files();
  const QString whole = QFileInfo(path).absoluteFilePath();
  recent.removeAll(whole);
  recent.prepend(whole);
  if (recent.size() > max_recent) recent.resize(max_recent);
  QSettings().setValue(key(), recent);
}

void remove_recent_file(const QString& path) {
  QStringList recent = recent_files();
  recent.removeAll(path);
  QSettings().setValue(key(), recent);
}

void clear_recent_files() {
  QSettings().remove(key());
}

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
