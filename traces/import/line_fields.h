// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The fields of one line of the neutral format. A misspelt one would be passed over in silence: whoever reads
// a line asks for all that it may have, and then whether there was another.

#include <draftscope/base/result.h>
#include <draftscope/traces/writer.h>
#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foreign/json_fields.h"

namespace draftscope::traces {

inline constexpr std::int64_t max_line_token = std::numeric_limits<std::int32_t>::max();

/// Both arguments must outlive it. What is asked for counts as known. Errors name the line and the field.
class LineFields {
 public:
  LineFields(const nlohmann::json& object, const std::string& where)
      : fields_(object, where), object_(object) {}

  /// The field, or null.
  const nlohmann::json* find(const char* name) {
    known_.push_back(name);
    return fields_.find(name);
  }
  Result<std::int64_t> integer(const char* name, std::int64_t least, std::int64_t most,
                               std::int64_t otherwise) {
    known_.push_back(name);
    DRAFTSCOPE_TRY_ASSIGN(const auto value, fields_.integer(name, least, most));
    return value.value_or(otherwise);
  }
  Result<std::optional<std::string>> text(const char* name) {
    known_.push_back(name);
    return fields_.text(name);
  }
  Result<std::string> required_text(const char* name) {
    DRAFTSCOPE_TRY_ASSIGN(const auto value, text(name));
    if (!value) return fail("{}: {} is missing, expected text", fields_.where(), name);
    return *value;
  }
  Result<std::optional<std::vector<std::int32_t>>> tokens(const char* name, std::int64_t least) {
    known_.push_back(name);
    DRAFTSCOPE_TRY_ASSIGN(const auto list, fields_.integers(name, least, max_line_token));
    if (!list) return std::nullopt;
    return std::vector<std::int32_t>(list->begin(), list->end());
  }
  Result<std::vector<double>> numbers(const char* name) {
    std::vector<double> numbers;
    DRAFTSCOPE_TRY(each(
        name, "a list of numbers",
        [&](const nlohmann::json& value, const std::string& field) -> Result<void> {
          if (!value.is_number() && !value.is_null())
            return tl::unexpected<Error>(unexpected_json(value, fields_.where(), field, "a number or null"));
          numbers.push_back(value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>());
          return {};
        }));
    return numbers;
  }
  Result<std::vector<std::uint8_t>> flags(const char* name) {
    std::vector<std::uint8_t> flags;
    DRAFTSCOPE_TRY(each(name, "a list of true and false",
                        [&](const nlohmann::json& value, const std::string& field) -> Result<void> {
                          if (!value.is_boolean())
                            return tl::unexpected<Error>(
                                unexpected_json(value, fields_.where(), field, "true or false"));
                          flags.push_back(value.get<bool>() ? 1 : 0);
                          return {};
                        }));
    return flags;
  }
  Result<double> number(const char* name, double otherwise) {
    const nlohmann::json* const value = find(name);
    if (value == nullptr) return otherwise;
    if (!value->is_number())
      return tl::unexpected<Error>(unexpected_json(*value, fields_.where(), name, "a number"));
    return value->get<double>();
  }
  Result<bool> flag(const char* name) {
    const nlohmann::json* const value = find(name);
    if (value == nullptr) return false;
    if (!value->is_boolean())
      return tl::unexpected<Error>(unexpected_json(*value, fields_.where(), name, "true or false"));
    return value->get<bool>();
  }
  /// An object of scalars, as texts.
  Result<Meta> object(const char* name) {
    known_.push_back(name);
    Meta texts;
    const nlohmann::json* const value = fields_.find(name);
    if (value == nullptr) return texts;
    if (!value->is_object())
      return tl::unexpected<Error>(unexpected_json(*value, fields_.where(), name, "an object"));
    for (const auto& [key, entry] : value->items())
      texts[key] = entry.is_string() ? entry.get<std::string>()
                                     : entry.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return texts;
  }
  template <typename Enumeration>
  Result<std::optional<Enumeration>> named(const char* name, std::string_view (*name_of)(Enumeration),
                                           Enumeration last) {
    DRAFTSCOPE_TRY_ASSIGN(const auto word, text(name));
    if (!word) return std::nullopt;
    for (int i = 0; i <= static_cast<int>(last); ++i)
      if (name_of(static_cast<Enumeration>(i)) == *word) return static_cast<Enumeration>(i);
    return tl::unexpected<Error>(
        unexpected_json(*fields_.find(name), fields_.where(), name, "a word of docs/rounds-format.md"));
  }
  /// Fails if a field is there that nobody asked for; x_… is anybody's.
  Result<void> knew_all() const {
    for (const auto& [key, value] : object_.items())
      if (key != "record" && !key.starts_with("x_") &&
          std::find(known_.begin(), known_.end(), key) == known_.end())
        return tl::unexpected<Error>(
            unexpected_json(value, fields_.where(), key, "a field of docs/rounds-format.md, or x_…"));
    return {};
  }

 private:
  template <typename Take>
  Result<void> each(const char* name, const std::string& expected, Take take) {
    const nlohmann::json* const list = find(name);
    if (list == nullptr) return {};
    if (!list->is_array())
      return tl::unexpected<Error>(unexpected_json(*list, fields_.where(), name, expected));
    for (std::size_t i = 0; i < list->size(); ++i)
      DRAFTSCOPE_TRY(take((*list)[i], fmt::format("{}[{}]", name, i)));
    return {};
  }

  JsonFields fields_;
  const nlohmann::json& object_;
  std::vector<std::string_view> known_;
};

}  // namespace draftscope::traces
