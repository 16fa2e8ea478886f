// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Defines how a matrix whose weights share scales in groups lies in device memory, both for packing and for
// the kernels that read it; nothing in it is specific to the device.
//
//   Codes    stored row after row. A row is cut into runs of `run_depth` values of k, 64 bytes each; the last
//            run is padded with zeros. A run's bytes are four chunks of 16, one for each of the lanes that
//            share a row. Chunk t has 8 values from 8 · t on of each 32 values of the run (a part). So the
//            sums of a packed matrix equal, bit for bit, the sums of the same numbers as plain ones
//            (weights.h)
//   4 bits   a part is a word: pair i of its values lies 4 · i bits up in the word's halves, the first value
//            of the two in the lower half (code_place()). Pairs lie where the last bits of a pair of 16-bit
//            numbers are, or 4 above
//   8 bits   a part is two words, one byte per value; in e4m3 a word is e4m3_word()
//   Scales   stored after all codes: for each 8 rows, for each `scale_depth` values of k, 16 bytes per row
//            with the scales of that many values. So the scales of 8 rows share one cache line. Rows and
//            depth are padded with zeros. kernel_formats.h says which numbers each format stores
//
// Rows take a multiple of 64 bytes, and scales begin at a multiple of 64 from the start of the matrix, which
// is aligned to 256 (Pieces).

#include <cstddef>
#include <cstdint>

namespace draftscope::engine::cuda {

inline constexpr int chunk_bytes = 16;
inline constexpr int run_lanes = 4;
inline constexpr int run_bytes = run_lanes * chunk_bytes;
inline constexpr int part_depth = 32;  ///< Values of k of which each of the lanes has eight.
inline constexpr int scale_bytes = 16;
inline constexpr int scale_rows = 8;  ///< Rows whose scales lie together.

struct GroupedLayout {
  std::int32_t code_bits = 4;  ///< 4 or 8
  std::int32_t scale_depth = 256;
  std::int32_t sharing_rows = 1;
  std::int32_t scale_words = 1;  ///< Words of scales per run of a row in a piece (piece_layout.h).

  /// Values of k in a run.
  [[nodiscard]] constexpr std::int32_t run_depth() const { return run_bytes * 8 / code_bits; }
  [[nodiscard]] constexpr std::int64_t row_bytes(std::int64_t depth) const {
    return (depth + run_depth() - 1) / run_depth() * run_bytes;
  }
  [[nodiscard]] constexpr std::int64_t scale_blocks(std::int64_t depth) const {
    return (depth + scale_depth - 1) / scale_depth;
  }
  /// Offset of the scales of a row's first values from the start of the matrix.
  [[nodiscard]] constexpr std::int64_t scales_offset(std::int64_t outputs, std::int64_t depth,
                                                     std::int64_t row) const {
    const std::int64_t scale = row / sharing_rows;
    return outputs * row_bytes(depth) + scale / scale_rows * scale_blocks(depth) * scale_step +
           scale % scale_rows * scale_bytes;
  }
  [[nodiscard]] constexpr std::size_t bytes(std::int64_t outputs, std::int64_t depth) const {
    const std::int64_t together = std::int64_t{scale_rows} * sharing_rows;
    const std::int64_t whole_rows = (outputs + together - 1) / together * together;
    return static_cast<std::size_t>(scales_offset(outputs, depth, whole_rows));
  }

  /// Bytes from a row's scales to the scales of its next scale_depth values.
  static constexpr std::int64_t scale_step = std::int64_t{scale_rows} * scale_bytes;
};

/// Place of value `i` of a part in 4 bits, as the number of bits below it in the word.
constexpr std::uint32_t code_place(std::size_t i) {
  return static_cast<std::uint32_t>(i % 2 * 16 + i / 2 * 4);
}

/// −(128 + zero) as bf16, which represents it exactly. It removes the zero point and the 128 added to codes.
constexpr std::uint32_t int4_offset(std::uint32_t zero) {
  return 0xc300U + zero;
}

/// Packs four e4m3 codes into a word whose halves hold two each: codes 0 and 2 below, 1 and 3 above. The
/// first code of a half becomes the fp16 number that is 2^-8 of it; the second uses the remaining bits, with
/// its sign in bit 14.
constexpr std::uint32_t e4m3_word(const std::uint8_t* codes) {
  const auto half = [](std::uint32_t first, std::uint32_t second) {
    return (first & 0x80U) << 8U | (first & 0x7fU) << 7U | (second & 0x80U) << 7U | (second & 0x7fU);
  };
  return half(codes[0], codes[2]) | half(codes[1], codes[3]) << 16U;
}

}  // namespace draftscope::engine::cuda
