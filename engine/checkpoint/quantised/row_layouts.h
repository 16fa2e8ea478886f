// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Matrices whose codes lie output by output, each output's inputs in order, the first in a byte's low bits:
// those of compressed-tensors, NVIDIA's ModelOpt and MLX. All follow one law:
//
//   w = (code's value − zero) · scale · or / global scale + minimum
//
// in fp32, in this order, with the scale by the global scale first. Sources: the compressors of
// compressed-tensors (0.10 to 0.13), ModelOpt's unified checkpoints, mlx.core.quantize.
// Microscaling formats: OCP Microscaling Formats specification 1.0.

#include <array>
#include <cstdint>
#include <string_view>

namespace draftscope::engine {

/// Number that a code stands for.
enum class Code : std::uint8_t {
  unsigned_integer,  ///< 0 to 2^bits − 1
  signed_integer,    ///< a signed byte
  e2m1,              ///< 0, 0.5, 1, 1.5, 2, 3, 4, 6, and their negatives
  e4m3,
};

enum class ScaleCode : std::uint8_t {
  plain,  ///< fp32, bf16 or fp16
  e4m3,
  e8m0,  ///< 2^(code − 127)
};

/// Tensors of a matrix and what they hold. Names follow the module's; an empty one does not exist.
struct RowLayout {
  std::string_view format;  ///< the name in config.json
  std::string_view name;    ///< for display, before the bits of integers
  std::string_view values;
  std::string_view values_dtype;
  Code code = Code::unsigned_integer;
  std::string_view scales;
  ScaleCode scale_code = ScaleCode::plain;
  std::int64_t group = 0;  ///< inputs that share a scale; 0 = config.json says
  std::string_view global;
  bool global_divides = false;
  std::string_view zeros;   ///< codes like the values', packed along the outputs, or signed bytes
  std::string_view minima;  ///< numbers of the scales' type
  std::string_view shape;   ///< outputs and inputs, int64

  [[nodiscard]] constexpr bool has_integers() const { return code <= Code::signed_integer; }
};

/// Formats of compressed-tensors.
inline constexpr std::array compressed_layouts{
    RowLayout{.format = "pack-quantized",
              .name = "pack-quantized",
              .values = "weight_packed",
              .values_dtype = "I32",
              .scales = "weight_scale",
              .zeros = "weight_zero_point",
              .shape = "weight_shape"},
    RowLayout{.format = "int-quantized",
              .name = "int-quantized",
              .values = "weight",
              .values_dtype = "I8",
              .code = Code::signed_integer,
              .scales = "weight_scale",
              .zeros = "weight_zero_point"},
    RowLayout{.format = "nvfp4-pack-quantized",
              .name = "nvfp4",
              .values = "weight_packed",
              .values_dtype = "U8",
              .code = Code::e2m1,
              .scales = "weight_scale",
              .scale_code = ScaleCode::e4m3,
              .group = 16,
              .global = "weight_global_scale",
              .global_divides = true},
    RowLayout{.format = "mxfp4-pack-quantized",
              .name = "mxfp4",
              .values = "weight_packed",
              .values_dtype = "U8",
              .code = Code::e2m1,
              .scales = "weight_scale",
              .scale_code = ScaleCode::e8m0,
              .group = 32},
    RowLayout{.format = "mxfp8-quantized",
              .name = "mxfp8",
              .values = "weight",
              .values_dtype = "F8_E4M3",
              .code = Code::e4m3,
              .scales = "weight_scale",
              .scale_code = ScaleCode::e8m0,
              .group = 32},
};

/// Algorithms of ModelOpt.
inline constexpr std::array modelopt_layouts{
    RowLayout{.format = "NVFP4",
              .name = "nvfp4",
              .values = "weight",
              .values_dtype = "U8",
              .code = Code::e2m1,
              .scales = "weight_scale",
              .scale_code = ScaleCode::e4m3,
              .group = 16,
              .global = "weight_scale_2"},
    RowLayout{.format = "MXFP8",
              .name = "mxfp8",
              .values = "weight",
              .values_dtype = "F8_E4M3",
              .code = Code::e4m3,
              .scales = "weight_scale",
              .scale_code = ScaleCode::e8m0,
              .group = 32},
};

/// Modes of MLX.
inline constexpr std::array mlx_layouts{
    RowLayout{.format = "affine",
              .name = "mlx",
              .values = "weight",
              .values_dtype = "U32",
              .scales = "scales",
              .minima = "biases"},
    RowLayout{.format = "mxfp4",
              .name = "mlx mxfp4",
              .values = "weight",
              .values_dtype = "U32",
              .code = Code::e2m1,
              .scales = "scales",
              .scale_code = ScaleCode::e8m0,
              .group = 32},
};

struct QuantisedMatrix;

/// Writes the weights [first_row, + rows) × [first_column, + columns) of a matrix that has a layout,
/// [rows][columns].
void unpack_rows(const QuantisedMatrix& matrix, std::int64_t first_row, std::int64_t rows,
                 std::int64_t first_column, std::int64_t columns, float* out);

}  // namespace draftscope::engine
