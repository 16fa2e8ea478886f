// SPDX-License-Identifier: GPL-3.0-or-later
#include "shipped_files.h"

#include <QCoreApplication>
#include <QDir>

namespace draftscope::gui {

namespace {

/// As one would type it where the app was started.
QString from_here(const QString& path) {
  const QString relative = QDir::current().relativeFilePath(path);
  return relative.startsWith(u"..") ? path : relative;
}

}  // namespace

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

}  // namespace draftscope::gui
