// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The keys and values that precede a GGUF file's tensors. Values point into the file's mapping, which must
// outlive them. Immutable once read, so thread-safe.

#include <draftscope/base/json_field.h>
#include <draftscope/base/result.h>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "byte_cursor.h"

namespace draftscope::engine::gguf {

/// Types of values; the numbers are those of the format.
enum class ValueType : std::uint32_t {
  u8 = 0,
  i8 = 1,
  u16 = 2,
  i16 = 3,
  u32 = 4,
  i32 = 5,
  f32 = 6,
  boolean = 7,
  string = 8,
  array = 9,
  u64 = 10,
  i64 = 11,
  f64 = 12,
};

/// A value, or the values of an array.
struct MetadataValue {
  ValueType type = ValueType::u8;  ///< type of the elements, if it is an array
  bool is_array = false;
  std::uint64_t count = 1;              ///< number of elements
  std::span<const std::byte> bytes;     ///< numbers and booleans, little-endian, contiguous
  std::vector<std::string_view> texts;  ///< the strings, if the type is string
};

/// Typed reads of keys. An integer may be stored in any integer type. Errors are one line that names the
/// file, the key, what was found and what was expected.
class Metadata {
 public:
  /// Reads `count` keys at the cursor. Errors: the file ends, a key occurs twice, a type is unknown, arrays
  /// are nested more than four deep.
  [[nodiscard]] static Result<Metadata> read(std::uint64_t count, ByteCursor& cursor);

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] bool has(std::string_view key) const { return values_.contains(key); }
  [[nodiscard]] const std::unordered_map<std::string_view, MetadataValue>& values() const { return values_; }
  /// The value of a key; null if there is none.
  [[nodiscard]] const MetadataValue* find(std::string_view key) const;

  [[nodiscard]] Result<std::string_view> text(std::string_view key) const;
  [[nodiscard]] Result<std::string_view> text_or(std::string_view key, std::string_view otherwise) const;
  [[nodiscard]] Result<bool> boolean_or(std::string_view key, bool otherwise) const;
  template <std::integral T>
  [[nodiscard]] Result<T> integer(std::string_view key, Range<T> range = {}) const;
  template <std::integral T>
  [[nodiscard]] Result<T> integer_or(std::string_view key, Range<T> range, T otherwise) const;
  /// A single number, or an array of equal ones (one number per layer).
  template <std::integral T>
  [[nodiscard]] Result<T> shared_integer(std::string_view key, Range<T> range = {}) const;
  /// A finite number. A number stored in 32 bits is read as its shortest decimal: 1e-5 if a config.json said
  /// 1e-5.
  [[nodiscard]] Result<double> number(std::string_view key, Range<double> range) const;
  [[nodiscard]] Result<double> number_or(std::string_view key, Range<double> range, double otherwise) const;
  [[nodiscard]] Result<std::vector<std::string_view>> texts(std::string_view key) const;
  [[nodiscard]] Result<std::vector<std::int64_t>> integers(std::string_view key) const;
  [[nodiscard]] Result<std::vector<double>> numbers(std::string_view key) const;
  [[nodiscard]] Result<std::vector<bool>> booleans(std::string_view key) const;

  /// The error "FILE: KEY is FOUND, expected `expected`", or "KEY is missing".
  [[nodiscard]] tl::unexpected<Error> wrong(std::string_view key, std::string_view expected) const;

 private:
  /// The element as an integer; none if it is no integer, or needs more than 63 bits.
  [[nodiscard]] static std::optional<std::int64_t> integer_at(const MetadataValue& value,
                                                              std::uint64_t index);
  [[nodiscard]] static std::optional<double> number_at(const MetadataValue& value, std::uint64_t index);
  /// A single integer within [min, max].
  [[nodiscard]] Result<std::int64_t> integer_within(std::string_view key, std::int64_t min,
                                                    std::int64_t max) const;
  [[nodiscard]] Result<std::int64_t> shared_integer_within(std::string_view key, std::int64_t min,
                                                           std::int64_t max) const;

  std::string file_;
  std::unordered_map<std::string_view, MetadataValue> values_;
};

template <std::integral T>
Result<T> Metadata::integer(std::string_view key, Range<T> range) const {
  static_assert(sizeof(T) < sizeof(std::int64_t) || std::signed_integral<T>);
  DRAFTSCOPE_TRY_ASSIGN(const auto value, integer_within(key, range.min, range.max));
  return static_cast<T>(value);
}

template <std::integral T>
Result<T> Metadata::integer_or(std::string_view key, Range<T> range, T otherwise) const {
  if (!has(key)) return otherwise;
  return integer(key, range);
}

template <std::integral T>
Result<T> Metadata::shared_integer(std::string_view key, Range<T> range) const {
  static_assert(sizeof(T) < sizeof(std::int64_t) || std::signed_integral<T>);
  DRAFTSCOPE_TRY_ASSIGN(const auto value, shared_integer_within(key, range.min, range.max));
  return static_cast<T>(value);
}

}  // namespace draftscope::engine::gguf
