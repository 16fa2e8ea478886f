// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Types and state spaces of PTX (PTX ISA 9.0, State Spaces, Types, and Variables).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace draftscope::ptx {

enum class Type : std::uint8_t {
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  bf16,
  f16x2,
  bf16x2,
  f32,
  f64,
};

/// The type of a suffix without its dot ("s32"); absent if PTX has none of that name or we do not compute
/// with it.
[[nodiscard]] std::optional<Type> type_of_name(std::string_view name);
/// Bytes of one value in memory; 1 of a predicate, which has no place there.
[[nodiscard]] std::size_t type_bytes(Type type);
[[nodiscard]] bool is_signed(Type type);
[[nodiscard]] bool is_float(Type type);

enum class Space : std::uint8_t { generic, global, shared, local, param, constant };

[[nodiscard]] std::optional<Space> space_of_name(std::string_view name);

}  // namespace draftscope::ptx
