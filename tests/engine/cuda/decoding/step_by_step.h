// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/engine/backend.h>

#include <memory>
#include <utility>

namespace draftscope::engine::test {

/// Wraps a backend and hides that it can run rounds by itself.
class StepByStep final : public Backend {
 public:
  explicit StepByStep(std::unique_ptr<Backend> backend) : backend_(std::move(backend)) {}
  void set_recorder(profiler::SpanRecorder* recorder) override { backend_->set_recorder(recorder); }
  const speculation::ModelShape& shape() const override { return backend_->shape(); }
  BackendDescription describe() const override { return backend_->describe(); }
  std::int32_t cache_rows() const override { return backend_->cache_rows(); }
  std::int32_t max_rows() const override { return backend_->max_rows(); }
  std::int32_t max_invariant_rows() const override { return backend_->max_invariant_rows(); }
  Result<void> prepare_draft_weights(speculation::WeightFormat format) override {
    return backend_->prepare_draft_weights(format);
  }
  Result<void> forward(const Batch& batch, Outputs& outputs) override {
    return backend_->forward(batch, outputs);
  }
  Result<void> move_cache_rows(std::span<const CacheMove> moves) override {
    return backend_->move_cache_rows(moves);
  }

 private:
  std::unique_ptr<Backend> backend_;
};

}  // namespace draftscope::engine::test
