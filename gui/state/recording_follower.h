// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Follows a recording that is being written: reads it again when its file has changed, on workers, at most
// once a second and for a small part of the time, until it is closed or is no longer the file that it was.
//
// On the main thread only.

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>
#include <chrono>
#include <cstdint>
#include <filesystem>

#include "state/recording_loader.h"
#include "widgets/background_job.h"

namespace draftscope::gui {

class RecordingFollower : public QObject {
  Q_OBJECT

 public:
  explicit RecordingFollower(QObject* parent = nullptr);

  /// In place of what is followed.
  void follow(const std::filesystem::path& path);
  void stop();
  [[nodiscard]] bool is_following() const { return timer_.isActive(); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Whether nothing was added for so long that the recorder may have ended.
  [[nodiscard]] bool is_stalled() const { return is_stalled_; }
  /// Until a recording counts as stalled; 30 s unless told.
  void set_patience(std::chrono::milliseconds patience) { patience_ = patience; }

 signals:
  /// Nothing comes any more, or something comes again.
  void stalled_changed();
  /// The recording as it is now, with its rows.
  void read(const draftscope::gui::RecordingPointer& recording,
            const std::shared_ptr<const draftscope::gui::Timeline>& timeline);
  /// Nothing more will be read. `reason`: one line, empty if the recording is complete.
  void ended(const QString& reason);

 private:
  /// A file and the log beside it, as far as they tell that something was written.
  struct FileLook {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;  ///< 0 = there is none
    std::int64_t bytes = 0;
    std::int64_t modified_ns = 0;
    std::int64_t log_bytes = 0;
    std::int64_t log_modified_ns = 0;
    friend bool operator==(const FileLook&, const FileLook&) = default;
  };

  [[nodiscard]] static FileLook look_at(const std::filesystem::path& path);
  void look();
  void take(const FileLook& now);
  void take_recording(const RecordingPointer& recording, const std::shared_ptr<const Timeline>& timeline);
  void take_failure(const QString& reason);
  void end(const QString& reason);
  void set_stalled(bool is_stalled);

  std::filesystem::path path_;
  QTimer timer_;
  BackgroundJob looking_;
  RecordingLoader loader_;
  FileLook seen_;  ///< before the last reading
  std::chrono::milliseconds patience_{30'000};
  QElapsedTimer since_change_;
  bool is_stalled_ = false;
  int failures_ = 0;  ///< since the last reading that succeeded
  QElapsedTimer since_reading_;
  qint64 reading_ms_ = 0;  ///< the last one took
};

}  // namespace draftscope::gui
