// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A model whose matrices are e4m3 with a scale for blocks of outputs and inputs, as folders of fp8 have them,
// and the same numbers widened.

#include <draftscope/engine/checkpoint.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "checkpoint/quantised/quantised_matrix.h"
#include "random_model.h"

namespace draftscope::engine::test {

/// How a folder packs.
struct Fp8BlockForm {
  ScaleBlock block{128, 128};
  DType scales = DType::f32;
  bool packs_head = false;
};

/// Random codes (all that are numbers) and scales (of either sign and all bits, zeros and tiny ones among
/// them) in the place of a plain model's layers, of which shapes, type and all else stay.
class InFp8Block {
 public:
  InFp8Block(const Checkpoint& plain, const Fp8BlockForm& form, Random& random);

  [[nodiscard]] Checkpoint& packed() { return packed_; }
  [[nodiscard]] const Checkpoint& widened() const { return widened_; }
  /// Codes of the matrix that was packed last.
  [[nodiscard]] std::byte* last_codes() { return last_codes_; }

 private:
  void pack(TensorView& packed, TensorView& widened, const Fp8BlockForm& form, Random& random);
  /// Memory that stays where it is.
  std::byte* keep(std::int64_t bytes);

  Checkpoint packed_;
  Checkpoint widened_;
  std::byte* last_codes_ = nullptr;
  std::deque<QuantisedMatrix> matrices_;
  std::vector<std::unique_ptr<std::vector<std::byte>>> memory_;
};

}  // namespace draftscope::engine::test
