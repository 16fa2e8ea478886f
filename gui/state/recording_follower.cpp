// SPDX-License-Identifier: GPL-3.0-or-later
#include "recording_follower.h"

#include <sys/stat.h>

#include <algorithm>

namespace draftscope::gui {

namespace {

constexpr int look_every_ms = 250;
constexpr qint64 min_pause_ms = 1000;
/// Length of the pause after a reading, in durations of that reading: the recorder needs the machine.
constexpr qint64 pause_per_reading = 4;
/// A log is removed while its recording is closed, and a reading may see neither state.
constexpr int max_failures = 3;

std::int64_t modified_ns(const struct stat& status) {
  constexpr std::int64_t ns_per_s = 1'000'000'000;
  return ns_per_s * status.st_mtim.tv_sec + status.st_mtim.tv_nsec;
}

}  // namespace

RecordingFollower::RecordingFollower(QObject* parent) : QObject(parent) {
  timer_.setInterval(look_every_ms);
  connect(&timer_, &QTimer::timeout, this, &RecordingFollower::look);
  connect(&loader_, &RecordingLoader::opened, this, &RecordingFollower::take_recording);
  connect(&loader_, &RecordingLoader::failed, this, &RecordingFollower::take_failure);
}

void RecordingFollower::follow(const std::filesystem::path& path) {
  stop();
  path_ = path;
  seen_ = {};
  failures_ = 0;
  since_reading_.invalidate();
  since_change_.start();
  timer_.start();
  look();
}

void RecordingFollower::set_stalled(bool is_stalled) {
  if (is_stalled == is_stalled_) return;
  is_stalled_ = is_stalled;
  emit stalled_changed();
}

void RecordingFollower::stop() {
  is_stalled_ = false;
  timer_.stop();
  looking_.cancel();
  loader_.cancel();
}

void RecordingFollower::end(const QString& reason) {
  stop();
  emit ended(reason);
}

RecordingFollower::FileLook RecordingFollower::look_at(const std::filesystem::path& path) {
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0) return {};
  FileLook look{
      .device = file.st_dev, .inode = file.st_ino, .bytes = file.st_size, .modified_ns = modified_ns(file)};
  std::filesystem::path log = path;
  log += "-wal";
  if (struct stat status{}; ::stat(log.c_str(), &status) == 0) {
    look.log_bytes = status.st_size;
    look.log_modified_ns = modified_ns(status);
  }
  return look;
}

void RecordingFollower::look() {
  if (loader_.is_loading() || looking_.is_running()) return;
  if (since_reading_.isValid() &&
      since_reading_.elapsed() < std::max(min_pause_ms, pause_per_reading * reading_ms_))
    return;
  // A remote disk may be slow, so a worker looks.
  looking_.start(read_and_take([path = path_](const BackgroundJob::ShouldContinue&) { return look_at(path); },
                               [this](const FileLook& now) { take(now); }));
}

void RecordingFollower::take(const FileLook& now) {
  const QString name = QString::fromStdString(path_.string());
  if (now.inode == 0)
    return end(tr("%1: was deleted while it was followed; what was read of it stays").arg(name));
  const bool is_first = seen_.inode == 0;
  if (!is_first && (now.device != seen_.device || now.inode != seen_.inode))
    return end(tr("%1: was replaced by another file while it was followed; Reload shows that one").arg(name));
  if (!is_first && now.bytes < seen_.bytes)
    return end(tr("%1: was cut from %2 to %3 bytes while it was followed; what was read of it stays")
                   .arg(name)
                   .arg(seen_.bytes)
                   .arg(now.bytes));
  if (now != seen_) {
    since_change_.start();
    set_stalled(false);
  } else if (since_change_.elapsed() >= patience_.count()) {
    set_stalled(true);
  }
  if (now == seen_ && failures_ == 0) return;
  seen_ = now;
  since_reading_.start();
  loader_.load(name, RecordingLoader::Preview::none);
}

void RecordingFollower::take_recording(const RecordingPointer& recording,
                                       const std::shared_ptr<const Timeline>& timeline) {
  reading_ms_ = since_reading_.elapsed();
  since_reading_.start();
  failures_ = 0;
  const bool is_complete = recording->recording().closed_cleanly;
  if (is_complete) stop();
  emit read(recording, timeline);
  if (is_complete) emit ended({});
}

void RecordingFollower::take_failure(const QString& reason) {
  reading_ms_ = since_reading_.elapsed();
  since_reading_.start();
  if (++failures_ == max_failures) end(reason);
}

}  // namespace draftscope::gui
