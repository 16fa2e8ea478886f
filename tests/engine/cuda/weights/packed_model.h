// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Models whose matrices are packed as in files, in every format that a device multiplies without widening,
// and the same numbers widened. Each is made from a plain model, and keeps its shapes, type and other
// tensors.

#include <draftscope/engine/checkpoint.h>
#include <draftscope/speculation/weight_format.h>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "checkpoint/quantised/quantised_matrix.h"
#include "random_model.h"

namespace draftscope::engine::test {

/// The matrices of a layer.
inline constexpr TensorView LayerWeights::*layer_matrices[] = {
    &LayerWeights::q,    &LayerWeights::k,  &LayerWeights::v,   &LayerWeights::o,
    &LayerWeights::gate, &LayerWeights::up, &LayerWeights::down};

class PackedModel {
 public:
  explicit PackedModel(const Checkpoint& plain) : packed_(plain), widened_(plain) {}
  PackedModel(PackedModel&&) = default;
  PackedModel& operator=(PackedModel&&) = default;
  PackedModel(const PackedModel&) = delete;
  PackedModel& operator=(const PackedModel&) = delete;
  ~PackedModel() = default;

  [[nodiscard]] Checkpoint& packed() { return packed_; }
  [[nodiscard]] Checkpoint& widened() { return widened_; }
  /// The codes of the matrix that was packed last: the last layer's down, or the head.
  [[nodiscard]] std::byte* last_codes() { return last_codes_; }

  /// Calls pack(the packed model's tensor, the widened model's) for each matrix of the layers.
  template <typename Pack>
  void for_each_layer_matrix(Pack&& pack) {
    for (std::size_t i = 0; i < packed_.weights.layers.size(); ++i)
      for (TensorView LayerWeights::*const matrix : layer_matrices)
        pack(packed_.weights.layers[i].*matrix, widened_.weights.layers[i].*matrix);
  }
  /// Allocates zeros, which stay in place as long as the model exists.
  std::byte* allocate(std::int64_t bytes) {
    return memory_.emplace_back(static_cast<std::size_t>(bytes)).data();
  }
  std::byte* keep(std::vector<std::byte> bytes) { return memory_.emplace_back(std::move(bytes)).data(); }
  /// Gives a tensor the matrix that its codes belong to.
  void set_quantised(TensorView& tensor, const QuantisedMatrix& matrix);
  void set_codes(TensorView& tensor, std::byte* codes) { tensor.data = last_codes_ = codes; }

 private:
  Checkpoint packed_;
  Checkpoint widened_;
  std::byte* last_codes_ = nullptr;
  std::deque<QuantisedMatrix> matrices_;
  std::deque<std::vector<std::byte>> memory_;
};

/// Packs blocks of a GGUF file, q8_0 or q4_0: the layers' matrices, and the head if that is not the
/// embedding, rounded by the CPU backend's quantiser. Widths must be multiples of the format's block.
[[nodiscard]] PackedModel in_blocks(const Checkpoint& plain, speculation::WeightFormat format);

/// Packs random blocks of a GGUF file's Q4_K. They have every scale and minimum of 6 bits, and multiples of
/// either sign, including zeros and subnormals. Depths are multiples of 256. A share `plain_share` of the
/// matrices, gate and up together, stay plain, but not all.
[[nodiscard]] PackedModel in_q4_k(const Checkpoint& plain, Random& random, double plain_share = 0.0);

/// How a folder of AWQ or GPTQ packs.
struct Int4Form {
  PackedForm form = PackedForm::awq;
  std::int64_t group = 128;  ///< 0 = all inputs
  DType scales = DType::f16;
  std::int32_t zero_offset = 0;
  bool packs_head = false;
};

/// Packs 4-bit integers: random numbers, zero points (all sixteen) and scales (of either sign, including
/// zeros and subnormals).
[[nodiscard]] PackedModel in_int4(const Checkpoint& plain, const Int4Form& form, Random& random);

/// How a folder of fp8 with scales per block packs.
struct Fp8BlockForm {
  ScaleBlock block{128, 128};
  DType scales = DType::f32;
  bool packs_head = false;
};

/// Packs e4m3 with a scale for each block of outputs and inputs. Codes are random, except for NaN; scales are
/// random with either sign and all bits, including zeros and tiny ones.
[[nodiscard]] PackedModel in_fp8_block(const Checkpoint& plain, const Fp8BlockForm& form, Random& random);

/// Packs e4m3 with a scale for each output, rounded from the plain model, which is also widened().
[[nodiscard]] PackedModel in_e4m3(const Checkpoint& plain);

}  // namespace draftscope::engine::test
