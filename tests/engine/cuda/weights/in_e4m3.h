// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A checkpoint as a file in fp8 holds it, made of a plain one.

#include <draftscope/engine/checkpoint.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "checkpoint/element_bits.h"
#include "cpu/model.h"
#include "e4m3.h"

namespace draftscope::engine::test {

/// The model with its layers' matrices as a file in fp8 with a scale an output has them.
class InE4m3 {
 public:
  explicit InE4m3(const Checkpoint& plain) : checkpoint_(plain) {
    const std::vector<float> values = e4m3_values();
    for (LayerWeights& layer : checkpoint_.weights.layers)
      for (TensorView* matrix : {&layer.q, &layer.k, &layer.v, &layer.o, &layer.gate, &layer.up, &layer.down})
        pack(*matrix, values);
  }
  [[nodiscard]] Checkpoint& checkpoint() { return checkpoint_; }
  [[nodiscard]] std::vector<std::uint8_t>& last_codes() { return matrices_.back()->codes; }

 private:
  struct Matrix {
    std::vector<std::uint8_t> codes;
    std::vector<float> scales;
  };

  void pack(TensorView& tensor, const std::vector<float>& values) {
    auto matrix = std::make_unique<Matrix>();
    std::vector<float> row(static_cast<std::size_t>(tensor.columns));
    for (std::int64_t r = 0; r < tensor.rows; ++r) {
      copy_row(tensor, r, row.data());
      float largest = 0.0F;
      for (const float x : row) largest = std::max(largest, std::abs(x));
      const float scale = largest > 0.0F ? largest / values.back() : 1.0F;
      matrix->scales.push_back(scale);
      for (const float x : row) matrix->codes.push_back(nearest_e4m3(x / scale, values));
    }
    tensor.data = reinterpret_cast<const std::byte*>(matrix->codes.data());
    tensor.scales = matrix->scales.data();
    matrices_.push_back(std::move(matrix));
  }

  Checkpoint checkpoint_;
  std::vector<std::unique_ptr<Matrix>> matrices_;
};

}  // namespace draftscope::engine::test
