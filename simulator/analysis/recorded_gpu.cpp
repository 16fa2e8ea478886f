// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/gpu.h>
#include <draftscope/simulator/analysis/measured_recording.h>

#include <algorithm>
#include <array>

namespace draftscope::simulator {

namespace {

struct DriverName {
  std::string_view driver;  ///< without the maker's words
  std::string_view table;
};

/// Names that no beginning leads to. NVIDIA calls the module form by its memory.
constexpr std::array<DriverName, 4> driver_names{{{"H100 80GB HBM3", "H100-SXM5-80GB"},
                                                  {"H800", "H800-SXM5-80GB"},
                                                  {"GH200 480GB", "GH200-96GB"},
                                                  {"RTX 6000 Ada Generation", "RTX 6000 Ada"}}};

}  // namespace

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
