// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A language model in which every state is a hash of everything it may attend to. It uses a K/V cache exactly
// as a transformer does. A stale, missing or misplaced cache row changes the hash and so the text: any error
// of decode() with rows, positions or rollback shows as a different output.

#include <draftscope/engine/backend.h>
#include <cstdint>
#include <vector>

namespace draftscope::engine {

class ToyBackend : public Backend {
 public:
  struct Options {
    std::int32_t vocab = 4;
    std::int32_t n_layers = 4;
    std::int32_t cache_rows = 64;
    std::int32_t max_rows = 16;
    std::uint32_t seed = 1;
    double agreement = 0.5;  ///< probability that the argmax of every exit is the same
  };
  explicit ToyBackend(const Options& options);

  void set_recorder(profiler::SpanRecorder* /*recorder*/) override {}
  const speculation::ModelShape& shape() const override { return shape_; }
  BackendDescription describe() const override { return {}; }
  std::int32_t cache_rows() const override { return options_.cache_rows; }
  std::int32_t max_rows() const override { return options_.max_rows; }
  std::int32_t max_invariant_rows() const override { return options_.max_rows; }
  Result<void> forward(const Batch& batch, Outputs& outputs) override;
  Result<void> move_cache_rows(std::span<const CacheMove> moves) override;

  std::int64_t forwards = 0;

 private:
  void head(std::uint32_t state, std::vector<float>& logits) const;

  Options options_;
  speculation::ModelShape shape_;
  std::vector<std::vector<std::uint32_t>> cache_;  // [layer][row], the state of the row at that layer
};

}  // namespace draftscope::engine
