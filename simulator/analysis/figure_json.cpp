// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/figure_json.h>

#include <algorithm>
#include <utility>

namespace draftscope::simulator {

namespace {

using Json = nlohmann::ordered_json;

/// Visitor that converts each kind of value to JSON.
struct JsonWriter {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(std::int64_t value) const { return value; }
  Json operator()(double value) const { return value; }
  Json operator()(const std::string& value) const { return value; }
  Json operator()(const Interval& value) const { return Json::array({value.low, value.high}); }
  Json operator()(const RepeatValues& value) const { return value.values; }
  Json operator()(const PromptMatch& value) const { return value.differing == 0; }
  Json operator()(const std::vector<std::int64_t>& value) const { return value; }
  Json operator()(const std::vector<PositionAcceptance>& value) const {
    Json positions = Json::array();
    for (std::size_t k = 0; k < value.size(); ++k)
      positions.push_back({{"position", k},
                           {"drafted", value[k].drafted},
                           {"reached", value[k].reached},
                           {"accepted", value[k].accepted},
                           {"accepted_of_drafted", value[k].of_drafted()},
                           {"accepted_of_reached", value[k].of_reached()}});
    return positions;
  }
};

/// "speedup.value" is the key "value" of the object "speedup"; the object of "requests" is "".
std::pair<std::string, std::string> object_and_key(std::string_view key) {
  const std::size_t dot = key.find('.');
  if (dot == std::string_view::npos) return {"", std::string(key)};
  return {std::string(key.substr(0, dot)), std::string(key.substr(dot + 1))};
}

bool is_known(const Json& object) {
  return std::any_of(object.begin(), object.end(), [](const Json& value) { return !value.is_null(); });
}

}  // namespace

void add_figures(Json& object, std::span<const NamedFigure> figures) {
  std::vector<std::string> parts;
  for (const NamedFigure& figure : figures) {
    const auto [part, key] = object_and_key(figure.key);
    Json value = std::visit(JsonWriter{}, figure.value);
    if (part.empty()) {
      object[key] = std::move(value);
    } else {
      if (parts.empty() || parts.back() != part) parts.push_back(part);
      Json& of_part = object[part];
      if (of_part.is_null()) of_part = Json::object();
      of_part[key] = std::move(value);
    }
  }
  for (const std::string& part : parts)
    if (!is_known(object[part])) object[part] = nullptr;
}

void add_csv_figures(Json& row, std::span<const NamedFigure> figures, const std::string& prefix) {
  for (const NamedFigure& figure : figures) {
    if (figure.format == FigureFormat::list || figure.format == FigureFormat::repeats) continue;
    std::string key = prefix + std::string(figure.key);
    std::replace(key.begin(), key.end(), '.', '_');
    if (figure.format == FigureFormat::interval) {
      const auto* interval = std::get_if<Interval>(&figure.value);
      row[key + "_low"] = interval != nullptr ? Json(interval->low) : Json(nullptr);
      row[key + "_high"] = interval != nullptr ? Json(interval->high) : Json(nullptr);
    } else {
      row[key] = std::visit(JsonWriter{}, figure.value);
    }
  }
}

std::optional<double> figure_number(const FigureValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* interval = std::get_if<Interval>(&value)) return interval->low;
  if (const auto* repeats = std::get_if<RepeatValues>(&value)) return repeats->median;
  return std::nullopt;
}

}  // namespace draftscope::simulator
