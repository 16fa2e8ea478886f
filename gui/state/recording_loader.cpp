// SPDX-License-Identifier: GPL-3.0-or-later
#include "recording_loader.h"

#include <QThreadPool>
#include <algorithm>

namespace draftscope::gui {

RecordingLoader::~RecordingLoader() {
  cancel();
  for (const std::shared_ptr<Job>& job : all_jobs_) job->done.wait(false);
}

void RecordingLoader::cancel() {
  if (job_ == nullptr) return;
  job_->cancelled = true;
  job_.reset();
  emit finished();
}

template <typename Report>
void RecordingLoader::post(const std::shared_ptr<Job>& job, Report report) {
  QMetaObject::invokeMethod(
      this,
      [this, job, report = std::move(report)] {
        if (job == job_) report();
      },
      Qt::QueuedConnection);
}

void RecordingLoader::load(const QString& path) {
  cancel();
  std::erase_if(all_jobs_, [](const std::shared_ptr<Job>& job) { return job->done.load(); });
  job_ = std::make_shared<Job>();
  all_jobs_.push_back(job_);
  QThreadPool::globalInstance()->start([this, job = job_, name = path.toStdString()] {
    run(job, name);
    // The destructor waits for this: nothing of the loader is touched after it.
    job->done = true;
    job->done.notify_all();
  });
}

void RecordingLoader::run(const std::shared_ptr<Job>& job, const std::string& path) {
  const auto give_up = [&](const Error& error) {
    post(job, [this, words = QString::fromStdString(error.message)] {
      job_.reset();
      emit failed(words);
      emit finished();
    });
  };
  if (job->cancelled) return;
  const Result<RecordingPointer> recording = OpenedRecording::open(path);
  if (!recording) return give_up(recording.error());
  post(job, [this, pointer = *recording] { emit opened(pointer); });
  auto reader = traces::Reader::open(path);
  if (!reader) return give_up(reader.error());
  const auto share = [&](Result<Timeline> timeline) {
    post(job, [this, pointer = std::make_shared<const Timeline>(*std::move(timeline))] {
      emit timeline_read(pointer);
    });
  };
  auto rounds = read_rounds_timeline(*reader, (*recording)->recording());
  if (!rounds) return give_up(rounds.error());
  share(std::move(rounds));
  auto timeline = read_timeline(*reader, (*recording)->recording(), [&](std::int64_t done, std::int64_t all) {
    post(job, [this, done, all] { emit progressed(done, all); });
    return !job->cancelled;
  });
  if (job->cancelled) return;
  if (!timeline) return give_up(timeline.error());
  share(std::move(timeline));
  post(job, [this] {
    job_.reset();
    emit finished();
  });
}

}  // namespace draftscope::gui
