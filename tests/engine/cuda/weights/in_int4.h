// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A model whose matrices are 4-bit integers as AWQ's and GPTQ's folders have them, and the same numbers
// widened.

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
struct Int4Form {
  PackedForm form = PackedForm::awq;
  std::int64_t group = 128;  ///< 0 = all inputs
  DType scales = DType::f16;
  std::int32_t zero_offset = 0;
  bool packs_head = false;
};

/// Random numbers, zero points (each of the sixteen) and scales (of either sign, zeros and subnormals among
/// them) in the place of a plain model's layers, of which shapes, type and all else stay.
class InInt4 {
 public:
  InInt4(const Checkpoint& plain, const Int4Form& form, Random& random);

  [[nodiscard]] Checkpoint& packed() { return packed_; }
  [[nodiscard]] const Checkpoint& widened() const { return widened_; }

 private:
  void pack(TensorView& packed, TensorView& widened, const Int4Form& form, Random& random);
  /// Memory that stays where it is.
  std::byte* keep(std::size_t bytes);

  Checkpoint packed_;
  Checkpoint widened_;
  std::deque<QuantisedMatrix> matrices_;
  std::vector<std::unique_ptr<std::vector<std::byte>>> memory_;
};

}  // namespace draftscope::engine::test
