// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/quote.h>
#include <draftscope/simulator/analysis/gpu.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/speculation/model_shape_json.h>
#include <draftscope/speculation/weight_format.h>
#include <algorithm>
#include <array>
#include <cstddef>

namespace draftscope::simulator {

namespace {

/// The format of most matrices, from "q4_1, q8_0" or "as-stored"; the file's format where older recordings
/// have no entry.
std::string held_weights(const traces::Meta& meta) {
  const std::string weights = meta_value(meta, "weights");
  const std::string first = weights.substr(0, weights.find(','));
  return first.empty() || first == "as-stored" ? meta_value(meta, "dtype") : first;
}

struct DriverName {
  std::string_view driver;  ///< Driver's name without the maker's name.
  std::string_view table;
};

/// Names that no prefix finds. NVIDIA names the module form by its memory.
constexpr std::array<DriverName, 4> driver_names{{{"H100 80GB HBM3", "H100-SXM5-80GB"},
                                                  {"H800", "H800-SXM5-80GB"},
                                                  {"GH200 480GB", "GH200-96GB"},
                                                  {"RTX 6000 Ada Generation", "RTX 6000 Ada"}}};

struct WeightTypeRow {
  std::string_view name;
  std::string_view other_name;
  double layer_bytes = 0.0;
  bool is_widened = false;
};

constexpr double int4_group = 128.0;
constexpr double nvfp4_block = 16.0;

/// [WeightType]; after the types of libraries, the engine's other formats in their order.
constexpr auto weight_type_rows = [] {
  std::array<WeightTypeRow, weight_type_count> rows{{{"bf16", "bf16", 2.0},
                                                     {"fp16", "f16", 2.0},
                                                     {"fp32", "f32", 4.0},
                                                     {"fp8", "fp8", 1.0},
                                                     {"int8", "int8", 1.0},
                                                     {"int4", "int4", 0.5 + 2.5 / int4_group, true},
                                                     {"nvfp4", "nvfp4", 0.5 + 1.0 / nvfp4_block}}};
  auto* end = rows.begin() + static_cast<std::ptrdiff_t>(WeightType::fp8_block);
  for (const speculation::WeightFormatRow& format : speculation::all_weight_formats) {
    const auto is_it = [&](const WeightTypeRow& row) {
      return row.name == format.name || row.other_name == format.name;
    };
    if (std::none_of(rows.begin(), end, is_it)) *end++ = {format.name, format.name, format.bits / 8.0, true};
  }
  return rows;
}();
static_assert(weight_type_rows.back().name == "q3_0", "the last type of the enumeration");

const WeightTypeRow& row_of(WeightType type) {
  return weight_type_rows[static_cast<std::size_t>(type)];
}

}  // namespace

Result<WeightType> recorded_weight_type(const traces::Meta& meta) {
  const std::string held = held_weights(meta);
  if (const auto format = speculation::parse_weight_format(held)) return weight_type_of(*format);
  return parse_weight_type(held);
}

Result<double> recorded_weight_bits(const traces::Meta& meta) {
  const std::string held = held_weights(meta);
  if (const auto format = speculation::parse_weight_format(held))
    return speculation::weight_format_row(*format).bits;
  DRAFTSCOPE_TRY_ASSIGN(const WeightType type, parse_weight_type(held));
  return 8.0 * layer_weight_bytes(type);
}

Result<ModelShape> recorded_shape(const traces::Meta& meta) {
  constexpr std::string_view name = "meta model_shape";
  const auto found = meta.find("model_shape");
  if (found == meta.end()) return fail("{} is missing, expected the recorded model's shape", name);
  DRAFTSCOPE_TRY_ASSIGN(ModelShape shape, speculation::parse_recorded_shape(found->second, name));
  const auto model = meta.find("model");
  shape.name = model == meta.end() ? "recorded model" : model->second;
  return shape;
}

bool is_gpu_recording(const traces::Meta& meta) {
  const std::string device = meta_value(meta, "device");
  return !device.empty() && device != "cpu";
}

std::string recorded_gpu_name(const traces::Meta& meta) {
  const std::string device = meta_value(meta, "device");
  return device == "cuda" ? meta_value(meta, "processor") : device;
}

Result<GpuSpecification> find_gpu_of_driver(std::string_view name) {
  constexpr std::array<std::string_view, 4> makers{"NVIDIA ", "AMD Instinct ", "Tesla ", "GeForce "};
  std::string_view rest = name;
  for (const std::string_view maker : makers)
    if (rest.starts_with(maker)) rest.remove_prefix(maker.size());
  const auto known = std::find_if(driver_names.begin(), driver_names.end(),
                                  [&](const DriverName& names) { return names.driver == rest; });
  return find_gpu(known == driver_names.end() ? rest : known->table);
}

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

WeightType weight_type_of(speculation::WeightFormat format) {
  return parse_weight_type(speculation::weight_format_name(format)).value_or(WeightType::bf16);
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
