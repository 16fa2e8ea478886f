// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The formats that matrices of a file keep on the device, as rows of one table that the tests iterate over.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "packed_model.h"

namespace draftscope::engine::test {

/// One way in which a file uses a format.
struct StoredVariant {
  std::string name;
  DType dtype = DType::bf16;  ///< Type of the tensors that are not packed.
  std::function<PackedModel(const Checkpoint& plain, Random&)> pack;
  int rounds = 1;       ///< Number of random shapes.
  int deep_rounds = 1;  ///< Number of random depths.
};

struct StoredFormat {
  std::string name;
  std::int32_t depth_step = 32;  ///< The depths of its matrices are multiples of this.
  std::int32_t vocab_step = 1;   ///< The outputs of a packed head are multiples of this.
  std::vector<StoredVariant> variants;
  std::vector<std::size_t> some;  ///< Variants that the long tests take in turn.
  std::int32_t max_rows = 64;     ///< Maximum rows of a random pass.
  std::int32_t max_family_rows = 64;
  std::size_t strategy_step = 1;  ///< Texts are decoded under every strategy_step-th strategy.
  std::int32_t text_tokens = 8;
  double device_bits = 0.0;  ///< Bits per weight in device memory.
};

inline void PrintTo(const StoredFormat& format, std::ostream* out) {
  *out << format.name;
}

/// Returns q8_0, q4_0, fp8_block, int4 and Q4_K.
[[nodiscard]] std::vector<StoredFormat> stored_formats();

/// A random shape that the kernels of a format take.
[[nodiscard]] speculation::ModelShape random_shape_of(const StoredFormat& format, Random& random);

}  // namespace draftscope::engine::test
