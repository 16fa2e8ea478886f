// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Reads recordings on workers, so that the window never waits: first the file's overview, if it stores one,
// then all rows. Loading another file cancels the current job; results of a cancelled job are dropped.

#include <QObject>
#include <QString>
#include <atomic>
#include <memory>

#include "data/lanes/load_recording.h"

namespace draftscope::gui {

class RecordingLoader : public QObject {
  Q_OBJECT

 public:
  explicit RecordingLoader(QObject* parent = nullptr) : QObject(parent) {}
  /// Cancels, and waits for the worker to notice.
  ~RecordingLoader() override;

  enum class Preview : std::uint8_t { wanted, none };

  void load(const QString& path, Preview preview = Preview::wanted);
  /// Stops loading; of the current job, only finished() is still emitted.
  void cancel();
  [[nodiscard]] bool is_loading() const { return job_ != nullptr; }

 signals:
  /// Emitted once or twice: for the overview, whose recording has no rows yet, and then for the whole.
  void opened(const draftscope::gui::RecordingPointer& recording,
              const std::shared_ptr<const draftscope::gui::Timeline>& timeline);
  void progressed(qint64 done, qint64 all);
  /// One line that names the file.
  void failed(const QString& reason);
  /// Emitted after all other signals, on success and on failure.
  void finished();

 private:
  struct Job {
    std::atomic<bool> cancelled{false};
    std::atomic<bool> done{false};
  };
  void run(const std::shared_ptr<Job>& job, const std::string& path, Preview preview);
  /// Calls `apply` on this object's thread, unless the job was cancelled.
  template <typename Apply>
  void post(const std::shared_ptr<Job>& job, Apply apply);

  std::shared_ptr<Job> job_;
  std::vector<std::shared_ptr<Job>> all_jobs_;
};

}  // namespace draftscope::gui
