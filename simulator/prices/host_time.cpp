// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/prices/scenario.h>

#include <draftscope/base/json_field.h>
#include <draftscope/base/json_text.h>
#include <draftscope/base/quote.h>

#include <algorithm>
#include <array>
#include <vector>

#include "prices/fit/engine_law.h"

namespace draftscope::simulator {

namespace {

const std::array<HostTime, 5>& known_hosts() {
  static const std::array<HostTime, 5> hosts{
      {{.name = "graph", .min_share = -0.05, .max_share = 0.05, .is_per_pass = true},
       {.name = "serving", .min_share = 0.15, .max_share = 0.27},
       {.name = "eager", .min_share = 0.53, .max_share = 0.68, .is_per_pass = true},
       {.name = "draftscope",
        .min_share = -0.04,
        .max_share = 0.04,
        .is_per_pass = true,
        .law = &current_engine()},
       {.name = "draftscope-0.2",
        .min_share = -0.05,
        .max_share = 0.05,
        .is_per_pass = true,
        .law = &former_engine()}}};
  return hosts;
}

/// Reads both ends of a range, or none.
Result<void> read_range(const JsonField& object, const char* min_key, const char* max_key,
                        Range<double> range, double unit, double& min, double& max) {
  if (object[min_key].is_null() && object[max_key].is_null()) return {};
  DRAFTSCOPE_TRY_ASSIGN(min, object[min_key].number(range));
  DRAFTSCOPE_TRY_ASSIGN(max, object[max_key].number(range));
  if (max < min)
    return fail("{} is {}, expected at least {} ({})", object[max_key].name(), max, min_key, min);
  min *= unit;
  max *= unit;
  return {};
}

}  // namespace

std::span<const HostTime> known_host_times() {
  return known_hosts();
}

const HostTime& graph_host() {
  return known_hosts().front();
}

const HostTime& host_of_engine(const EngineLaw& engine) {
  return *std::ranges::find(known_hosts(), &engine, &HostTime::law);
}

Result<HostTime> find_host_time(std::string_view name) {
  for (const HostTime& host : known_hosts())
    if (host.name == name) return host;
  std::vector<std::string_view> names;
  for (const HostTime& host : known_hosts()) names.push_back(host.name);
  return fail("host is {}, expected {} or a JSON file", quote(name), fmt::join(names, ", "));
}

Result<HostTime> parse_host_time(std::string_view text, std::string_view file) {
  constexpr std::array<const char*, 6> keys{"name", "min_share", "max_share", "min_us", "max_us", "per_pass"};
  DRAFTSCOPE_TRY_ASSIGN(const auto parsed, parse_json_object(text, file));
  const JsonField object(parsed, file);
  DRAFTSCOPE_TRY(object.knows_only(keys, fmt::format("{}", fmt::join(keys, ", "))));
  const bool has_share = !object["min_share"].is_null() || !object["max_share"].is_null();
  const bool has_time = !object["min_us"].is_null() || !object["max_us"].is_null();
  if (!has_share && !has_time)
    return fail("{}: has no time, expected min_share and max_share, or min_us and max_us", file);
  HostTime host;
  DRAFTSCOPE_TRY_ASSIGN(host.name, object["name"].text_or(std::string(file)));
  DRAFTSCOPE_TRY_ASSIGN(host.is_per_pass, object["per_pass"].boolean_or(false));
  constexpr Range<double> shares{-0.5, 100.0};
  constexpr Range<double> times_us{0.0, 1e9};
  DRAFTSCOPE_TRY(read_range(object, "min_share", "max_share", shares, 1.0, host.min_share, host.max_share));
  DRAFTSCOPE_TRY(read_range(object, "min_us", "max_us", times_us, 1e3, host.min_ns, host.max_ns));
  return host;
}

}  // namespace draftscope::simulator
