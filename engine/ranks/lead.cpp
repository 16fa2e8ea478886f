// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/to_size.h>
#include <draftscope/engine/ranks/lead_and_follow.h>

#include <utility>

#include "agreement.h"
#include "message.h"
#include "steps.h"

namespace draftscope::engine {
namespace {

class Lead final : public LeadingBackend {
 public:
  Lead(std::unique_ptr<Backend> own, Collective& ranks)
      : own_(std::move(own)), ranks_(ranks), messages_(ranks) {}
  Lead(const Lead&) = delete;
  Lead& operator=(const Lead&) = delete;
  ~Lead() override {
    // Where a rank has ended there is nobody to tell.
    if (messages_.send(Command::end)) ranks_.conclude();
  }

  void set_recorder(profiler::SpanRecorder* recorder) override {
    own_->set_recorder(recorder);
    recorder_ = recorder;
    passes_.clear();
    // A failure is the next pass's, too.
    static_cast<void>(
        messages_.send_level(recorder == nullptr ? profiler::Level::off : recorder->level()).has_value());
  }
  const speculation::ModelShape& shape() const override { return own_->shape(); }
  BackendDescription describe() const override { return own_->describe(); }
  std::int32_t cache_rows() const override { return own_->cache_rows(); }
  std::int32_t max_rows() const override { return own_->max_rows(); }
  std::int32_t max_invariant_rows() const override { return own_->max_invariant_rows(); }
  std::int32_t max_verified_rows() const override { return own_->max_verified_rows(); }

  Result<void> hold_weights(speculation::WeightFormat format) override {
    DRAFTSCOPE_TRY(messages_.send_weights(format));
    return agree_to_go_on(ranks_, own_->hold_weights(format));
  }

  Result<void> forward(const Batch& batch, Outputs& outputs) override {
    if (recorder_ != nullptr && recorder_->level() != profiler::Level::off)
      passes_.push_back(recorder_->innermost());
    DRAFTSCOPE_TRY(messages_.send_forward(batch));
    return own_->forward(batch, outputs);
  }

  Result<void> move_cache_rows(std::span<const CacheMove> moves) override {
    if (moves.empty()) return {};
    DRAFTSCOPE_TRY(messages_.send_moves(moves));
    return own_->move_cache_rows(moves);
  }

  std::optional<std::string> non_finite_weight(std::int32_t layer) const override {
    return own_->non_finite_weight(layer);
  }

  Result<TakenSteps> take_steps() override {
    DRAFTSCOPE_TRY(messages_.send(Command::take_steps));
    DRAFTSCOPE_TRY_ASSIGN(std::vector<RankSteps> steps, gather_steps(ranks_, {}));
    // A pass that was refused had no steps; one that rank 0 does not know of is another build's.
    const auto passes = static_cast<std::int32_t>(passes_.size());
    for (const RankSteps& rank : steps)
      for (const RankSteps::Step& step : rank.steps)
        if (step.pass < 0 || step.pass >= passes || step.name < 0 || to_size(step.name) >= rank.names.size())
          return fail(
              "ranks: found a step of pass {} with name {}, expected passes below {} and names below {}",
              step.pass, step.name, passes, rank.names.size());
    return TakenSteps{std::exchange(passes_, {}), std::move(steps)};
  }

 private:
  std::unique_ptr<Backend> own_;
  Collective& ranks_;
  MessageStream messages_;
  profiler::SpanRecorder* recorder_ = nullptr;
  std::vector<traces::Span> passes_;  // since the last steps were taken
};

}  // namespace

Result<void> agree_to_begin(Collective& ranks, const Result<void>& own, std::string_view what) {
  DRAFTSCOPE_TRY(agree(ranks, own));
  return expect_same(ranks, "model", what);
}

std::unique_ptr<LeadingBackend> lead(std::unique_ptr<Backend> own, Collective& ranks) {
  return std::make_unique<Lead>(std::move(own), ranks);
}

}  // namespace draftscope::engine
