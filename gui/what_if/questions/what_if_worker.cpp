// SPDX-License-Identifier: GPL-3.0-or-later
#include "what_if_worker.h"

#include <algorithm>
#include <utility>

namespace draftscope::gui {

WhatIfWorker::WhatIfWorker(QObject* parent) : QObject(parent) {
  questions_.setMaxThreadCount(1);
  pictures_.setMaxThreadCount(1);
  pictures_.setThreadPriority(QThread::LowPriority);
  constexpr int rest_ms = 120;
  rest_.setSingleShot(true);
  rest_.setInterval(rest_ms);
  connect(&rest_, &QTimer::timeout, this, &WhatIfWorker::make_pictures);
}

WhatIfWorker::~WhatIfWorker() {
  for (JobPointer* job : {&training_, &answering_, &drawing_}) drop(*job);
  questions_.waitForDone();
  pictures_.waitForDone();
}

template <typename Apply>
void WhatIfWorker::post(const JobPointer& job, Apply apply) {
  QMetaObject::invokeMethod(
      this,
      [job, apply = std::move(apply)] {
        if (!job->cancelled) apply();
      },
      Qt::QueuedConnection);
}

void WhatIfWorker::drop(JobPointer& job) {
  if (job != nullptr) job->cancelled = true;
  job.reset();
}

void WhatIfWorker::clear() {
  for (JobPointer* job : {&training_, &answering_, &drawing_}) drop(*job);
  rest_.stop();
  to_picture_.reset();
  last_answer_.reset();
  waiting_.reset();
  trained_.reset();
  heat_map_rounds_.reset();
  kept_prices_.reset();
}

void WhatIfWorker::cancel() {
  if (training_ != nullptr) {
    drop(training_);
    emit refused(tr("Learning from the recording was stopped."));
    emit settled();
  } else if (drawing_ != nullptr || to_picture_ != nullptr) {
    stop_pictures();
    emit pictures_stopped();
    end_if_settled();
  }
}

void WhatIfWorker::stop_pictures() {
  drop(drawing_);
  rest_.stop();
  to_picture_.reset();
}

void WhatIfWorker::train(const RecordingPointer& recording, const std::string& recorded_gpu) {
  clear();
  training_ = std::make_shared<Job>();
  questions_.start([this, job = training_, recording, recorded_gpu] {
    if (job->cancelled) return;
    auto trained = TrainedRecording::train(recording, recorded_gpu, [&](std::int64_t done, std::int64_t all) {
      post(job,
           [this, done, all] { emit training_progressed(static_cast<int>(done), static_cast<int>(all)); });
      return !job->cancelled.load();
    });
    post(job, [this, trained = std::move(trained)] {
      training_.reset();
      if (trained) {
        trained_ = *trained;
        heat_map_rounds_ = std::make_shared<HeatMapRounds>(trained_);
        kept_prices_ = std::make_shared<simulator::CachedPrices>();
        emit trained_on();
      } else {
        emit refused(QString::fromStdString(trained.error().message));
      }
      end_if_settled();
    });
  });
}

bool WhatIfWorker::is_settled() const {
  return training_ == nullptr && answering_ == nullptr && drawing_ == nullptr && !waiting_ &&
         to_picture_ == nullptr;
}

void WhatIfWorker::ask(const Question& question) {
  if (trained_ == nullptr) return;
  // Pictures of an older question would only delay the answer to this one.
  stop_pictures();
  waiting_ = question;
  if (answering_ == nullptr) answer_next();
}

void WhatIfWorker::answer_next() {
  const Question question = *waiting_;
  waiting_.reset();
  answering_ = std::make_shared<Job>();
  questions_.start([this, job = answering_, trained = trained_, kept = kept_prices_, question] {
    if (job->cancelled) return;
    auto answer = std::make_shared<const WhatIfAnswer>(answer_of(*trained, question, {}, kept.get()));
    post(job, [this, answer = std::move(answer)] { take(answer); });
  });
}

void WhatIfWorker::take(const AnswerPointer& answer) {
  answering_.reset();
  last_answer_ = answer;
  if (waiting_) {
    answer_next();
  } else {
    to_picture_ = answer;
    rest_.start();
  }
  emit answered(answer);
}

void WhatIfWorker::make_pictures_again() {
  if (last_answer_ == nullptr || answering_ != nullptr || drawing_ != nullptr) return;
  to_picture_ = last_answer_;
  make_pictures();
}

std::function<bool(std::int64_t, std::int64_t)> WhatIfWorker::reporter(
    const JobPointer& job, std::int64_t parts, void (WhatIfWorker::*signal)(int, int)) {
  return [this, job, parts, signal, reported = std::int64_t{0}](std::int64_t done, std::int64_t all) mutable {
    if (const std::int64_t part = done * parts / std::max<std::int64_t>(all, 1); part > reported) {
      reported = part;
      post(job,
           [this, signal, done, all] { (this->*signal)(static_cast<int>(done), static_cast<int>(all)); });
    }
    return !job->cancelled.load();
  };
}

void WhatIfWorker::make_pictures() {
  drawing_ = std::make_shared<Job>();
  const AnswerPointer answer = std::exchange(to_picture_, nullptr);
  pictures_.start([this, job = drawing_, trained = trained_, rounds = heat_map_rounds_, answer] {
    const auto share = [&]<typename Content>(Result<Content> content, auto signal) {
      post(job, [this, signal,
                 picture = std::make_shared<const Picture<Content>>(
                     Picture<Content>{answer->question, std::move(content)})] { (this->*signal)(picture); });
    };
    if (job->cancelled) return;
    share(ladder_of(*answer), &WhatIfWorker::ladder_made);
    share(roofline_of(*answer), &WhatIfWorker::roofline_made);
    constexpr std::int64_t reports = 100;
    share(rounds->map(answer->question, reporter(job, reports, &WhatIfWorker::heat_map_progressed)),
          &WhatIfWorker::heat_map_made);
    if (job->cancelled) return;
    share(waterfall_of(*trained, *answer, reporter(job, reports, &WhatIfWorker::waterfall_progressed)),
          &WhatIfWorker::waterfall_made);
    post(job, [this] {
      drawing_.reset();
      end_if_settled();
    });
  });
}

}  // namespace draftscope::gui
