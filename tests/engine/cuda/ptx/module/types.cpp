// SPDX-License-Identifier: GPL-3.0-or-later
#include "module/types.h"

#include <algorithm>
#include <iterator>

namespace draftscope::ptx {

namespace {

enum class Kind : std::uint8_t { bits, whole, signed_whole, floating };

struct TypeRow {
  std::string_view name;
  Type type;
  std::size_t bytes;
  Kind kind;
};

// In the order of the enumeration.
constexpr TypeRow type_rows[] = {
    {"pred", Type::pred, 1, Kind::bits},       {"b8", Type::b8, 1, Kind::bits},
    {"b16", Type::b16, 2, Kind::bits},         {"b32", Type::b32, 4, Kind::bits},
    {"b64", Type::b64, 8, Kind::bits},         {"b128", Type::b128, 16, Kind::bits},
    {"u8", Type::u8, 1, Kind::whole},          {"u16", Type::u16, 2, Kind::whole},
    {"u32", Type::u32, 4, Kind::whole},        {"u64", Type::u64, 8, Kind::whole},
    {"s8", Type::s8, 1, Kind::signed_whole},   {"s16", Type::s16, 2, Kind::signed_whole},
    {"s32", Type::s32, 4, Kind::signed_whole}, {"s64", Type::s64, 8, Kind::signed_whole},
    {"f16", Type::f16, 2, Kind::floating},     {"bf16", Type::bf16, 2, Kind::floating},
    {"f16x2", Type::f16x2, 4, Kind::floating}, {"bf16x2", Type::bf16x2, 4, Kind::floating},
    {"f32", Type::f32, 4, Kind::floating},     {"f64", Type::f64, 8, Kind::floating},
};

const TypeRow& row_of(Type type) {
  return type_rows[static_cast<std::size_t>(type)];
}

}  // namespace

std::optional<Type> type_of_name(std::string_view name) {
  const auto* found = std::find_if(std::begin(type_rows), std::end(type_rows),
                                   [&](const TypeRow& row) { return row.name == name; });
  if (found == std::end(type_rows)) return std::nullopt;
  return found->type;
}

std::size_t type_bytes(Type type) {
  return row_of(type).bytes;
}

bool is_signed(Type type) {
  return row_of(type).kind == Kind::signed_whole;
}

bool is_float(Type type) {
  return row_of(type).kind == Kind::floating;
}

std::optional<Space> space_of_name(std::string_view name) {
  struct SpaceRow {
    std::string_view name;
    Space space;
  };
  constexpr SpaceRow rows[] = {{"global", Space::global},  {"shared", Space::shared},
                               {"local", Space::local},    {"param", Space::param},
                               {"const", Space::constant}, {"shared::cta", Space::shared}};
  for (const SpaceRow& row : rows)
    if (row.name == name) return row.space;
  return std::nullopt;
}

}  // namespace draftscope::ptx
