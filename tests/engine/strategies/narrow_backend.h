// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Wraps a backend and reports that it takes passes of a few rows only, so that callers which ask for the
// width split their passes.

#include <draftscope/engine/backend.h>

namespace draftscope::engine {

class NarrowBackend final : public Backend {
 public:
  NarrowBackend(Backend& backend, std::int32_t rows) : backend_(backend), rows_(rows) {}
  void set_recorder(profiler::SpanRecorder* recorder) override { backend_.set_recorder(recorder); }
  const speculation::ModelShape& shape() const override { return backend_.shape(); }
  BackendDescription describe() const override { return backend_.describe(); }
  std::int32_t cache_rows() const override { return backend_.cache_rows(); }
  std::int32_t max_rows() const override { return rows_; }
  std::int32_t max_invariant_rows() const override { return rows_; }
  Result<void> forward(const Batch& batch, Outputs& outputs) override {
    return backend_.forward(batch, outputs);
  }
  Result<void> move_cache_rows(std::span<const CacheMove> moves) override {
    return backend_.move_cache_rows(moves);
  }

 private:
  Backend& backend_;
  std::int32_t rows_;
};

}  // namespace draftscope::engine
