// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The tensors that one rank multiplies: all of a model, or its part of one that several ranks share.
//
//   q, k, v     outputs of its heads: queries with their K/V head
//   gate, up    its outputs
//   o, down     its columns, the ones that its heads and outputs feed, as partial sums that all ranks add up
//   head        its blocks of the vocabulary
//   the rest    whole: norms, and the embedding, of which rows are read
//
// Partial sums: columns are cut into eight parts where they can be, each summed by itself and all added as
// neighbours (Collective), so that two, four and eight ranks get the same bits; otherwise into one part a
// rank. (But for matrices of fewer than 16 outputs a rank, which processors with matrix tiles sum in another
// order.)

#include <draftscope/base/result.h>
#include <draftscope/engine/checkpoint.h>
#include <cstdint>
#include <vector>

#include "memory.h"

namespace draftscope::engine::cpu {

/// A rank's place among those that share a model.
struct RankPlace {
  std::int32_t rank = 0;
  std::int32_t size = 1;
};

/// Tokens [first, first + count) of the vocabulary.
struct TokenRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Those whose logits a rank computes: whole blocks of the head, as evenly as they go.
[[nodiscard]] TokenRange head_tokens(std::int64_t vocab, RankPlace place);

struct RankTensors {
  /// The rank's heads, K/V heads and d_ff; the model's in all else.
  speculation::ModelShape shape;
  /// Without o and down. Their biases are rank 0's, which adds them to its first partial sum.
  Weights weights;
  struct Parts {
    std::vector<TensorView> o, down;  ///< [d_model][columns of a part], one behind another in memory
  };
  std::vector<Parts> layers;
  TokenRange tokens;  ///< that the head has rows for
  Memory memory;      ///< what the parts of o and down point into, where they are parts
};

/// All of a model. The checkpoint must outlive it.
[[nodiscard]] RankTensors whole_tensors(const Checkpoint& checkpoint);

/// A rank's part; shares its bytes with the checkpoint, which must outlive it, but for o and down. `granule`:
/// what columns of a part must be a multiple of, beside whole blocks. Errors: the heads, d_ff or a matrix's
/// blocks can't be divided by so many ranks, memory is short.
[[nodiscard]] Result<RankTensors> divided_tensors(const Checkpoint& checkpoint, RankPlace place,
                                                  std::int64_t granule = 1);

}  // namespace draftscope::engine::cpu
