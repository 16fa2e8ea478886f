// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Packed matrices of safetensors files, and their numbers. Sources: the packers of AutoAWQ (WQLinear_GEMM)
// and AutoGPTQ (QuantLinear), and the descriptions of compressed-tensors' float-quantized and of fine-grained
// fp8.
//
//   awq   values       int32 [inputs][outputs / 8]; from the low nibble up, outputs 0 2 4 6 1 3 5 7
//         scales       [groups][outputs]
//         zero points  int32 [groups][outputs / 8], in the same order
//   gptq  values       int32 [inputs / n][outputs], n = 32 / bits; inputs from the low bits up
//         scales       [groups][outputs]
//         zero points  int32 [groups][outputs / n], reduced by the config's offset
//   fp8   values       e4m3 [outputs][inputs]
//         scales       [row blocks][col blocks]
//         zero points  none
//   rows  (row_layouts.h)
//
// A weight is (value − zero) · scale: exact in fp32, except for fp8 with fp32 scales, which rounds once.

#include <draftscope/engine/checkpoint.h>
#include <cstdint>
#include <string>
#include <vector>

#include "quantisation_config.h"
#include "row_layouts.h"

namespace draftscope::engine {

/// A matrix of `rows` outputs and `columns` inputs as its files store it. Does not own the data: it points
/// into the files.
struct QuantisedMatrix {
  PackedForm form = PackedForm::awq;
  std::int32_t bits = 4;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  const std::byte* values = nullptr;
  const std::byte* scales = nullptr;
  DType scale_dtype = DType::f16;
  ScaleBlock block;  ///< outputs and inputs that share a scale
  const std::byte* zeros = nullptr;
  std::int32_t zero_offset = 0;
  const RowLayout* layout = nullptr;  ///< form `rows` only, as the next five
  std::int64_t row_bytes = 0;         ///< bytes from an output's codes to the next one's
  float global = 1.0F;                ///< the global scale
  std::int32_t zero = 0;              ///< zero point without `zeros`; with bytes of these, added to them
  bool has_packed_zeros = false;      ///< whether `zeros` are int32 [outputs / n][groups]; else bytes
  const std::byte* minima = nullptr;  ///< [outputs][groups]; null = none
  const std::byte* groups = nullptr;  ///< int32 [columns]: the group of each input; null = in order
  bool has_output_scales = false;     ///< whether it stays e4m3 for a device: no output has several scales

  /// Type of the plain numbers if a checkpoint has no others: that of its scales, or bf16 if these are fp32.
  [[nodiscard]] DType plain_type() const { return scale_dtype == DType::f16 ? DType::f16 : DType::bf16; }
  /// Description for errors: "fp8 [256, 384] with scales of [128, 128] in fp32", "gptq 4-bit [256, 384] with
  /// …, out of order".
  [[nodiscard]] std::string text() const;
};

/// Rows of a matrix to be written as plain numbers.
struct WidenedMatrix {
  QuantisedMatrix matrix;
  std::int64_t first_row = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  DType dtype = DType::bf16;
  std::byte* out = nullptr;  ///< [rows][columns]
};

/// Scale and zero point of an output's group, in a matrix of integers.
struct GroupScale {
  float scale = 0.0F;
  std::int32_t zero = 0;  ///< including the config's offset
};
[[nodiscard]] GroupScale group_scale(const QuantisedMatrix& matrix, std::int64_t row, std::int64_t group);

/// The scale of a weight of a matrix in fp8.
[[nodiscard]] float fp8_scale(const QuantisedMatrix& matrix, std::int64_t row, std::int64_t column);

/// Outputs and inputs [first, first + count) of a matrix.
struct MatrixPart {
  std::int64_t first_row = 0;
  std::int64_t rows = 0;
  std::int64_t first_column = 0;
  std::int64_t columns = 0;
};
/// Writes the stored numbers of a part of a matrix of integers, before zero points are subtracted,
/// [rows][columns].
void unpack_numbers(const QuantisedMatrix& matrix, const MatrixPart& part, std::uint8_t* out);

/// Writes the weights [first_row, + rows) × [first_column, + columns) of a matrix, [rows][columns].
void unpack(const QuantisedMatrix& matrix, std::int64_t first_row, std::int64_t rows,
            std::int64_t first_column, std::int64_t columns, float* out);

/// Writes all matrices on all processors; each number is rounded once to its type.
void widen(const std::vector<WidenedMatrix>& matrices);

/// Writes the scale of each output [first_row, + rows) of a matrix whose scales apply to all inputs.
void output_scales(const QuantisedMatrix& matrix, std::int64_t first_row, std::int64_t rows, float* out);

}  // namespace draftscope::engine
