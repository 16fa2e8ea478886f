// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A JSON value that knows its place in its file, so that every error is one line with file, path, the value
// found and what was expected: "config.json: rope_scaling.factor is 'two', expected a number".

#include <draftscope/base/result.h>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace draftscope {

/// A closed range of plausible values.
template <typename T>
struct Range {
  T min = std::numeric_limits<T>::lowest();
  T max = std::numeric_limits<T>::max();
};

/// A view: document and file name must outlive it. An absent member reads as a missing value, which counts as
/// null; every typed read of it is an error that says "is missing". As thread-safe as any const value.
class JsonField {
 public:
  /// Root of a document; `file` names it in errors. `path` is the place of `value` in the file, if it is not
  /// the root.
  JsonField(const nlohmann::json& value, std::string_view file, std::string path = "");

  /// JSON's null if the value is missing.
  [[nodiscard]] const nlohmann::json& value() const;
  [[nodiscard]] std::string_view file() const { return file_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Name in errors: "config.json: rope_scaling.factor", or only the file.
  [[nodiscard]] std::string name() const;

  [[nodiscard]] bool is_missing() const { return value_ == nullptr; }
  /// Whether the value is missing or null, as Hugging Face's optional fields may be.
  [[nodiscard]] bool is_null() const { return value_ == nullptr || value_->is_null(); }

  /// Member of that name; missing if there is none or this is not an object.
  [[nodiscard]] JsonField operator[](std::string_view key) const;
  /// Whether the member exists, even as null.
  [[nodiscard]] bool has(std::string_view key) const { return !(*this)[key].is_missing(); }

  /// This value, if it is an object.
  [[nodiscard]] Result<JsonField> object() const;
  /// Elements of a list.
  [[nodiscard]] Result<std::vector<JsonField>> list() const;
  /// Members of an object, by key.
  [[nodiscard]] Result<std::vector<std::pair<std::string, JsonField>>> members() const;
  /// Fails if this object has a member that is not in `known`; `expected` ends the message.
  [[nodiscard]] Result<void> knows_only(std::span<const char* const> known, std::string_view expected) const;

  [[nodiscard]] Result<std::string> text() const;
  [[nodiscard]] Result<std::vector<std::string>> texts() const;
  [[nodiscard]] Result<bool> boolean() const;
  /// A finite number.
  [[nodiscard]] Result<double> number(Range<double> range = {}) const;
  [[nodiscard]] Result<std::vector<double>> numbers() const;
  template <std::integral T>
  [[nodiscard]] Result<T> integer(Range<T> range = {}) const;
  /// Value of an enumeration whose values from 0 to `last` have the names that `name_of` gives.
  template <typename Enumeration>
  [[nodiscard]] Result<Enumeration> named(std::string_view (*name_of)(Enumeration), Enumeration last) const;

  // These read the value, or return `otherwise` if it is null or missing.
  [[nodiscard]] Result<std::string> text_or(std::string otherwise) const;
  [[nodiscard]] Result<bool> boolean_or(bool otherwise) const;
  [[nodiscard]] Result<double> number_or(Range<double> range, double otherwise) const;
  template <std::integral T>
  [[nodiscard]] Result<T> integer_or(Range<T> range, T otherwise) const;

  /// Error "FILE: path is FOUND, expected `expected`".
  [[nodiscard]] tl::unexpected<Error> wrong(std::string_view expected) const;

 private:
  struct Missing {};
  JsonField(Missing, std::string_view file, std::string path)
      : value_(nullptr), file_(file), path_(std::move(path)) {}
  template <std::integral T>
  [[nodiscard]] bool holds(Range<T> range) const;

  const nlohmann::json* value_;  ///< Null if the value is missing.
  std::string_view file_;
  std::string path_;
};

template <std::integral T>
bool JsonField::holds(Range<T> range) const {
  // The library would silently wrap a number that does not fit.
  const nlohmann::json& found = value();
  if (found.is_number_unsigned())
    return std::cmp_greater_equal(found.get<std::uint64_t>(), range.min) &&
           std::cmp_less_equal(found.get<std::uint64_t>(), range.max);
  return found.is_number_integer() && std::cmp_greater_equal(found.get<std::int64_t>(), range.min) &&
         std::cmp_less_equal(found.get<std::int64_t>(), range.max);
}

template <std::integral T>
Result<T> JsonField::integer(Range<T> range) const {
  if (holds(range)) return value().template get<T>();
  const Range<T> whole;
  const bool is_bounded = range.min != whole.min || range.max != whole.max;
  if (!is_bounded && (std::same_as<T, std::int64_t> || !value().is_number())) return wrong("an integer");
  return wrong(fmt::format("an integer from {} to {}", range.min, range.max));
}

template <std::integral T>
Result<T> JsonField::integer_or(Range<T> range, T otherwise) const {
  if (is_null()) return otherwise;
  return integer(range);
}

template <typename Enumeration>
Result<Enumeration> JsonField::named(std::string_view (*name_of)(Enumeration), Enumeration last) const {
  DRAFTSCOPE_TRY_ASSIGN(const std::string name, text());
  std::string known;
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    const std::string_view one = name_of(static_cast<Enumeration>(i));
    if (one == name) return static_cast<Enumeration>(i);
    known += (i == 0 ? "" : i == static_cast<int>(last) ? " or " : ", ") + std::string(one);
  }
  return wrong(known);
}

}  // namespace draftscope
