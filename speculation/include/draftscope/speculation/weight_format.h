// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The number formats that matrices are held in, as data: plain numbers, the blocks of GGUF files, and fp8,
// fp8_block and int4 of GPUs. One row each; engine, catalogue and simulator speak of a format by its name
// here.
//
// Values; the functions are thread-safe.

#include <draftscope/base/result.h>
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

/// The backends that can make weights of a format from plain ones.
enum class MadeBy : std::uint8_t { none, cpu, cuda, both };

struct WeightFormatRow {
  WeightFormat format = WeightFormat::bf16;
  std::string_view name;
  double bits = 0.0;  ///< of a weight, its share of scales and minima included
  MadeBy made_by = MadeBy::none;
  std::string_view meaning;
  /// Whether files mix it with other types, whose matrices the CUDA backend multiplies beside it.
  bool mixes_on_gpu = false;
};

/// Whether a backend (cpu or cuda) makes weights of the format.
[[nodiscard]] constexpr bool makes(MadeBy backend, const WeightFormatRow& row) {
  return backend != MadeBy::none && (row.made_by == backend || row.made_by == MadeBy::both);
}

/// Every format, in the order of the enumeration.
[[nodiscard]] std::span<const WeightFormatRow> weight_formats();
[[nodiscard]] const WeightFormatRow& weight_format_row(WeightFormat format);
[[nodiscard]] inline std::string_view weight_format_name(WeightFormat format) {
  return weight_format_row(format).name;
}

/// Row of a format by its name; null if none has it.
[[nodiscard]] const WeightFormatRow* find_weight_format(std::string_view name);
/// Errors: no format has that name.
[[nodiscard]] Result<WeightFormat> parse_weight_format(std::string_view name);

/// Bits of a weight in the first format of a list such as "q4_1, q8_0"; none if it names no format.
[[nodiscard]] std::optional<double> leading_bits(std::string_view formats);

/// "q8_0, q5_0, …": those that a backend can make.
[[nodiscard]] std::string made_weight_formats(MadeBy by);

}  // namespace draftscope::speculation
