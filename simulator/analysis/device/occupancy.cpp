// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/device_timeline.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "analysis/run_specification.h"

namespace draftscope::simulator {

namespace {

constexpr std::int64_t threads_per_warp = 32;
constexpr std::int64_t register_unit = 256;  ///< Registers that a warp gets are a multiple of this.
constexpr std::int32_t oldest_capability = 50;

std::int64_t quotient_up(std::int64_t number, std::int64_t by) {
  return (number + by - 1) / by;
}

std::int64_t rounded_up(std::int64_t number, std::int64_t unit) {
  return quotient_up(number, unit) * unit;
}

/// "9.0" as 90; 0 for other texts.
std::int32_t capability_of(const std::string& text) {
  const char* const end = text.data() + text.size();
  std::int32_t major = 0;
  std::int32_t minor = 0;
  const auto [dot, error] = std::from_chars(text.data(), end, major);
  if (error != std::errc() || dot == end || *dot != '.' || major < 0 || major > 1000) return 0;
  const auto [stop, second_error] = std::from_chars(dot + 1, end, minor);
  return second_error == std::errc() && stop == end && minor >= 0 && minor < 10 ? 10 * major + minor : 0;
}

}  // namespace

std::optional<MultiprocessorLimits> multiprocessor_limits(const traces::Meta& meta) {
  const nlohmann::json json = meta_object(meta, "device_limits");
  const auto number = [&](const char* key) -> std::int32_t {
    constexpr std::uint64_t max_number = 1 << 30;
    const auto found = json.find(key);
    if (found == json.end() || !found->is_number_unsigned() || found->get<std::uint64_t>() > max_number)
      return 0;
    return found->get<std::int32_t>();
  };
  const auto capability = json.find("compute_capability");
  if (capability == json.end() || !capability->is_string()) return std::nullopt;
  const MultiprocessorLimits limits{.compute_capability = capability_of(capability->get<std::string>()),
                                    .multiprocessors = number("multiprocessors"),
                                    .warps = number("max_warps"),
                                    .blocks = number("max_blocks"),
                                    .registers = number("max_registers"),
                                    .shared_bytes = number("max_shared_bytes")};
  const bool is_whole = limits.compute_capability >= oldest_capability && limits.warps > 0 &&
                        limits.blocks > 0 && limits.registers > 0 && limits.shared_bytes > 0;
  return is_whole ? std::optional(limits) : std::nullopt;
}

std::optional<Occupancy> occupancy_of(const traces::Kernel& kernel, const MultiprocessorLimits& limits) {
  constexpr std::int64_t max_threads = 1 << 16;
  const std::int64_t x = kernel.block_x;
  const std::int64_t y = std::max(kernel.block_y, 1);
  const std::int64_t z = std::max(kernel.block_z, 1);
  if (x <= 0 || kernel.registers_per_thread <= 0 || x > max_threads || y > max_threads || z > max_threads)
    return std::nullopt;
  const std::int64_t warps = quotient_up(x * y * z, threads_per_warp);
  const std::int64_t quarters = limits.compute_capability == 60 ? 2 : 4;
  const std::int64_t registers_of_warp =
      rounded_up(kernel.registers_per_thread * threads_per_warp, register_unit);
  const std::int64_t warps_by_registers = limits.registers / quarters / registers_of_warp * quarters;
  const bool reserves = limits.compute_capability >= 80;
  const std::int64_t reserved_bytes = reserves ? 1024 : 0;
  const std::int64_t shared_bytes =
      rounded_up(std::max<std::int64_t>(kernel.static_shared_bytes, 0) +
                     std::max<std::int64_t>(kernel.dynamic_shared_bytes, 0) + reserved_bytes,
                 reserves ? 128 : 256);
  const std::int64_t by_shared_memory =
      shared_bytes > 0 ? limits.shared_bytes / shared_bytes : std::int64_t{limits.blocks};
  const std::array<std::pair<std::int64_t, std::string_view>, 4> fits{
      {{limits.warps / warps, "warps"},
       {limits.blocks, "blocks"},
       {warps_by_registers / warps, "registers"},
       {by_shared_memory, "shared memory"}}};
  const auto least = std::ranges::min_element(fits, {}, &std::pair<std::int64_t, std::string_view>::first);
  if (least->first < 1) return std::nullopt;
  return Occupancy{.blocks = static_cast<std::int32_t>(least->first),
                   .warps = static_cast<std::int32_t>(least->first * warps),
                   .limited_by = least->second};
}

}  // namespace draftscope::simulator
