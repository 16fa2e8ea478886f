// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The header of a safetensors file: 8 bytes little-endian length N, N bytes of JSON that maps tensor names to
// {dtype, shape, data_offsets}, then the data from which the offsets count. Parsing is as strict as the
// format's own implementation: the tensors tile the data without hole or overlap, and each has exactly the
// bytes its type and shape need.

#include <draftscope/base/result.h>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::engine {

struct SafetensorsEntry {
  std::string name;
  std::string dtype;                 ///< type in the file: "BF16"
  std::vector<std::uint64_t> shape;  ///< empty = a scalar
  std::uint64_t begin = 0;           ///< bytes from the start of the file, half-open
  std::uint64_t end = 0;
};

struct SafetensorsHeader {
  std::uint64_t json_bytes = 0;           ///< length N of the JSON, including padding
  std::vector<SafetensorsEntry> entries;  ///< in the order of their data
};

/// The format's own limit of N.
inline constexpr std::uint64_t max_header_bytes = 100'000'000;

/// Parses the header; `bytes` is the whole file, of which only the header is read. `file` is the name in
/// errors.
[[nodiscard]] Result<SafetensorsHeader> parse_safetensors_header(std::span<const std::byte> bytes,
                                                                 std::string_view file);

}  // namespace draftscope::engine
