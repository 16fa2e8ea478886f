// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Answers what-ifs on workers, so that sliders never wait. It learns from a recording once, then answers one
// question at a time, always the newest; older ones are dropped. Pictures that take longer follow at lower
// priority. Use it on the main thread only.

#include <QObject>
#include <QThreadPool>
#include <QTimer>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>

#include "what_if/questions/heat_map.h"
#include "what_if/questions/trained_recording.h"
#include "what_if/questions/what_if_answer.h"

namespace draftscope::gui {

/// Content of a picture, or why there is none, and its question.
template <typename Content>
struct Picture {
  Question question;
  Result<Content> content;
};

using AnswerPointer = std::shared_ptr<const WhatIfAnswer>;
using LadderPicture = std::shared_ptr<const Picture<simulator::Ladder>>;
using RooflinePicture = std::shared_ptr<const Picture<simulator::Roofline>>;
using HeatMapPicture = std::shared_ptr<const Picture<HeatMap>>;
using WaterfallPicture = std::shared_ptr<const Picture<WaterfallLevels>>;

class WhatIfWorker : public QObject {
  Q_OBJECT

 public:
  explicit WhatIfWorker(QObject* parent = nullptr);
  /// Cancels, and waits for the workers to stop.
  ~WhatIfWorker() override;

  /// Drops the trained recording and all that is under way, then learns. `recorded_gpu` is as in
  /// TrainedRecording::train().
  void train(const RecordingPointer& recording, const std::string& recorded_gpu = {});
  /// Stops learning, or drops the pictures that are being made or wait.
  void cancel();
  /// Forgets the recording.
  void clear();
  [[nodiscard]] bool is_training() const { return training_ != nullptr; }
  /// Null until train() has succeeded.
  [[nodiscard]] const TrainedPointer& trained() const { return trained_; }

  /// Asks a question; expects trained().
  void ask(const Question& question);
  /// Makes the pictures of the last answer, if they were stopped.
  void make_pictures_again();
  [[nodiscard]] bool is_drawing() const { return drawing_ != nullptr; }
  /// Whether nothing is under way or waits.
  [[nodiscard]] bool is_settled() const;

 signals:
  void training_progressed(int done, int all);
  void trained_on();
  /// Emitted with one line: why training is impossible, and what to record instead.
  void refused(const QString& reason);
  void answered(const draftscope::gui::AnswerPointer& answer);
  void ladder_made(const draftscope::gui::LadderPicture& picture);
  void roofline_made(const draftscope::gui::RooflinePicture& picture);
  void heat_map_made(const draftscope::gui::HeatMapPicture& picture);
  void heat_map_progressed(int done, int all);
  void waterfall_progressed(int done, int all);
  void waterfall_made(const draftscope::gui::WaterfallPicture& picture);
  /// Emitted when some pictures of the last answer will not come.
  void pictures_stopped();
  /// Emitted last, when nothing is left to do.
  void settled();

 private:
  struct Job {
    std::atomic<bool> cancelled{false};
  };
  using JobPointer = std::shared_ptr<Job>;
  /// Calls `apply` on this object's thread, unless the job was cancelled.
  template <typename Apply>
  void post(const JobPointer& job, Apply apply);
  void drop(JobPointer& job);
  void answer_next();
  void take(const AnswerPointer& answer);
  void make_pictures();
  /// Progress function for the worker that makes pictures: reports progress in `parts` steps, and returns
  /// whether to go on.
  std::function<bool(std::int64_t, std::int64_t)> reporter(const JobPointer& job, std::int64_t parts,
                                                           void (WhatIfWorker::*signal)(int, int));
  void stop_pictures();
  void end_if_settled() {
    if (is_settled()) emit settled();
  }

  QThreadPool questions_;
  QThreadPool pictures_;
  TrainedPointer trained_;
  std::shared_ptr<HeatMapRounds> heat_map_rounds_;        // Only the one worker for pictures uses it.
  std::shared_ptr<simulator::CachedPrices> kept_prices_;  // Only the one worker for answers uses it.
  JobPointer training_;
  JobPointer answering_;
  JobPointer drawing_;
  std::optional<Question> waiting_;
  QTimer rest_;  // Delays pictures until the sliders rest.
  AnswerPointer to_picture_;
  AnswerPointer last_answer_;
};

}  // namespace draftscope::gui
