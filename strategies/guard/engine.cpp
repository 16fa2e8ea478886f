// SPDX-License-Identifier: GPL-3.0-or-later
// guard=: stops any strategy while it is slower than vanilla decoding (rule.h).
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "strategies/engine.h"
#include "strategies/guard/rule.h"

namespace draftscope::engine {

namespace {

using speculation::SpeedGuard;

class Guarded final : public Strategy {
 public:
  Guarded(std::unique_ptr<Strategy> inner, double min_speed, std::int32_t n_layers)
      : inner_(std::move(inner)), guard_(min_speed) {
    if (inner_->next_token_layer() != nullptr) states_.push_back(n_layers);
  }

  std::vector<speculation::WeightFormat> draft_weights(const BackendDescription& target) override {
    return inner_->draft_weights(target);
  }
  const Backend* own_backend() const override { return inner_->own_backend(); }
  DraftModel* next_token_layer() override { return inner_->next_token_layer(); }

  void begin_request(const RequestView& request) override {
    inner_->begin_request(request);
    guard_.begin_request();
    began_ns_ = -1;
    // Searches after the prefill belong to the strategy.
    kind_ = guard_.is_stopped() ? SpeedGuard::Round::vanilla : SpeedGuard::Round::strategy;
  }

  RoundPlan plan(const RoundView& round) override {
    if (began_ns_ >= 0) guard_.end_round(kind_, round.now_ns - began_ns_, emitted_);
    began_ns_ = round.now_ns;
    kind_ = guard_.next();
    if (kind_ != SpeedGuard::Round::strategy) return {.origin = "guard", .states = states_};
    return inner_->plan(round);
  }

  void observe(const RoundOutcome& outcome, DecisionLog* log) override {
    emitted_ = static_cast<std::int32_t>(outcome.emitted.size());
    if (guard_.has_turned() && log != nullptr)
      log->add({.kind = "guard",
                .score = guard_.balance(),
                .has_score = true,
                .adopted = !guard_.is_stopped(),
                .detail = [&] { return detail(); }});
    if (kind_ == SpeedGuard::Round::strategy) inner_->observe(outcome, log);
  }

  bool wants_to_optimise() const override {
    return kind_ == SpeedGuard::Round::strategy && inner_->wants_to_optimise();
  }
  Result<void> optimise(const RoundView& view, Probe& probe, DecisionLog* log) override {
    return inner_->optimise(view, probe, log);
  }

 private:
  [[nodiscard]] std::string detail() const {
    if (!guard_.is_stopped())
      return fmt::format(
          R"({{"state":"on","reason":"vanilla rounds have earned a trial","may_lose":{:.3f}}})",
          guard_.balance());
    return fmt::format(
        R"({{"state":"off","reason":"slower than vanilla decoding by more than it may be","may_lose":{:.3f},"rounds":{}}})",
        guard_.balance(), guard_.interval());
  }

  std::unique_ptr<Strategy> inner_;
  SpeedGuard guard_;
  std::vector<std::int32_t> states_;  // boundaries whose states a next-token layer reads
  SpeedGuard::Round kind_ = SpeedGuard::Round::strategy;
  std::int64_t began_ns_ = -1;  // begin of the current round; -1 = the request has had none
  std::int32_t emitted_ = 0;
};

}  // namespace

std::unique_ptr<Strategy> make_guarded(std::unique_ptr<Strategy> strategy, double min_speed,
                                       std::int32_t n_layers) {
  return std::make_unique<Guarded>(std::move(strategy), min_speed, n_layers);
}

}  // namespace draftscope::engine
