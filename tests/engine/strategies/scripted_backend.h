// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A backend whose answers a test writes down: which token a draft or the target ranks best after a position,
// and how sure it is. It serves greedy decoding only, and has no memory.

#include <draftscope/engine/backend.h>
#include <algorithm>
#include <functional>
#include <utility>

namespace draftscope::engine {

struct Answer {
  std::int32_t token = 0;
  double confidence = 1.0;
};

class ScriptedBackend final : public Backend {
 public:
  static constexpr std::int32_t vocab = 16;
  /// Gives the answer of the draft (a masked pass) or the target after a position.
  using Script = std::function<Answer(std::int32_t position, bool draft)>;
  ScriptedBackend(Script script, std::int32_t cache_rows) : script_(std::move(script)), rows_(cache_rows) {
    shape_.n_layers = 4;
    shape_.vocab = vocab;
  }

  void set_recorder(profiler::SpanRecorder* /*recorder*/) override {}
  const speculation::ModelShape& shape() const override { return shape_; }
  BackendDescription describe() const override { return {}; }
  std::int32_t cache_rows() const override { return rows_; }
  std::int32_t max_rows() const override { return 64; }
  std::int32_t max_invariant_rows() const override { return 64; }
  Result<void> move_cache_rows(std::span<const CacheMove> /*moves*/) override { return {}; }
  Result<void> forward(const Batch& batch, Outputs& outputs) override {
    outputs.top.clear();
    if (!batch.wanted.head) return {};
    const auto first = static_cast<std::size_t>(batch.wanted.head_from);
    for (const Row& row : batch.rows.subspan(first)) {
      const Answer answer = script_(row.position, batch.mask != nullptr);
      for (std::int32_t k = 0; k < std::min(batch.wanted.top_k, vocab); ++k)
        outputs.top.push_back({(answer.token + k) % vocab, static_cast<float>(-k),
                               static_cast<float>(k == 0 ? answer.confidence : 0.0)});
    }
    return {};
  }

 private:
  Script script_;
  std::int32_t rows_;
  speculation::ModelShape shape_;
};

}  // namespace draftscope::engine
