// SPDX-License-Identifier: GPL-3.0-or-later
#include "metadata.h"

#include <draftscope/base/number.h>
#include <draftscope/base/quote.h>
#include <cmath>
#include <cstring>
#include <optional>

namespace draftscope::engine::gguf {
namespace {

constexpr int max_array_depth = 4;

/// Minimum bytes of a key: its length, its type and a byte of value.
constexpr std::uint64_t min_key_bytes = 8 + 4 + 1;

/// Bytes of a number or boolean; 0 for strings, arrays and unknown types.
std::uint64_t scalar_bytes(ValueType type) {
  switch (type) {
    case ValueType::u8:
    case ValueType::i8:
    case ValueType::boolean:
      return 1;
    case ValueType::u16:
    case ValueType::i16:
      return 2;
    case ValueType::u32:
    case ValueType::i32:
    case ValueType::f32:
      return 4;
    case ValueType::u64:
    case ValueType::i64:
    case ValueType::f64:
      return 8;
    case ValueType::string:
    case ValueType::array:
      break;
  }
  return 0;
}

Result<ValueType> read_type(ByteCursor& cursor, std::string_view key) {
  DRAFTSCOPE_TRY_ASSIGN(const auto type, cursor.number<std::uint32_t>("a value's type"));
  if (type > static_cast<std::uint32_t>(ValueType::f64))
    return fail("{}: {} has a value of type {}, expected 0 to 12", cursor.file(), quote(key), type);
  return static_cast<ValueType>(type);
}

/// Reads the elements of one array, after its type and count. The minimum size of an element bounds their
/// number.
Result<void> read_elements(std::string_view key, int depth, ByteCursor& cursor, MetadataValue& value) {
  const std::uint64_t min_bytes = value.type == ValueType::array ? 12 : 8;
  const std::uint64_t scalar = scalar_bytes(value.type);
  if (value.count > cursor.remaining() / (scalar > 0 ? scalar : min_bytes))
    return fail("{}: {} has {} elements, expected no more than the file's {} bytes left hold", cursor.file(),
                quote(key), value.count, cursor.remaining());
  if (scalar > 0) {
    DRAFTSCOPE_TRY_ASSIGN(value.bytes, cursor.take(value.count * scalar, "an array"));
    return {};
  }
  if (value.type == ValueType::string) {
    value.texts.reserve(static_cast<std::size_t>(value.count));
    for (std::uint64_t i = 0; i < value.count; ++i) {
      DRAFTSCOPE_TRY_ASSIGN(value.texts.emplace_back(), cursor.text("a string"));
    }
    return {};
  }
  // Arrays of arrays are skipped: no key that is read here has one.
  if (depth >= max_array_depth)
    return fail("{}: {} has arrays nested more than {} deep, expected fewer", cursor.file(), quote(key),
                max_array_depth);
  for (std::uint64_t i = 0; i < value.count; ++i) {
    MetadataValue inner;
    DRAFTSCOPE_TRY_ASSIGN(inner.type, read_type(cursor, key));
    DRAFTSCOPE_TRY_ASSIGN(inner.count, cursor.number<std::uint64_t>("an array's length"));
    DRAFTSCOPE_TRY(read_elements(key, depth + 1, cursor, inner));
  }
  return {};
}

Result<MetadataValue> read_value(std::string_view key, ByteCursor& cursor) {
  MetadataValue value;
  DRAFTSCOPE_TRY_ASSIGN(value.type, read_type(cursor, key));
  value.is_array = value.type == ValueType::array;
  if (value.is_array) {
    DRAFTSCOPE_TRY_ASSIGN(value.type, read_type(cursor, key));
    DRAFTSCOPE_TRY_ASSIGN(value.count, cursor.number<std::uint64_t>("an array's length"));
  }
  DRAFTSCOPE_TRY(read_elements(key, 1, cursor, value));
  return value;
}

template <typename T>
T element(const MetadataValue& value, std::uint64_t index) {
  T number;
  std::memcpy(&number, value.bytes.data() + index * sizeof number, sizeof number);
  return number;
}

/// The number as a config.json would have it.
double shortest_decimal(float value) {
  if (!std::isfinite(value)) return value;
  return parse_number<double>(fmt::format("{}", value)).value_or(value);
}

}  // namespace

Result<Metadata> Metadata::read(std::uint64_t count, ByteCursor& cursor) {
  Metadata metadata;
  metadata.file_ = cursor.file();
  if (count > cursor.remaining() / min_key_bytes)
    return fail("{}: {} metadata keys, expected no more than the file's {} bytes left hold", metadata.file_,
                count, cursor.remaining());
  for (std::uint64_t i = 0; i < count; ++i) {
    DRAFTSCOPE_TRY_ASSIGN(const auto key, cursor.text("a metadata key"));
    DRAFTSCOPE_TRY_ASSIGN(auto value, read_value(key, cursor));
    if (!metadata.values_.emplace(key, std::move(value)).second)
      return fail("{}: the key {} occurs twice, expected once", metadata.file_, quote(key));
  }
  return metadata;
}

const MetadataValue* Metadata::find(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

std::optional<std::int64_t> Metadata::integer_at(const MetadataValue& value, std::uint64_t index) {
  switch (value.type) {
    case ValueType::u8:
      return element<std::uint8_t>(value, index);
    case ValueType::i8:
      return element<std::int8_t>(value, index);
    case ValueType::u16:
      return element<std::uint16_t>(value, index);
    case ValueType::i16:
      return element<std::int16_t>(value, index);
    case ValueType::u32:
      return element<std::uint32_t>(value, index);
    case ValueType::i32:
      return element<std::int32_t>(value, index);
    case ValueType::i64:
      return element<std::int64_t>(value, index);
    case ValueType::u64: {
      const auto number = element<std::uint64_t>(value, index);
      if (std::in_range<std::int64_t>(number)) return static_cast<std::int64_t>(number);
      return std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

std::optional<double> Metadata::number_at(const MetadataValue& value, std::uint64_t index) {
  if (value.type == ValueType::f32) return shortest_decimal(element<float>(value, index));
  if (value.type == ValueType::f64) return element<double>(value, index);
  const auto integer = integer_at(value, index);
  return integer ? std::optional(static_cast<double>(*integer)) : std::nullopt;
}

tl::unexpected<Error> Metadata::wrong(std::string_view key, std::string_view expected) const {
  const MetadataValue* const value = find(key);
  if (value == nullptr) return fail("{}: {} is missing, expected {}", file_, key, expected);
  std::string found;
  if (value->is_array) {
    found = fmt::format("an array of {}", value->count);
  } else if (value->type == ValueType::string) {
    found = quote(value->texts.front());
  } else if (value->type == ValueType::boolean) {
    found = element<std::uint8_t>(*value, 0) != 0 ? "true" : "false";
  } else if (value->type == ValueType::u64) {
    found = std::to_string(element<std::uint64_t>(*value, 0));
  } else if (const auto integer = integer_at(*value, 0)) {
    found = std::to_string(*integer);
  } else {
    found = fmt::format("{}", number_at(*value, 0).value_or(0.0));
  }
  return fail("{}: {} is {}, expected {}", file_, key, found, expected);
}

Result<std::string_view> Metadata::text(std::string_view key) const {
  const MetadataValue* const value = find(key);
  if (value == nullptr || value->is_array || value->type != ValueType::string) return wrong(key, "a string");
  return value->texts.front();
}

Result<std::string_view> Metadata::text_or(std::string_view key, std::string_view otherwise) const {
  if (!has(key)) return otherwise;
  return text(key);
}

Result<bool> Metadata::boolean_or(std::string_view key, bool otherwise) const {
  const MetadataValue* const value = find(key);
  if (value == nullptr) return otherwise;
  if (value->is_array || value->type != ValueType::boolean) return wrong(key, "a boolean");
  return element<std::uint8_t>(*value, 0) != 0;
}

Result<std::int64_t> Metadata::integer_within(std::string_view key, std::int64_t min,
                                              std::int64_t max) const {
  const MetadataValue* const value = find(key);
  const auto number = value == nullptr || value->is_array ? std::nullopt : integer_at(*value, 0);
  if (!number || *number < min || *number > max)
    return wrong(key, fmt::format("an integer from {} to {}", min, max));
  return *number;
}

Result<std::int64_t> Metadata::shared_integer_within(std::string_view key, std::int64_t min,
                                                     std::int64_t max) const {
  const MetadataValue* const value = find(key);
  if (value == nullptr || !value->is_array) return integer_within(key, min, max);
  const auto first = value->count > 0 ? integer_at(*value, 0) : std::nullopt;
  if (!first || *first < min || *first > max)
    return wrong(key, fmt::format("integers from {} to {}", min, max));
  for (std::uint64_t i = 1; i < value->count; ++i)
    if (integer_at(*value, i) != first)
      return fail("{}: {} differs from layer to layer, expected {} in all, as in the first", file_, key,
                  *first);
  return *first;
}

Result<double> Metadata::number(std::string_view key, Range<double> range) const {
  const MetadataValue* const value = find(key);
  const auto number = value == nullptr || value->is_array ? std::nullopt : number_at(*value, 0);
  // Written so that a NaN fails.
  if (!number || !(*number >= range.min && *number <= range.max))
    return wrong(key, fmt::format("a number from {} to {}", range.min, range.max));
  return *number;
}

Result<double> Metadata::number_or(std::string_view key, Range<double> range, double otherwise) const {
  if (!has(key)) return otherwise;
  return number(key, range);
}

Result<std::vector<std::string_view>> Metadata::texts(std::string_view key) const {
  const MetadataValue* const value = find(key);
  if (value == nullptr || !value->is_array || value->type != ValueType::string)
    return wrong(key, "an array of strings");
  return value->texts;
}

Result<std::vector<std::int64_t>> Metadata::integers(std::string_view key) const {
  const MetadataValue* const value = find(key);
  std::vector<std::int64_t> numbers;
  if (value == nullptr || !value->is_array) return wrong(key, "an array of integers");
  for (std::uint64_t i = 0; i < value->count; ++i) {
    const auto number = integer_at(*value, i);
    if (!number) return wrong(key, "an array of integers");
    numbers.push_back(*number);
  }
  return numbers;
}

Result<std::vector<double>> Metadata::numbers(std::string_view key) const {
  const MetadataValue* const value = find(key);
  std::vector<double> numbers;
  if (value == nullptr || !value->is_array) return wrong(key, "an array of numbers");
  for (std::uint64_t i = 0; i < value->count; ++i) {
    // Scores are only compared and never shown, so the stored number is used instead of its decimal.
    const auto number = value->type == ValueType::f32 ? std::optional<double>(element<float>(*value, i))
                                                      : number_at(*value, i);
    if (!number) return wrong(key, "an array of numbers");
    numbers.push_back(*number);
  }
  return numbers;
}

Result<std::vector<bool>> Metadata::booleans(std::string_view key) const {
  const MetadataValue* const value = find(key);
  if (value == nullptr || !value->is_array || value->type != ValueType::boolean)
    return wrong(key, "an array of booleans");
  std::vector<bool> flags;
  for (std::uint64_t i = 0; i < value->count; ++i) flags.push_back(element<std::uint8_t>(*value, i) != 0);
  return flags;
}

}  // namespace draftscope::engine::gguf
