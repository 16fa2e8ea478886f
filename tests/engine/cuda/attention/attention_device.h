// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Attention in isolation: one layer's random K/V and the queries of some rows on a device of the tests, and
// the expected results.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cuda/gpu.h"

namespace draftscope::engine::test {

struct AttentionShape {
  int head_dim = 64;
  int n_kv_heads = 1;
  int group = 4;
  int cache_rows = 256;
  bool is_f16 = false;

  [[nodiscard]] int n_heads() const { return n_kv_heads * group; }
};

/// Keys of rows, as the host passes them to the device. Row i uses the random queries with index `query`[i].
struct AttentionRows {
  std::vector<cuda::KeyRun> keys;
  std::vector<std::int32_t> extra;
  std::vector<int> query;
  std::int32_t shared_keys = 0;

  [[nodiscard]] int size() const { return static_cast<int>(keys.size()); }
  /// The keys of one row, as the only row.
  [[nodiscard]] AttentionRows only(int row) const;
};

inline constexpr int n_made_up_queries = 640;  ///< Number of different rows of queries.

class AttentionDevice {
 public:
  /// Draws K/V and queries from `seed`.
  AttentionDevice(const AttentionShape& shape, std::uint64_t seed, std::unique_ptr<cuda::Gpu> gpu);
  ~AttentionDevice();

  /// Bits of the attention of rows, [row][head][head_dim], by launches of the decode kernel with up to
  /// max_attention_rows. Fails the test on an error of the device, and if a launch leaves arrivals.
  [[nodiscard]] std::vector<std::uint16_t> decode(const AttentionRows& rows);

  /// Attention by the kernel of wide passes, for rows whose keys are ranges.
  [[nodiscard]] std::vector<std::uint16_t> prefill(const AttentionRows& rows);

  /// The expected result of both kernels, in double precision.
  [[nodiscard]] std::vector<double> expected(const AttentionRows& rows) const;

  [[nodiscard]] double value(std::uint16_t bits) const;
  /// Largest magnitude among the values of K/V.
  [[nodiscard]] double largest() const;

 private:
  struct Memory;
  std::vector<std::uint16_t> run(const AttentionRows& rows, bool is_prefill);
  void launch(const cuda::PassParams& params, int rows, bool is_prefill);

  AttentionShape shape_;
  std::unique_ptr<cuda::Gpu> gpu_;
  std::unique_ptr<Memory> memory_;
  int launches_ = 0;  ///< Launches of decode attention.
};

}  // namespace draftscope::engine::test
