// SPDX-License-Identifier: GPL-3.0-or-later
#include "open_queue.h"

#include "widgets/files.h"

namespace draftscope::gui {

OpenQueue::OpenQueue(QObject* parent) : QObject(parent) {
  connect(&loader_, &RecordingLoader::opened, this, &OpenQueue::take);
  connect(&loader_, &RecordingLoader::progressed, this, &OpenQueue::progressed);
  connect(&loader_, &RecordingLoader::failed, this, &OpenQueue::failed);
  connect(&loader_, &RecordingLoader::finished, this, &OpenQueue::open_next);
}

void OpenQueue::open(const QStringList& paths) {
  cancel();
  const PathsToOpen found = paths_to_open(paths);
  for (const QString& problem : found.problems) emit failed(problem);
  start(found.files, true);
}

void OpenQueue::reload(const QString& path, bool is_preview_wanted) {
  cancel();
  start({path}, is_preview_wanted);
}

void OpenQueue::start(const QStringList& files, bool is_first) {
  if (files.isEmpty()) return;
  waiting_ = files;
  begun_ = 0;
  is_first_ = is_first;
  open_next();
}

void OpenQueue::cancel() {
  waiting_.clear();
  loader_.cancel();
}

void OpenQueue::open_next() {
  if (waiting_.isEmpty()) {
    emit ended();
    return;
  }
  const QString path = waiting_.takeFirst();
  ++begun_;
  emit began(path, begun_, begun_ + waiting_.size());
  loader_.load(path, is_first_ ? RecordingLoader::Preview::wanted : RecordingLoader::Preview::none);
}

void OpenQueue::take(const RecordingPointer& recording, const std::shared_ptr<const Timeline>& timeline) {
  const bool is_first = is_first_;
  if (recording->has_rows()) is_first_ = false;
  emit read(recording, timeline, is_first);
}

}  // namespace draftscope::gui
