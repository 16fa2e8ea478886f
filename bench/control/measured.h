// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A request's time, taken apart from outside: a backend and a strategy that pass everything on and look
// at the clock on the way. What a strategy's calls take beside the backend's is the strategy's own.

#include <draftscope/engine/backend.h>
#include <draftscope/engine/decode.h>
#include <draftscope/engine/strategy.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace draftscope::bench {

/// Times of all backends that share it.
struct ModelTime {
  std::int64_t ns = 0;
};

class TimedBackend final : public engine::Backend {
 public:
  TimedBackend(std::shared_ptr<engine::Backend> backend, std::shared_ptr<ModelTime> time)
      : backend_(std::move(backend)), time_(std::move(time)) {}

  void set_recorder(profiler::SpanRecorder* recorder) override { backend_->set_recorder(recorder); }
  [[nodiscard]] const speculation::ModelShape& shape() const override { return backend_->shape(); }
  [[nodiscard]] engine::BackendDescription describe() const override { return backend_->describe(); }
  [[nodiscard]] std::int32_t cache_rows() const override { return backend_->cache_rows(); }
  [[nodiscard]] std::int32_t max_rows() const override { return backend_->max_rows(); }
  [[nodiscard]] std::int32_t max_invariant_rows() const override { return backend_->max_invariant_rows(); }
  [[nodiscard]] bool has_chain_rounds() const override { return backend_->has_chain_rounds(); }
  [[nodiscard]] Result<void> prepare_draft_weights(speculation::WeightFormat format) override {
    return backend_->prepare_draft_weights(format);
  }
  [[nodiscard]] Result<void> forward(const engine::Batch& batch, engine::Outputs& outputs) override;
  [[nodiscard]] Result<void> chain_round(const engine::ChainRound& round,
                                         engine::ChainRoundOutputs& outputs) override;
  [[nodiscard]] Result<void> move_cache_rows(std::span<const engine::CacheMove> moves) override;

 private:
  std::shared_ptr<engine::Backend> backend_;
  std::shared_ptr<ModelTime> time_;
};

/// One optimise() of a strategy.
struct Optimisation {
  bool after_prefill = false;
  std::int64_t ns = 0;
  std::int64_t model_ns = 0;  ///< Share of `ns` in the backend.
};

/// One request after its prefill. Times are ns.
struct Measurement {
  std::int64_t rounds = 0;
  std::int64_t tokens = 0;       ///< Tokens that the rounds emitted.
  std::int64_t decoding_ns = 0;  ///< From the first token to the end.
  std::int64_t rounds_ns = 0;
  std::int64_t model_ns = 0;     ///< Share of `decoding_ns` in the backend.
  std::int64_t strategy_ns = 0;  ///< Share of `decoding_ns` in the strategy's functions, without the backend.
  std::int64_t optimise_ns = 0;
  std::vector<std::int64_t> verifications_ns;  ///< One for each round that drafted.
  std::vector<Optimisation> optimisations;
};

/// `after_round` hears of the tokens emitted so far.
struct MeasuredRequest {
  engine::DecodeRequest request;
  std::function<void(std::int64_t tokens)> after_round;
};

/// Decodes; `time` is the one that `backend` and the strategy's own backends add to.
[[nodiscard]] Result<Measurement> measure(engine::Backend& backend, engine::Strategy& strategy,
                                          const std::shared_ptr<ModelTime>& time,
                                          const MeasuredRequest& measured);

}  // namespace draftscope::bench
