// SPDX-License-Identifier: GPL-3.0-or-later
#include "recent_files.h"

#include <QFileInfo>
#include <QSettings>

namespace draftscope::gui {

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

}  // namespace draftscope::gui
