// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Rejects batches and rounds that a model or this device can't run, before anything is launched.

#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <cstdint>

namespace draftscope::engine::cuda {

struct BackendLimits {
  std::int32_t vocab = 0;
  std::int32_t n_layers = 0;
  std::int32_t cache_rows = 0;
  std::int32_t positions = 0;       ///< Rows of the rotary tables.
  std::int32_t invariant_rows = 0;  ///< From Backend::max_invariant_rows().
};

/// Fails on a round that does not fit the model, the cache or the device's fixed sizes.
[[nodiscard]] Result<void> check_round(const ChainRound& round, const BackendLimits& limits);

/// Fails on a batch that cpu::check_batch() accepts but that does not fit this device's fixed sizes.
[[nodiscard]] Result<void> check_limits(const Batch& batch, const BackendLimits& limits);

}  // namespace draftscope::engine::cuda
