// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What a forward pass of one of several ranks needs beside its own part of the weights.

#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <draftscope/engine/ranks/collective.h>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cpu/kernels/kernels.h"

namespace draftscope::engine::cpu {

/// Used by the first thread of the team alone. Buffers are kept, so that decoding allocates nothing.
struct RankWork {
  Collective& ranks;
  std::optional<Error> failure = {};  ///< of the pass: the first operation that failed
  std::vector<std::byte> own = {};    ///< of gather()
  std::vector<std::byte> all = {};

  /// Notes a failure. A pass goes on after one, amid threads that wait for each other, and calls no other
  /// rank any more.
  void add(std::span<float> values) {
    if (!failure) note(ranks.all_reduce(values));
  }
  void note(Result<void> done) {
    if (!done) failure = std::move(done).error();
  }
};

/// A rank's knowledge of the head's rows: of its own blocks of the vocabulary before gather_head(), of all on
/// rank 0 after it.
struct HeadRows {
  std::int32_t rows = 0;
  std::int32_t vocab = 0;
  std::span<BlockSoftmax> blocks;  ///< [rows][blocks]; empty if no best tokens are wanted
  std::span<TopToken> top;         ///< [rows][k] likewise, token −1 beyond a rank's last
  std::span<float> logits;         ///< [rows][vocab] if wanted
};

/// Brings every rank's to rank 0.
void gather_head(RankWork& work, const HeadRows& head);

}  // namespace draftscope::engine::cpu
