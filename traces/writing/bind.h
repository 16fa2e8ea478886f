// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Binds a record's fields to an INSERT statement's parameters, in the order of columns.h.

#include <sqlite3.h>
#include <bit>
#include <cmath>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "storage/columns.h"

namespace draftscope::traces {

static_assert(std::endian::native == std::endian::little, "token lists are stored as little-endian int32");

/// Binds text and blobs without a copy, so the record must live until the statement is stepped.
class Binder {
 public:
  explicit Binder(sqlite3_stmt* statement) : statement_(statement) {}

  template <typename Tag>
  void id(std::string_view /*name*/, Id<Tag> field) {
    integer(field.value());
  }
  template <typename Tag>
  void key(std::string_view /*name*/, Id<Tag> field, std::string_view /*table*/) {
    integer(field.value());
  }
  template <typename Tag>
  void reference(std::string_view /*name*/, Id<Tag> field, std::string_view /*table*/) {
    if (field.is_none())
      sqlite3_bind_null(statement_, ++column_);
    else
      integer(field.value());
  }
  template <typename Field>
  void enumeration(std::string_view /*name*/, Field field, int /*values*/, std::string_view /*table*/) {
    integer(static_cast<std::int64_t>(field));
  }
  /// Only an exact 0 becomes 0, so that a small difference is not mistaken for none.
  void millionths(std::string_view /*name*/, double field) {
    const double scaled = field * 1e6;
    if (!(std::abs(scaled) < 0x1p62)) {  // not a number too
      sqlite3_bind_null(statement_, ++column_);
      return;
    }
    const std::int64_t rounded = std::llround(scaled);
    integer(rounded == 0 && field > 0.0 ? 1 : rounded);
  }
  template <typename Field>
  void value(std::string_view /*name*/, const Field& field) {
    if constexpr (std::is_floating_point_v<Field>) {
      sqlite3_bind_double(statement_, ++column_, field);  // not a number becomes NULL
    } else if constexpr (std::is_integral_v<Field>) {
      integer(static_cast<std::int64_t>(field));
    } else if constexpr (std::is_same_v<Field, std::string>) {
      sqlite3_bind_text64(statement_, ++column_, field.data(), field.size(), SQLITE_STATIC, SQLITE_UTF8);
    } else {
      // A null pointer, which an empty vector may have, would bind NULL.
      sqlite3_bind_blob64(statement_, ++column_, field.empty() ? static_cast<const void*>("") : field.data(),
                          field.size() * sizeof(typename Field::value_type), SQLITE_STATIC);
    }
  }

 private:
  void integer(std::int64_t number) { sqlite3_bind_int64(statement_, ++column_, number); }

  sqlite3_stmt* statement_;
  int column_ = 0;
};

}  // namespace draftscope::traces
