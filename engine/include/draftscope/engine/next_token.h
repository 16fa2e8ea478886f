// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Inputs of a next-token layer (multi-token prediction, MTP). The layer predicts the token at position i + 2
// from the target's state at i and the token at i + 1. Both are normalised and projected to one row:
//
//   input(i) = P · [ norm_s(state(i)), norm_t(embedding(token(i + 1))) ]
//
// Where the layer goes on from its own prediction, its own state takes the place of the target's. A state is
// the residual stream after the last layer, normalised by the final norm of the model that made it.
//
// Source: DeepSeek-V3, arXiv:2412.19437, section 2.2, equations 21 to 23; the order of the halves and the
// names are those of MiMo-7B (Xiaomi 2025, arXiv:2505.07608).

#include <draftscope/base/result.h>
#include <draftscope/engine/checkpoint.h>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace draftscope::engine {

/// Model that made a state.
enum class StateFrom : std::uint8_t { target, next_token_layer };

/// Joins tokens and states on the host, in fp32. Immutable; several threads may use it at once.
class StateJoin {
 public:
  /// Copies what it needs of the target and of its layer (open_next_token_layer()). Errors: a layer without
  /// Weights::join.
  [[nodiscard]] static Result<StateJoin> make(const Checkpoint& target, const Checkpoint& layer);

  /// Writes one input per token to `inputs`, [tokens][d_model]. `states` are [tokens][d_model], before the
  /// final norm. Token ids are below the vocabulary.
  void join(std::span<const std::int32_t> tokens, std::span<const float> states, StateFrom from,
            std::vector<float>& inputs) const;

 private:
  struct Tables;
  explicit StateJoin(std::shared_ptr<const Tables> tables) : tables_(std::move(tables)) {}

  std::shared_ptr<const Tables> tables_;
};

}  // namespace draftscope::engine
