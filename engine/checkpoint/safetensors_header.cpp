// SPDX-License-Identifier: GPL-3.0-or-later
#include "safetensors_header.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include <draftscope/base/quote.h>

namespace draftscope::engine {
namespace {

constexpr std::uint64_t length_bytes = 8;

/// Every element type the format knows, and its size in bits.
constexpr std::array<std::pair<std::string_view, std::uint64_t>, 22> dtype_bits{{
    {"F32", 32},    {"BF16", 16},   {"F16", 16},        {"F64", 64},        {"C64", 64},    {"F8_E4M3", 8},
    {"F8_E5M2", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"F6_E2M3", 6}, {"F6_E3M2", 6},
    {"F4", 4},      {"BOOL", 8},    {"I8", 8},          {"U8", 8},          {"I16", 16},    {"U16", 16},
    {"I32", 32},    {"U32", 32},    {"I64", 64},        {"U64", 64},
}};

/// Walks the JSON event by event: no tree is built, so a hostile header of 100 MB costs no more than its
/// entries. A function that returns false stops the parser; `error` then says why.
class HeaderReader {
 public:
  std::vector<SafetensorsEntry> entries;
  std::string error;

  bool start_object(std::size_t) {
    if (place_ == HeaderPlace::outside) return enter(HeaderPlace::top);
    if (place_ != HeaderPlace::value_of_top) return unexpected("an object");
    if (key_ == "__metadata__") {
      if (has_metadata_) return stop("the key '__metadata__' occurs twice, expected once");
      has_metadata_ = true;
      return enter(HeaderPlace::metadata);
    }
    entries.emplace_back();
    entries.back().name = std::move(key_);
    has_dtype_ = has_shape_ = has_offsets_ = false;
    return enter(HeaderPlace::entry);
  }

  bool key(std::string& name) {
    key_ = name;
    if (place_ == HeaderPlace::top) return enter(HeaderPlace::value_of_top);
    if (place_ == HeaderPlace::metadata) return enter(HeaderPlace::value_of_metadata);
    bool* const seen = name == "dtype"          ? &has_dtype_
                       : name == "shape"        ? &has_shape_
                       : name == "data_offsets" ? &has_offsets_
                                                : nullptr;
    if (seen == nullptr)
      return stop(fmt::format("tensor {} has the field {}, expected dtype, shape and data_offsets", tensor(),
                              quote(name)));
    if (std::exchange(*seen, true))
      return stop(fmt::format("tensor {} has two fields {}, expected one", tensor(), name));
    return enter(HeaderPlace::value_of_entry);
  }

  bool end_object() {
    if (place_ == HeaderPlace::top) return enter(HeaderPlace::done);
    if (place_ == HeaderPlace::entry && !(has_dtype_ && has_shape_ && has_offsets_))
      return stop(fmt::format("tensor {} has no {}", tensor(),
                              !has_dtype_   ? "dtype"
                              : !has_shape_ ? "shape"
                                            : "data_offsets"));
    if (place_ == HeaderPlace::entry && offsets_seen_ != 2)
      return stop(fmt::format("tensor {}: data_offsets has {} numbers, expected 2", tensor(), offsets_seen_));
    return enter(HeaderPlace::top);
  }

  bool start_array(std::size_t) {
    if (place_ != HeaderPlace::value_of_entry || key_ == "dtype") return unexpected("an array");
    if (key_ == "data_offsets") offsets_seen_ = 0;
    return enter(key_ == "shape" ? HeaderPlace::shape : HeaderPlace::offsets);
  }
  bool end_array() { return enter(HeaderPlace::entry); }

  bool string(std::string& text) {
    if (place_ == HeaderPlace::value_of_metadata) return enter(HeaderPlace::metadata);
    if (place_ != HeaderPlace::value_of_entry || key_ != "dtype") return unexpected(quote(text));
    entries.back().dtype = text;
    return enter(HeaderPlace::entry);
  }

  bool number_unsigned(std::uint64_t number) {
    if (place_ == HeaderPlace::shape) {
      entries.back().shape.push_back(number);
    } else if (place_ == HeaderPlace::offsets) {
      if (offsets_seen_ < 2) (offsets_seen_ == 0 ? entries.back().begin : entries.back().end) = number;
      ++offsets_seen_;
    } else {
      return unexpected(std::to_string(number));
    }
    return true;
  }
  bool number_integer(std::int64_t number) { return unexpected(std::to_string(number)); }
  bool number_float(double, const std::string& text) { return unexpected(quote(text)); }
  bool null() { return unexpected("null"); }
  bool boolean(bool value) { return unexpected(value ? "true" : "false"); }
  bool binary(std::vector<std::uint8_t>&) { return unexpected("binary"); }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) {
    return stop(fmt::format("not valid JSON at byte {}", position + length_bytes));
  }

 private:
  enum class HeaderPlace : std::uint8_t {
    outside,
    top,
    value_of_top,
    metadata,
    value_of_metadata,
    entry,
    value_of_entry,
    shape,
    offsets,
    done
  };

  bool enter(HeaderPlace place) {
    place_ = place;
    return true;
  }
  bool stop(std::string reason) {
    error = std::move(reason);
    return false;
  }
  [[nodiscard]] std::string tensor() const { return quote(entries.back().name); }

