// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The number formats of matrices, as data: plain numbers, the blocks of GGUF files, and fp8,
// fp8_block and int4 of GPUs. Each is one row; engine, catalogue and simulator refer to a format by its name
// here.
//
// Values; the functions are thread-safe.

#include <draftscope/base/result.h>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace draftscope::speculation {

enum class WeightFormat : std::uint8_t {
  f32,
  bf16,
  f16,
  fp8_block,
  fp8,
  q8_0,
  q6_k,
  q5_1,
  q5_0,
  q5_k,
  q4_1,
  q4_0,
  q4_k,
  iq4_nl,
  iq4_xs,
  mxfp4,
  int4,
  q3_0,
};

/// The backends that can convert plain weights to a format.
enum class MadeBy : std::uint8_t { none, cpu, cuda, both };

/// Codes of a block of 32 weights: a weight is step · (code − zero) + minimum.
struct BlockCodes {
  int bits = 0;  ///< 8, 6, 5, 4, 3 or 2; 0 = a format without such blocks.
  int zero = 0;  ///< 0, or a power of two.
  bool has_minima = false;
  int own_scales = 0;  ///< Scales of a block, factors of its fp16 scale; 0 = the step is the fp16 scale.
};

struct WeightFormatRow {
  WeightFormat format = WeightFormat::bf16;
  std::string_view name;
  double bits = 0.0;      ///< Bits per weight, with its share of scales and minima.
  BlockCodes codes = {};  ///< Codes of the blocks that a CPU multiplies as they are.
  MadeBy made_by = MadeBy::none;
  std::string_view meaning;
  /// Whether files mix it with other types; the CUDA backend then multiplies those matrices separately.
  bool mixes_on_gpu = false;
};

/// Whether a backend (cpu or cuda) can convert weights to the format.
[[nodiscard]] constexpr bool makes(MadeBy backend, const WeightFormatRow& row) {
  return backend != MadeBy::none && (row.made_by == backend || row.made_by == MadeBy::both);
}

/// Every format, in the order of the enumeration. Bits and names of blocks are ggml's.
inline constexpr std::array all_weight_formats{
    WeightFormatRow{WeightFormat::f32, "f32", 32.0, {}, MadeBy::none, "plain fp32"},
    WeightFormatRow{WeightFormat::bf16, "bf16", 16.0, {}, MadeBy::none, "plain bf16"},
    WeightFormatRow{WeightFormat::f16, "f16", 16.0, {}, MadeBy::none, "plain fp16"},
    WeightFormatRow{
        WeightFormat::fp8_block, "fp8_block", 8.03125, {}, MadeBy::cuda, "e4m3, a scale every 128 x 128"},
    WeightFormatRow{WeightFormat::fp8, "fp8", 8.0, {}, MadeBy::cuda, "e4m3, a scale an output"},
    WeightFormatRow{
        WeightFormat::q8_0, "q8_0", 8.5, {8, 128}, MadeBy::both, "8 bits, a scale every 32 weights"},
    WeightFormatRow{
        WeightFormat::q6_k, "q6_k", 6.5625, {6, 32, false, 2}, MadeBy::none, "6 bits, two levels of scales"},
    WeightFormatRow{
        WeightFormat::q5_1, "q5_1", 6.0, {5, 0, true}, MadeBy::cpu, "5 bits, scale and minimum every 32"},
    WeightFormatRow{
        WeightFormat::q5_0, "q5_0", 5.5, {5, 16}, MadeBy::cpu, "5 bits, a scale every 32 weights"},
    WeightFormatRow{WeightFormat::q5_k,
                    "q5_k",
                    5.5,
                    {5, 0, true, 1},
                    MadeBy::none,
                    "5 bits, two levels of scales and minima"},
    WeightFormatRow{
        WeightFormat::q4_1, "q4_1", 5.0, {4, 0, true}, MadeBy::cpu, "4 bits, scale and minimum every 32"},
    WeightFormatRow{
        WeightFormat::q4_0, "q4_0", 4.5, {4, 8}, MadeBy::both, "4 bits, a scale every 32 weights"},
    WeightFormatRow{WeightFormat::q4_k,
                    "q4_k",
                    4.5,
                    {4, 0, true, 1},
                    MadeBy::cuda,
                    "4 bits, two levels of scales and minima",
                    true},
    WeightFormatRow{
        WeightFormat::iq4_nl, "iq4_nl", 4.5, {}, MadeBy::none, "4 bits of a table, a scale every 32"},
    WeightFormatRow{
        WeightFormat::iq4_xs, "iq4_xs", 4.25, {}, MadeBy::none, "4 bits of a table, two levels of scales"},
    WeightFormatRow{WeightFormat::mxfp4, "mxfp4", 4.25, {}, MadeBy::none, "e2m1, a power of two every 32"},
    WeightFormatRow{
        WeightFormat::int4, "int4", 4.25, {}, MadeBy::cuda, "4 bits, scale and zero point every 128"},
    WeightFormatRow{WeightFormat::q3_0, "q3_0", 3.5, {3, 4}, MadeBy::cpu, "3 bits, a scale every 32 weights"},
};

[[nodiscard]] constexpr std::span<const WeightFormatRow> weight_formats() {
  return all_weight_formats;
}
[[nodiscard]] constexpr const WeightFormatRow& weight_format_row(WeightFormat format) {
  return all_weight_formats[static_cast<std::size_t>(format)];
}
static_assert([] {
  for (std::size_t i = 0; i < all_weight_formats.size(); ++i)
    if (all_weight_formats[i].format != static_cast<WeightFormat>(i)) return false;
  return true;
}());
[[nodiscard]] constexpr std::string_view weight_format_name(WeightFormat format) {
  return weight_format_row(format).name;
}

/// The row of a format by its name; null if none has it.
[[nodiscard]] const WeightFormatRow* find_weight_format(std::string_view name);
/// Parses a format's name. Errors: no format has that name.
[[nodiscard]] Result<WeightFormat> parse_weight_format(std::string_view name);

/// Bits per weight of the first format in a list such as "q4_1, q8_0"; none if it names no format.
[[nodiscard]] std::optional<double> leading_bits(std::string_view formats);

/// Formats that a backend can make: "q8_0, q5_0, …".
[[nodiscard]] std::string made_weight_formats(MadeBy by);

}  // namespace draftscope::speculation
