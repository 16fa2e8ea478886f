// SPDX-License-Identifier: GPL-3.0-or-later
#include "trace_exporter.h"

#include <draftscope/traces/exporters.h>

#include <QThreadPool>

namespace draftscope::gui {

namespace {

Result<void> write(const std::filesystem::path& from, const std::filesystem::path& to, TraceFormat format,
                   const traces::Progress& progress) {
  DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(from));
  return format == TraceFormat::perfetto ? traces::export_perfetto(reader, to, progress)
                                         : traces::export_chrome(reader, to, progress);
}

}  // namespace

TraceExporter::~TraceExporter() {
  if (job_ == nullptr) return;
  job_->cancelled = true;
  job_->done.wait(false);
}

void TraceExporter::cancel() {
  if (job_ != nullptr) job_->cancelled = true;
}

void TraceExporter::start(const std::filesystem::path& from, const std::filesystem::path& to,
                          TraceFormat format) {
  job_ = std::make_shared<Job>();
  QThreadPool::globalInstance()->start([this, job = job_, from, to, format] {
    const Result<void> written = write(from, to, format, [&](std::int64_t done, std::int64_t all) {
      const int percent = all > 0 ? static_cast<int>(100 * done / all) : 0;
      QMetaObject::invokeMethod(
          this, [this, percent] { emit progressed(percent); }, Qt::QueuedConnection);
      return !job->cancelled;
    });
    const QString reason = written ? QString() : QString::fromStdString(written.error().message);
    QMetaObject::invokeMethod(
        this, [this, reason] { emit finished(reason); }, Qt::QueuedConnection);
    // The destructor waits for this: nothing of the exporter is touched after it.
    job->done = true;
    job->done.notify_all();
  });
}

}  // namespace draftscope::gui
