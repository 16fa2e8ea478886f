// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The types of tensors in GGUF files, one table row per type. A row of a tensor is a whole number of blocks.
// To add a type, add a struct (its layout in the file) and a row to block_formats.cpp.

#include <draftscope/engine/checkpoint.h>
#include <draftscope/speculation/weight_format.h>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "formats/packed_layout.h"

namespace draftscope::engine::gguf {

struct BlockFormat {
  std::uint32_t id = 0;  ///< number of the type in files
  std::string_view name;
  std::uint32_t weights = 0;  ///< weights per block; 0 = only the type's name is known
  std::uint32_t bytes = 0;    ///< bytes per block
  /// Widens `blocks` blocks to fp32: weights · blocks numbers. A pure function of its input.
  void (*unpack)(const std::byte* packed, std::size_t blocks, float* out) = nullptr;
  std::optional<DType> plain;  ///< the plain type with the same numbers, if there is one
  /// Name of the format if backends multiply its blocks as they are.
  std::optional<speculation::WeightFormat> multiplied = {};
  /// Reads weights [32 · block, 32 · block + 32) of a row. Null if `multiplied` is none.
  cpu::QuantisedBlock (*read)(const std::byte* row, std::int64_t block) = nullptr;

  [[nodiscard]] bool is_readable() const { return unpack != nullptr; }
};

/// Finds a type by its number; null if no GGUF file has it.
[[nodiscard]] const BlockFormat* find_block_format(std::uint32_t id);
/// Names of the readable types: "F32, F16, Q4_0, …".
[[nodiscard]] std::string readable_formats();

}  // namespace draftscope::engine::gguf
