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

void BackgroundJob::start(Job job) {
  cancel();
  std::erase_if(all_, [](const std::shared_ptr<State>& state) { return state->done.load(); });
  current_ = std::make_shared<State>();
  all_.push_back(current_);
  QThreadPool::globalInstance()->start([this, state = current_, job = std::move(job)] {
    Apply apply = job([state] { return !state->cancelled; });
    QMetaObject::invokeMethod(
        this,
        [this, state, apply = std::move(apply)] {
          if (current_ != state) return;
          current_.reset();
          apply();
        },
        Qt::QueuedConnection);
    // The destructor waits for this flag: nothing of this object is touched after it.
    state->done = true;
    state->done.notify_all();
  });
}

}  // namespace draftscope::gui
