// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Follows a recording that is being written. Workers read it again when its file has changed, at most once a
// second and for a small part of the time. This ends when the recording is closed or its file is no longer
// the same.
//
// Used on the main thread only.

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

  /// Follows this file instead of the one followed before.
  void follow(const std::filesystem::path& path);
  void stop();
  [[nodiscard]] bool is_following() const { return timer_.isActive(); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Whether nothing was added for so long that the recorder may have ended.
  [[nodiscard]] bool is_stalled() const { return is_stalled_; }
  /// Sets the time after which a recording counts as stalled; default 30 s.
  void set_patience(std::chrono::milliseconds patience) { patience_ = patience; }

 signals:
  /// The recording stalled, or is growing again.
  void stalled_changed();
  /// The recording as it is now, with its rows.
  void read(const draftscope::gui::RecordingPointer& recording,
            const std::shared_ptr<const draftscope::gui::Timeline>& timeline);
  /// Nothing more will be read. `reason`: one line, empty if the recording is complete.
  void ended(const QString& reason);

 private:
  /// State of a file and of the log beside it, to tell whether something was written.
  struct FileLook {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;  ///< 0 = there is no file
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
  FileLook seen_;  ///< State before the last reading.
  std::chrono::milliseconds patience_{30'000};
  QElapsedTimer since_change_;
  bool is_stalled_ = false;
  int failures_ = 0;  ///< Failures since the last successful reading.
  QElapsedTimer since_reading_;
  qint64 reading_ms_ = 0;  ///< Duration of the last reading.
};

}  // namespace draftscope::gui
