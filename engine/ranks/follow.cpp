// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/clock.h>
#include <draftscope/engine/ranks/lead_and_follow.h>

#include <memory>

#include "agreement.h"
#include "message.h"
#include "steps.h"

namespace draftscope::engine {
namespace {

/// One of the ranks that compute what rank 0 says. A command that rank 0 finds wrong is wrong here, too, and
/// rank 0 says so; where a rank has ended, the next command says so as well.
class Follower {
 public:
  Follower(Backend& own, Collective& ranks) : own_(own), ranks_(ranks) {}

  Result<void> obey(const Message& message) {
    switch (message.command) {
      case Command::forward:
        compute(message.view());
        return {};
      case Command::move_rows:
        static_cast<void>(own_.move_cache_rows(message.moves).has_value());
        return {};
      case Command::hold_weights:
        static_cast<void>(agree_to_go_on(ranks_, own_.hold_weights(*message.weights)).has_value());
        return {};
      case Command::record:
        record(message.level);
        return {};
      case Command::take_steps:
        return hand_over();
      case Command::end:
        ranks_.conclude();
        return {};
    }
    return {};
  }

 private:
  void compute(const Batch& batch) {
    if (recorder_ != nullptr) recorder_->set_round(traces::RoundId::from(++passes_));
    const profiler::ScopedSpan pass(recorder_.get(), profiler::Level::phases, pass_name_);
    static_cast<void>(own_.forward(batch, outputs_).has_value());
  }

  void record(profiler::Level level) {
    own_.set_recorder(nullptr);
    recorder_.reset();
    passes_ = 0;
    if (level == profiler::Level::off) return;
    recorder_ = std::make_unique<profiler::SpanRecorder>(level, nullptr);
    pass_name_ = recorder_->name_id("pass");
    own_.set_recorder(recorder_.get());
  }

  Result<void> hand_over() {
    const RankSteps steps = recorder_ == nullptr ? RankSteps{} : steps_of(*recorder_);
    passes_ = 0;
    DRAFTSCOPE_TRY(gather_steps(ranks_, steps));
    return {};
  }

  Backend& own_;
  Collective& ranks_;
  Outputs outputs_;
  std::unique_ptr<profiler::SpanRecorder> recorder_;  // none: nothing is recorded
  traces::StringId pass_name_;
  std::int64_t passes_ = 0;  // since the last steps were handed over
};

}  // namespace

Result<void> follow(Backend& own, Collective& ranks) {
  MessageStream messages(ranks);
  Follower follower(own, ranks);
  Message message;
  do {
    DRAFTSCOPE_TRY(messages.receive(message));
    DRAFTSCOPE_TRY(follower.obey(message));
  } while (message.command != Command::end);
  own.set_recorder(nullptr);
  return {};
}

}  // namespace draftscope::engine
