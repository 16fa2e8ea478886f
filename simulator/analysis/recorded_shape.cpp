// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/gpu.h>
#include <draftscope/simulator/analysis/measured_recording.h>

#include <draftscope/speculation/model_shape_json.h>
#include <draftscope/speculation/weight_format.h>
#include <algorithm>
#include <array>

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

}  // namespace draftscope::simulator
