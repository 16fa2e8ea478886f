// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/tuning/grid_settings.h>

#include <draftscope/engine/strategy.h>
#include <draftscope/speculation/strategy_text.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

namespace draftscope::engine {

namespace {

struct Axis {
  std::string key;
  std::vector<std::string> values;
};

template <typename Value>
Axis axis_of(std::string key, const std::vector<Value>& values) {
  Axis axis{std::move(key), {}};
  for (const Value& value : values) axis.values.push_back(fmt::format("{}", value));
  return axis;
}

constexpr speculation::WeightFormat eight_bits[] = {speculation::WeightFormat::fp8,
                                                    speculation::WeightFormat::q8_0};
constexpr speculation::WeightFormat four_bits[] = {speculation::WeightFormat::q4_0,
                                                   speculation::WeightFormat::int4};

bool gives(const std::string& base, const std::string& key) {
  return base.find(":" + key + "=") != std::string::npos || base.find("," + key + "=") != std::string::npos;
}

}  // namespace

Grid default_grid(std::int32_t n_layers, std::span<const speculation::WeightFormat> formats) {
  Grid grid{.bases = {"layerskip:verify=above-exit", "layerskip:verify=all-layers", "fs:verify=above-exit",
                      "dv:verify=above-exit", "mix:mask=exit,stop=threshold,verify=above-exit"},
            .exits = {},
            .gammas = {2, 4, 6, 8},
            .thresholds = {0.4, 0.6, 0.8}};
  // Use one 8-bit and one 4-bit format: the first of each that the backend makes.
  for (const std::span<const speculation::WeightFormat> width : {std::span(eight_bits), std::span(four_bits)})
    for (const speculation::WeightFormat format : width) {
      if (std::find(formats.begin(), formats.end(), format) == formats.end()) continue;
      grid.bases.push_back(
          speculation::with_parameter("quantised", "weights", speculation::weight_format_name(format)));
      break;
    }
  std::set<std::int32_t> exits;
  for (std::int32_t eighth = 1; eighth <= 6; ++eighth)
    exits.insert(std::clamp(eighth * n_layers / 8, 1, std::max(1, n_layers - 1)));
  grid.exits.assign(exits.begin(), exits.end());
  return grid;
}

Result<std::set<std::string>> open_parameters(const std::string& base, const speculation::ModelShape& shape) {
  DRAFTSCOPE_TRY_ASSIGN(const auto configured, make_strategy(base, shape));
  const auto parameters = nlohmann::json::parse(configured.parameters);
  std::set<std::string> open;
  for (const auto& [key, value] : parameters.items())
    if (!gives(base, key)) open.insert(key);
  return open;
}

Result<std::vector<std::string>> grid_settings(const Grid& grid, const speculation::ModelShape& shape) {
  const std::vector<Axis> axes{axis_of("exit", grid.exits), axis_of("gamma", grid.gammas),
                               axis_of("threshold", grid.thresholds)};
  std::vector<std::string> all;
  std::set<std::string> known;
  for (const std::string& base : grid.bases) {
    DRAFTSCOPE_TRY_ASSIGN(const auto open, open_parameters(base, shape));
    std::vector<std::string> settings{base};
    for (const Axis& axis : axes) {
      if (!open.contains(axis.key)) continue;
      std::vector<std::string> longer;
      for (const std::string& setting : settings)
        for (const std::string& value : axis.values)
          longer.push_back(speculation::with_parameter(setting, axis.key, value));
      settings = std::move(longer);
    }
    for (std::string& setting : settings) {
      DRAFTSCOPE_TRY_ASSIGN(const auto made, make_strategy(setting, shape));
      if (known.insert(made.name + made.parameters).second) all.push_back(std::move(setting));
    }
  }
  return all;
}

std::vector<std::string> sample_settings(std::vector<std::string> settings, std::size_t count,
                                         std::uint64_t seed) {
  if (settings.size() <= count) return settings;
  std::vector<std::size_t> order(settings.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::mt19937_64 random(seed);
  // std::shuffle is not used, since its draws differ between standard libraries.
  for (std::size_t i = 0; i < count; ++i) std::swap(order[i], order[i + random() % (order.size() - i)]);
  order.resize(count);
  std::sort(order.begin(), order.end());
  std::vector<std::string> sample;
  sample.reserve(count);
  for (const std::size_t index : order) sample.push_back(std::move(settings[index]));
  return sample;
}

}  // namespace draftscope::engine
