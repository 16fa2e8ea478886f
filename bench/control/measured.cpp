// SPDX-License-Identifier: GPL-3.0-or-later
#include "measured.h"

#include <draftscope/base/clock.h>

#include <algorithm>
#include <utility>

namespace draftscope::bench {

namespace {

/// Adds its life to a sum.
class Lap {
 public:
  explicit Lap(std::int64_t& sum) : sum_(sum), start_ns_(now_ns()) {}
  Lap(const Lap&) = delete;
  Lap& operator=(const Lap&) = delete;
  ~Lap() { sum_ += now_ns() - start_ns_; }

 private:
  std::int64_t& sum_;
  std::int64_t start_ns_;
};

class TimedStrategy final : public engine::Strategy {
 public:
  TimedStrategy(engine::Strategy& strategy, const ModelTime& time, Measurement& sums)
      : strategy_(strategy), time_(time), sums_(sums) {}

  void begin_request(const engine::RequestView& request) override { strategy_.begin_request(request); }
  engine::RoundPlan plan(const engine::RoundView& round) override {
    const Lap lap(sums_.strategy_ns);
    return strategy_.plan(round);
  }
  void observe(const engine::RoundOutcome& outcome, engine::DecisionLog* log) override {
    const Lap lap(sums_.strategy_ns);
    strategy_.observe(outcome, log);
  }
  bool wants_to_optimise() const override { return strategy_.wants_to_optimise(); }
  Result<void> optimise(const engine::RoundView& view, engine::Probe& probe,
                        engine::DecisionLog* log) override {
    Optimisation one{.after_prefill = view.index < 0, .model_ns = -time_.ns};
    {
      const Lap lap(one.ns);
      DRAFTSCOPE_TRY(strategy_.optimise(view, probe, log));
    }
    one.model_ns += time_.ns;
    sums_.optimise_ns += one.ns;
    sums_.strategy_ns += one.ns - one.model_ns;
    sums_.optimisations.push_back(one);
    return {};
  }

 private:
  engine::Strategy& strategy_;
  const ModelTime& time_;
  Measurement& sums_;
};

class RoundListener final : public engine::DecodeListener {
 public:
  RoundListener(const ModelTime& time, Measurement& sums,
                const std::function<void(std::int64_t)>& after_round)
      : time_(time), sums_(sums), after_round_(after_round) {}

  void on_first_token(std::int32_t /*token*/) override { sums_.model_ns = -time_.ns; }
  void on_round(const engine::RoundReport& report) override {
    const traces::Round& round = report.round;
    ++sums_.rounds;
    sums_.tokens += round.emitted;
    sums_.rounds_ns += round.end_ns - round.start_ns;
    if (round.drafted > 0) sums_.verifications_ns.push_back(round.verify_ns);
    if (after_round_) after_round_(sums_.tokens);
  }

 private:
  const ModelTime& time_;
  Measurement& sums_;
  const std::function<void(std::int64_t)>& after_round_;
};

}  // namespace

Result<void> TimedBackend::forward(const engine::Batch& batch, engine::Outputs& outputs) {
  const Lap lap(time_->ns);
  return backend_->forward(batch, outputs);
}

Result<void> TimedBackend::chain_round(const engine::ChainRound& round, engine::ChainRoundOutputs& outputs) {
  const Lap lap(time_->ns);
  return backend_->chain_round(round, outputs);
}

Result<void> TimedBackend::move_cache_rows(std::span<const engine::CacheMove> moves) {
  const Lap lap(time_->ns);
  return backend_->move_cache_rows(moves);
}

Result<Measurement> measure(engine::Backend& backend, engine::Strategy& strategy,
                            const std::shared_ptr<ModelTime>& time, const MeasuredRequest& measured) {
  Measurement sums;
  TimedStrategy timed(strategy, *time, sums);
  RoundListener listener(*time, sums, measured.after_round);
  engine::SeededChooser chooser(0, 0);
  DRAFTSCOPE_TRY_ASSIGN(const engine::DecodeResult result,
                        engine::decode(backend, timed, measured.request, chooser, listener));
  if (sums.rounds == 0) return fail("found no rounds, expected at least one: more tokens than one");
  sums.model_ns += time->ns;
  sums.decoding_ns = result.end_ns - result.first_token_ns;
  return sums;
}

}  // namespace draftscope::bench
