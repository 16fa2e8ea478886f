// SPDX-License-Identifier: GPL-3.0-or-later
#include "what_if_asker.h"

#include <algorithm>
#include <utility>

namespace draftscope::gui {

WhatIfAsker::WhatIfAsker(QObject* parent) : QObject(parent) {
  questions_.setMaxThreadCount(1);
  pictures_.setMaxThreadCount(1);
  pictures_.setThreadPriority(QThread::LowPriority);
  constexpr int rest_ms = 120;
  rest_.setSingleShot(true);
  rest_.setInterval(rest_ms);
  connect(&rest_, &QTimer::timeout, this, &WhatIfAsker::make_pictures);
}

WhatIfAsker::~WhatIfAsker() {
  for (JobPointer* job : {&learning_, &answering_, &drawing_}) drop(*job);
  questions_.waitForDone();
  pictures_.waitForDone();
}

template <typename Report>
void WhatIfAsker::post(const JobPointer& job, Report report) {
  QMetaObject::invokeMethod(
      this,
      [job, report = std::move(report)] {
        if (!job->cancelled) report();
      },
      Qt::QueuedConnection);
}

void WhatIfAsker::drop(JobPointer& job) {
  if (job != nullptr) job->cancelled = true;
  job.reset();
}

void WhatIfAsker::clear() {
  for (JobPointer* job : {&learning_, &answering_, &drawing_}) drop(*job);
  rest_.stop();
  to_picture_.reset();
  last_reply_.reset();
  waiting_.reset();
  learnt_.reset();
  heat_map_rounds_.reset();
}

void WhatIfAsker::cancel() {
  if (learning_ != nullptr) {
    drop(learning_);
    emit refused(tr("Learning from the recording was stopped."));
    emit settled();
  } else if (drawing_ != nullptr || to_picture_ != nullptr) {
    stop_pictures();
    emit pictures_stopped();
    end_if_settled();
  }
}

void WhatIfAsker::stop_pictures() {
  drop(drawing_);
  rest_.stop();
  to_picture_.reset();
}

void WhatIfAsker::learn(const RecordingPointer& recording, const std::string& recorded_gpu) {
  clear();
  learning_ = std::make_shared<Job>();
  questions_.start([this, job = learning_, recording, recorded_gpu] {
    if (job->cancelled) return;
    auto learnt = LearntRecording::learn(recording, recorded_gpu, [&](std::int64_t done, std::int64_t all) {
      post(job,
           [this, done, all] { emit learning_progressed(static_cast<int>(done), static_cast<int>(all)); });
      return !job->cancelled.load();
    });
    post(job, [this, learnt = std::move(learnt)] {
      learning_.reset();
      if (learnt) {
        learnt_ = *learnt;
        heat_map_rounds_ = std::make_shared<HeatMapRounds>(learnt_);
        emit learnt_from();
      } else {
        emit refused(QString::fromStdString(learnt.error().message));
      }
      end_if_settled();
    });
  });
}

bool WhatIfAsker::is_settled() const {
  return learning_ == nullptr && answering_ == nullptr && drawing_ == nullptr && !waiting_ &&
         to_picture_ == nullptr;
}

void WhatIfAsker::end_if_settled() {
  if (is_settled()) emit settled();
}

void WhatIfAsker::ask(const Question& question) {
  if (learnt_ == nullptr) return;
  // Pictures of an older question only take time from this one's answer.
  stop_pictures();
  waiting_ = question;
  if (answering_ == nullptr) answer_next();
}

void WhatIfAsker::answer_next() {
  const Question question = *waiting_;
  waiting_.reset();
  answering_ = std::make_shared<Job>();
  questions_.start([this, job = answering_, learnt = learnt_, question] {
    if (job->cancelled) return;
    auto reply = std::make_shared<const Reply>(answer(*learnt, question));
    post(job, [this, reply = std::move(reply)] { take(reply); });
  });
}

void WhatIfAsker::take(const ReplyPointer& reply) {
  answering_.reset();
  last_reply_ = reply;
  if (waiting_) {
    answer_next();
  } else {
    to_picture_ = reply;
    rest_.start();
  }
  emit answered(reply);
}

void WhatIfAsker::make_pictures_again() {
  if (last_reply_ == nullptr || answering_ != nullptr || drawing_ != nullptr) return;
  to_picture_ = last_reply_;
  make_pictures();
}

std::function<bool(std::int64_t, std::int64_t)> WhatIfAsker::reporter(const JobPointer& job,
                                                                      std::int64_t parts,
                                                                      void (WhatIfAsker::*signal)(int, int)) {
  return [this, job, parts, signal, reported = std::int64_t{0}](std::int64_t done, std::int64_t all) mutable {
    if (const std::int64_t part = done * parts / std::max<std::int64_t>(all, 1); part > reported) {
      reported = part;
      post(job,
           [this, signal, done, all] { (this->*signal)(static_cast<int>(done), static_cast<int>(all)); });
    }
    return !job->cancelled.load();
  };
}

void WhatIfAsker::make_pictures() {
  drawing_ = std::make_shared<Job>();
  const ReplyPointer reply = std::exchange(to_picture_, nullptr);
  pictures_.start([this, job = drawing_, learnt = learnt_, rounds = heat_map_rounds_, reply] {
    const auto share = [&]<typename Content>(Result<Content> content, auto signal) {
      post(job, [this, signal,
                 picture = std::make_shared<const Picture<Content>>(
                     Picture<Content>{reply->question, std::move(content)})] { (this->*signal)(picture); });
    };
    if (job->cancelled) return;
    share(ladder_of(*reply), &WhatIfAsker::ladder_made);
    share(roofline_of(*reply), &WhatIfAsker::roofline_made);
    constexpr std::int64_t reports = 100;
    share(rounds->map(reply->question, reporter(job, reports, &WhatIfAsker::heat_map_progressed)),
          &WhatIfAsker::heat_map_made);
    if (job->cancelled) return;
    share(waterfall_of(*learnt, *reply, reporter(job, reports, &WhatIfAsker::waterfall_progressed)),
          &WhatIfAsker::waterfall_made);
    post(job, [this] {
      drawing_.reset();
      end_if_settled();
    });
  });
}

}  // namespace draftscope::gui
