// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/gpu.h>

#include <draftscope/base/quote.h>

#include <algorithm>
#include <array>

namespace draftscope::simulator {

namespace {

struct WeightTypeRow {
  std::string_view name;
  std::string_view other_name;
  double layer_bytes;
  bool is_widened = false;
};

constexpr double int4_group = 128.0;
constexpr double nvfp4_block = 16.0;

/// A format of the engine, under its own name.
constexpr WeightTypeRow packed(speculation::WeightFormat format) {
  constexpr double bits_per_byte = 8.0;
  const speculation::WeightFormatRow& row = speculation::weight_format_row(format);
  return {row.name, row.name, row.bits / bits_per_byte, true};
}

using speculation::WeightFormat;

/// [WeightType]
constexpr std::array<WeightTypeRow, weight_type_count> weight_type_rows{
    {{"bf16", "bf16", 2.0},
     {"fp16", "f16", 2.0},
     {"fp32", "f32", 4.0},
     {"fp8", "fp8", 1.0},
     {"int8", "int8", 1.0},
     {"int4", "int4", 0.5 + 2.5 / int4_group, true},
     {"nvfp4", "nvfp4", 0.5 + 1.0 / nvfp4_block},
     packed(WeightFormat::fp8_block),
     packed(WeightFormat::q8_0),
     packed(WeightFormat::q6_k),
     packed(WeightFormat::q5_1),
     packed(WeightFormat::q5_0),
     packed(WeightFormat::q5_k),
     packed(WeightFormat::q4_1),
     packed(WeightFormat::q4_0),
     packed(WeightFormat::q4_k),
     packed(WeightFormat::iq4_nl),
     packed(WeightFormat::iq4_xs),
     packed(WeightFormat::mxfp4),
     packed(WeightFormat::q3_0)}};

const WeightTypeRow& row_of(WeightType type) {
  return weight_type_rows[static_cast<std::size_t>(type)];
}

}  // namespace

std::string_view weight_type_name(WeightType type) {
  return row_of(type).name;
}

Result<WeightType> parse_weight_type(std::string_view text) {
  for (const WeightType type : all_weight_types)
    if (row_of(type).name == text || row_of(type).other_name == text) return type;
  return fail("dtype is {}, expected {}", quote(text), weight_type_names());
}

std::string weight_type_names() {
  std::string names;
  for (std::size_t i = 0; i < weight_type_count; ++i) {
    if (i > 0) names += i + 1 == weight_type_count ? " or " : ", ";
    names += weight_type_rows[i].name;
  }
  return names;
}

WeightType weight_type_of(WeightFormat format) {
  const std::string_view name = speculation::weight_format_name(format);
  const auto row = std::ranges::find_if(weight_type_rows, [&](const WeightTypeRow& known) {
    return known.name == name || known.other_name == name;
  });
  return row == weight_type_rows.end() ? WeightType::bf16
                                       : static_cast<WeightType>(row - weight_type_rows.begin());
}

bool is_widened(WeightType type) {
  return row_of(type).is_widened;
}

bool is_narrow(WeightType type) {
  return layer_weight_bytes(type) < layer_weight_bytes(WeightType::bf16);
}

double layer_weight_bytes(WeightType type) {
  return row_of(type).layer_bytes;
}

double activation_bytes(WeightType type) {
  return type == WeightType::fp32 ? 4.0 : 2.0;
}

}  // namespace draftscope::simulator