  bool unexpected(const std::string& found) {
    switch (place_) {
      case HeaderPlace::outside:
        return stop(fmt::format("found {}, expected a JSON object", found));
      case HeaderPlace::value_of_top:
        return stop(fmt::format("{} is {}, expected an object", quote(key_), found));
      case HeaderPlace::value_of_metadata:
        return stop(fmt::format("__metadata__ {} is {}, expected a string", quote(key_), found));
      case HeaderPlace::shape:
        return stop(fmt::format("tensor {}: shape holds {}, expected unsigned integers", tensor(), found));
      case HeaderPlace::offsets:
        return stop(
            fmt::format("tensor {}: data_offsets holds {}, expected unsigned integers", tensor(), found));
      default:
        return stop(fmt::format("tensor {}: {} is {}, expected {}", tensor(), key_, found,
                                key_ == "dtype" ? "a string" : "an array of unsigned integers"));
    }
  }

  HeaderPlace place_ = HeaderPlace::outside;
  std::string key_;
  int offsets_seen_ = 0;
  bool has_metadata_ = false;
  bool has_dtype_ = false;
  bool has_shape_ = false;
  bool has_offsets_ = false;
};

std::optional<std::uint64_t> bits_of(std::string_view dtype) {
  for (const auto& [name, bits] : dtype_bits)
    if (name == dtype) return bits;
  return std::nullopt;
}

/// Bytes that a tensor of this type and shape needs.
Result<std::uint64_t> needed_bytes(const SafetensorsEntry& entry, std::string_view file) {
  const auto bits = bits_of(entry.dtype);
  if (!bits)
    return fail("{}: tensor {}: unknown dtype {}, expected one of the format's, as F32, BF16 or F16", file,
                quote(entry.name), quote(entry.dtype));
  std::uint64_t product = *bits;
  for (const auto extent : entry.shape)
    if (__builtin_mul_overflow(product, extent, &product))
      return fail("{}: tensor {}: found shape [{}], expected a number of bytes that fits 64 bits", file,
                  quote(entry.name), fmt::join(entry.shape, ", "));
  if (product % 8 != 0)
    return fail("{}: tensor {}: {} bits, expected whole bytes", file, quote(entry.name), product);
  return product / 8;
}

/// Checks the layout, and turns offsets into file positions.
Result<void> check_layout(std::vector<SafetensorsEntry>& entries, std::uint64_t data_begin,
                          std::uint64_t file_bytes, std::string_view file) {
  const std::uint64_t data_bytes = file_bytes - data_begin;
  std::uint64_t expected_begin = 0;
  for (auto& entry : entries) {
    const auto name = quote(entry.name);
    if (entry.end < entry.begin)
      return fail("{}: tensor {}: data_offsets [{}, {}], expected begin ≤ end", file, name, entry.begin,
                  entry.end);
    if (entry.end > data_bytes)
      return fail(
          "{}: tensor {}: data ends at byte {}, expected at most {}; the file is truncated or damaged", file,
          name, entry.end, data_bytes);
    if (entry.begin != expected_begin)
      return fail("{}: tensor {}: data begins at byte {}, expected {} ({})", file, name, entry.begin,
                  expected_begin, entry.begin < expected_begin ? "overlap" : "hole");
    DRAFTSCOPE_TRY_ASSIGN(const auto bytes, needed_bytes(entry, file));
    if (entry.end - entry.begin != bytes)
      return fail("{}: tensor {}: {} bytes of data, expected {} for {} [{}]", file, name,
                  entry.end - entry.begin, bytes, entry.dtype, fmt::join(entry.shape, ", "));
    expected_begin = entry.end;
    entry.begin += data_begin;
    entry.end += data_begin;
  }
  if (expected_begin != data_bytes)
    return fail("{}: {} data bytes belong to no tensor, expected none", file, data_bytes - expected_begin);
  return {};
}

Result<void> check_names_differ(const std::vector<SafetensorsEntry>& entries, std::string_view file) {
  std::vector<std::string_view> names;
  names.reserve(entries.size());
  for (const auto& entry : entries) names.emplace_back(entry.name);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) return fail("{}: tensor {} occurs twice, expected once", file, quote(*twice));
  return {};
}

}  // namespace

Result<SafetensorsHeader> parse_safetensors_header(std::span<const std::byte> bytes, std::string_view file) {
  if (bytes.size() < length_bytes)
    return fail("{}: {} bytes, expected a safetensors header of at least {}", file, bytes.size(),
                length_bytes);
  SafetensorsHeader header;
  std::memcpy(&header.json_bytes, bytes.data(), length_bytes);
  if (header.json_bytes > max_header_bytes)
    return fail("{}: header of {} bytes, expected at most {}; not a safetensors file?", file,
                header.json_bytes, max_header_bytes);
  if (header.json_bytes > bytes.size() - length_bytes)
    return fail("{}: header of {} bytes in a file of {}, expected a header that fits; the file is truncated",
                file, header.json_bytes, bytes.size());
  const std::string_view json(reinterpret_cast<const char*>(bytes.data()) + length_bytes, header.json_bytes);
  if (!json.starts_with('{'))
    return fail("{}: header begins with {}, expected '{{'", file, quote(json.substr(0, 1)));
  // The JSON parser would take a zero byte for the end of the text.
  if (const auto zero = json.find('\0'); zero != std::string_view::npos)
    return fail("{}: header holds a zero byte at byte {}, expected JSON text", file, zero + length_bytes);

  HeaderReader reader;
  try {
    if (!nlohmann::json::sax_parse(json, &reader)) return fail("{}: header: {}", file, reader.error);
  } catch (const nlohmann::json::exception& error) {
    return fail("{}: header: {}", file, quote(error.what()));
  }
  header.entries = std::move(reader.entries);
  DRAFTSCOPE_TRY(check_names_differ(header.entries, file));
  std::sort(header.entries.begin(), header.entries.end(), [](const auto& a, const auto& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  DRAFTSCOPE_TRY(check_layout(header.entries, length_bytes + header.json_bytes, bytes.size(), file));
  return header;
}

}  // namespace draftscope::engine
