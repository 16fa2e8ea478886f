// SPDX-License-Identifier: GPL-3.0-or-later
#include "foreign/json_fields.h"

#include <draftscope/base/json_field.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace draftscope::traces {
namespace {

constexpr double max_duration_ns = 0x1p54;  // 208 days; sums of many durations stay in range

template <typename Element>
Result<std::optional<std::vector<std::int64_t>>> list(const nlohmann::json* value, const std::string& where,
                                                      const std::string& name, const std::string& expected,
                                                      Element element) {
  if (value == nullptr) return std::nullopt;
  if (!value->is_array()) return unexpected_json(*value, where, name, expected);
  std::vector<std::int64_t> numbers;
  numbers.reserve(value->size());
  for (std::size_t i = 0; i < value->size(); ++i) {
    DRAFTSCOPE_TRY_ASSIGN(const std::int64_t number, element((*value)[i], fmt::format("{}[{}]", name, i)));
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

tl::unexpected<Error> unexpected_json(const nlohmann::json& value, const std::string& where,
                                      const std::string& field, const std::string& expected) {
  return JsonField(value, where, field).wrong(expected);
}

Result<std::int64_t> json_integer(const nlohmann::json& value, std::int64_t least, std::int64_t most,
                                  const std::string& where, const std::string& field) {
  return JsonField(value, where, field).integer(Range<std::int64_t>{least, most});
}

Result<std::int64_t> json_duration_ns(const nlohmann::json& value, double unit_ns, const std::string& where,
                                      const std::string& field) {
  const double duration_ns = value.is_number() ? value.get<double>() * unit_ns : -1.0;
  if (!(duration_ns >= 0.0 && duration_ns <= max_duration_ns))
    return JsonField(value, where, field)
        .wrong(fmt::format("a duration of 0 s to {:.0f} s", max_duration_ns * 1e-9));
  return std::llround(duration_ns);
}

Result<std::int64_t> json_time_ns(const nlohmann::json& value, double unit_ns, const std::string& where,
                                  const std::string& field) {
  const double time_ns = value.is_number() ? value.get<double>() * unit_ns : -1.0;
  if (!(time_ns >= 0.0 && time_ns <= 0x1p61))
    return JsonField(value, where, field).wrong("a time from 0 to 2^61 ns");
  return std::llround(time_ns);
}

const nlohmann::json* JsonFields::find(const char* name) const {
  const auto field = object_.find(name);
  return field == object_.end() || field->is_null() ? nullptr : &*field;
}

Result<std::optional<std::int64_t>> JsonFields::integer(const char* name, std::int64_t least,
                                                        std::int64_t most) const {
  const nlohmann::json* const value = find(name);
  if (value == nullptr) return std::nullopt;
  return json_integer(*value, least, most, where_, name);
}

Result<std::optional<std::string>> JsonFields::text(const char* name) const {
  const nlohmann::json* const value = find(name);
  if (value == nullptr) return std::nullopt;
  return JsonField(*value, where_, name).text();
}

Result<std::optional<std::vector<std::int64_t>>> JsonFields::integers(const char* name, std::int64_t least,
                                                                      std::int64_t most) const {
  return list(find(name), where_, name, "a list of integers",
              [&](const nlohmann::json& value, const std::string& field) {
                return json_integer(value, least, most, where_, field);
              });
}

Result<std::optional<std::vector<std::int64_t>>> JsonFields::seconds(const char* name) const {
  return list(find(name), where_, name, "a list of seconds",
              [&](const nlohmann::json& value, const std::string& field) {
                return json_duration_ns(value, 1e9, where_, field);
              });
}

}  // namespace draftscope::traces
