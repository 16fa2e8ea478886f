// SPDX-License-Identifier: GPL-3.0-or-later
#include "paths.h"

#include <QDir>
#include <QFileInfo>
#include <QRegularExpression>
#include <QUrl>

namespace draftscope::gui {

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

}  // namespace draftscope::gui
