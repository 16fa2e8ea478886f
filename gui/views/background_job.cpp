// SPDX-License-Identifier: GPL-3.0-or-later
#include "background_job.h"

#include <QThreadPool>

namespace draftscope::gui {

BackgroundJob::~BackgroundJob() {
  cancel();
  for (const std::shared_ptr<State>& state : all_) state->done.wait(false);
}

void BackgroundJob::cancel() {
  if (current_) current_->cancelled = true;
  current_.reset();
}

void BackgroundJob::start(std::function<Report(const GoOn&)> work) {
  cancel();
  std::erase_if(all_, [](const std::shared_ptr<State>& state) { return state->done.load(); });
  current_ = std::make_shared<State>();
  all_.push_back(current_);
  QThreadPool::globalInstance()->start([this, state = current_, work = std::move(work)] {
    Report report = work([state] { return !state->cancelled; });
    QMetaObject::invokeMethod(
        this,
        [this, state, report = std::move(report)] {
          if (current_ != state) return;
          current_.reset();
          report();
        },
        Qt::QueuedConnection);
    // The destructor waits for this: nothing here is touched after it.
    state->done = true;
    state->done.notify_all();
  });
}

}  // namespace draftscope::gui
