// SPDX-License-Identifier: GPL-3.0-or-later
#include "recording_loader.h"

#include <QThreadPool>
#include <algorithm>

namespace draftscope::gui {

RecordingLoader::~RecordingLoader() {
  if (job_ != nullptr) job_->cancelled = true;
  for (const std::shared_ptr<Job>& job : all_jobs_) job->done.wait(false);
}

void RecordingLoader::cancel() {
  if (job_ == nullptr) return;
  job_->cancelled = true;
  job_.reset();
  emit finished();
}

template <typename Apply>
void RecordingLoader::post(const std::shared_ptr<Job>& job, Apply apply) {
  QMetaObject::invokeMethod(
      this,
      [this, job, apply = std::move(apply)] {
        if (job == job_) apply();
      },
      Qt::QueuedConnection);
}

void RecordingLoader::load(const QString& path, Preview preview) {
  cancel();
  std::erase_if(all_jobs_, [](const std::shared_ptr<Job>& job) { return job->done.load(); });
  job_ = std::make_shared<Job>();
  all_jobs_.push_back(job_);
  QThreadPool::globalInstance()->start([this, job = job_, name = path.toStdString(), preview] {
    run(job, name, preview);
    // The destructor waits for this flag: nothing of the loader is touched after it.
    job->done = true;
    job->done.notify_all();
  });
}

void RecordingLoader::run(const std::shared_ptr<Job>& job, const std::string& path, Preview preview) {
  if (job->cancelled) return;
  const auto share = [&](const LoadedRecording& loaded) {
    post(job, [this, loaded] { emit opened(loaded.recording, loaded.timeline); });
  };
  if (preview == Preview::wanted)
    if (const auto overview = read_overview(path, job->cancelled)) share(*overview);
  const auto loaded = load_recording(path, job->cancelled, [&](std::int64_t done, std::int64_t all) {
    post(job, [this, done, all] { emit progressed(done, all); });
  });
  if (loaded) share(*loaded);
  post(job, [this, loaded] {
    job_.reset();
    if (!loaded) emit failed(QString::fromStdString(loaded.error().message));
    emit finished();
  });
}

}  // namespace draftscope::gui
