// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A language model whose every state is a hash of everything it may attend to, through a K/V cache that is
// used exactly as a transformer uses one. A stale, missing or misplaced cache row changes the hash, hence the
// text: whatever decode() does wrong with rows, positions or rollback shows as a different output.

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
    double agreement = 0.5;  ///< how often the argmax of every exit is the same
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
  std::vector<std::vector<std::uint32_t>> cache_;  // [layer][row]: the row's state at that layer
};

}  // namespace draftscope::engine
