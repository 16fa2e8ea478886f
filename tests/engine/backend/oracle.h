// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// States what forward() computes, in fp64 and one row at a time, without a cache layout, kernels or threads.
// It rounds where the backend's contract says so (activations at products, K/V), so that only fp32 arithmetic
// is left to compare.

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "random_model.h"

namespace draftscope::engine::test {

class Oracle {
 public:
  Oracle(const Checkpoint& checkpoint, std::int32_t cache_rows);

  struct Result {
    std::vector<std::vector<Eigen::VectorXd>> hidden;  ///< [hidden_after][row]
    std::vector<Eigen::VectorXd> logits;               ///< [head row]
  };
  Result forward(const Batch& batch);

 private:
  using Heads = std::vector<Eigen::VectorXd>;
  struct CacheRow {
    std::int32_t position = 0;
    Heads keys, values;
  };

  [[nodiscard]] Eigen::VectorXd normalised(const Eigen::VectorXd& x, const TensorView& weight) const;
  [[nodiscard]] Eigen::VectorXd product(const TensorView& matrix, const TensorView& bias,
                                        const Eigen::VectorXd& x) const;
  /// Normalises each head, or as many values as the weight has. Returns `x` itself if there is no such norm.
  [[nodiscard]] Eigen::VectorXd normalised_parts(const Eigen::VectorXd& x, const TensorView& weight) const;
  void add(const Eigen::VectorXd& output, const TensorView& norm, Eigen::VectorXd& x) const;
  [[nodiscard]] double activated(double x, const LayerWeights& layer) const;
  [[nodiscard]] std::int32_t window_of(std::int32_t layer) const;
  /// Queries or keys, normalised and rotated in the architecture's order.
  [[nodiscard]] Heads turned(const Eigen::VectorXd& x, const TensorView& norm, std::int32_t position,
                             std::int32_t layer) const;
  [[nodiscard]] double query_scale(std::int32_t position) const;
  [[nodiscard]] Heads heads_of(const Eigen::VectorXd& x, std::int32_t position, std::int32_t layer,
                               bool rotated) const;
  [[nodiscard]] std::vector<std::int32_t> keys_of(const Batch& batch, std::int32_t row) const;
  [[nodiscard]] Eigen::VectorXd attend(std::int32_t layer, const Heads& queries, std::int32_t position,
                                       const std::vector<std::int32_t>& keys) const;

  const Checkpoint& checkpoint_;
  const speculation::ModelShape& shape_;
  DType dtype_;
  std::vector<std::vector<CacheRow>> cache_;  // [layer][row]
};

}  // namespace draftscope::engine::test
