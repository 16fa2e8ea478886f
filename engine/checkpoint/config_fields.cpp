// SPDX-License-Identifier: GPL-3.0-or-later
#include "config_fields.h"

#include <cmath>

#include <draftscope/base/json_text.h>

namespace draftscope::engine {
namespace {

bool within(const nlohmann::json& value, Range<std::int32_t> range) {
  // Unsigned beyond int64 would wrap in a signed read.
  if (value.is_number_unsigned())
    return range.most >= 0 && value.get<std::uint64_t>() <= static_cast<std::uint64_t>(range.most) &&
           static_cast<std::int64_t>(value.get<std::uint64_t>()) >= range.least;
  return value.is_number_integer() && value.get<std::int64_t>() >= range.least &&
         value.get<std::int64_t>() <= range.most;
}

std::string expected_integer(Range<std::int32_t> range) {
  return fmt::format("an integer from {} to {}", range.least, range.most);
}

}  // namespace

bool ConfigFields::is_null_or_absent(const char* field) const {
  const auto place = object_->find(field);
  return place == object_->end() || place->is_null();
}

std::string ConfigFields::found(const char* field) const {
  return has(field) ? "is " + describe(object_->at(field)) : "is absent";
}

tl::unexpected<Error> ConfigFields::wrong(const char* field, std::string_view expected) const {
  return fail("{}: field {}{} {}, expected {}", file_, path_, field, found(field), expected);
}

Result<std::int32_t> ConfigFields::integer(const char* field, Range<std::int32_t> range) const {
  if (is_null_or_absent(field) || !within(object_->at(field), range))
    return wrong(field, expected_integer(range));
  return object_->at(field).get<std::int32_t>();
}

Result<std::int32_t> ConfigFields::integer_or(const char* field, Range<std::int32_t> range,
                                              std::int32_t otherwise) const {
  if (is_null_or_absent(field)) return otherwise;
  return integer(field, range);
}

Result<double> ConfigFields::number(const char* field, Range<double> range) const {
  const auto wanted = [&] {
    return wrong(field, fmt::format("a number from {} to {}", range.least, range.most));
  };
  if (is_null_or_absent(field) || !object_->at(field).is_number()) return wanted();
  const auto value = object_->at(field).get<double>();
  if (!std::isfinite(value) || value < range.least || value > range.most) return wanted();
  return value;
}

Result<double> ConfigFields::number_or(const char* field, Range<double> range, double otherwise) const {
  if (is_null_or_absent(field)) return otherwise;
  return number(field, range);
}

Result<bool> ConfigFields::boolean_or(const char* field, bool otherwise) const {
  if (is_null_or_absent(field)) return otherwise;
  if (!object_->at(field).is_boolean()) return wrong(field, "true or false");
  return object_->at(field).get<bool>();
}

Result<std::string> ConfigFields::text_or(const char* field, std::string otherwise) const {
  if (is_null_or_absent(field)) return otherwise;
  if (!object_->at(field).is_string()) return wrong(field, "a string");
  return object_->at(field).get<std::string>();
}

Result<std::vector<std::int32_t>> ConfigFields::integers(const char* field, Range<std::int32_t> range) const {
  if (is_null_or_absent(field)) return std::vector<std::int32_t>{};
  const auto& value = object_->at(field);
  if (!value.is_array()) {
    DRAFTSCOPE_TRY_ASSIGN(const auto one, integer(field, range));
    return std::vector<std::int32_t>{one};
  }
  std::vector<std::int32_t> list;
  for (const auto& element : value) {
    if (!within(element, range))
      return fail("{}: field {}{} holds {}, expected integers from {} to {}", file_, path_, field,
                  describe(element), range.least, range.most);
    list.push_back(element.get<std::int32_t>());
  }
  return list;
}

Result<std::optional<ConfigFields>> ConfigFields::object(const char* field) const {
  if (is_null_or_absent(field)) return std::optional<ConfigFields>{};
  if (!object_->at(field).is_object()) return wrong(field, "an object");
  return std::optional<ConfigFields>(ConfigFields(object_->at(field), file_, path_ + field + "."));
}

Result<std::vector<std::string>> ConfigFields::texts(const char* field) const {
  std::vector<std::string> list;
  if (is_null_or_absent(field)) return list;
  if (!object_->at(field).is_array()) return wrong(field, "a list of strings");
  for (const auto& element : object_->at(field)) {
    if (!element.is_string())
      return fail("{}: field {}{} holds {}, expected strings", file_, path_, field, describe(element));
    list.push_back(element.get<std::string>());
  }
  return list;
}

}  // namespace draftscope::engine
