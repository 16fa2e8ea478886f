// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Attention by itself: one layer's K/V and the queries of some rows, made up, on a device of the tests; and
// what attention of them must come to.

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

/// Keys of rows, as the host tells them to the device. The queries of row i are those made up for `query`[i].
struct AttentionRows {
  std::vector<cuda::KeyRun> keys;
  std::vector<std::int32_t> extra;
  std::vector<int> query;
  std::int32_t shared_keys = 0;

  [[nodiscard]] int size() const { return static_cast<int>(keys.size()); }
  /// The keys of one row, which it then has alone.
  [[nodiscard]] AttentionRows only(int row) const;
};

inline constexpr int n_made_up_queries = 640;  ///< different rows of queries

class AttentionDevice {
 public:
  /// K/V and queries from `seed`.
  AttentionDevice(const AttentionShape& shape, std::uint64_t seed, std::unique_ptr<cuda::Gpu> gpu);
  ~AttentionDevice();

  /// Bits of what rows attend to, [row][head][head_dim], by launches of up to max_attention_rows of the
  /// kernel of decode passes. Fails the test on an error of the device, and where a launch leaves arrivals.
  [[nodiscard]] std::vector<std::uint16_t> decode(const AttentionRows& rows);

  /// Attention by the kernel of wide passes, of rows whose keys are ranges.
  [[nodiscard]] std::vector<std::uint16_t> prefill(const AttentionRows& rows);

  /// The result that both must come to, in double precision.
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
  int launches_ = 0;  ///< launches of decode attention
};

}  // namespace draftscope::engine::test
