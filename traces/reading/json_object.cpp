// SPDX-License-Identifier: GPL-3.0-or-later
#include "reading/json_object.h"

#include <new>
#include <nlohmann/json.hpp>
#include <string_view>

namespace draftscope::traces {

namespace {

bool is_json_object(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && text[begin] == '{' && nlohmann::json::accept(text);
}

void answer(sqlite3_context* context, int /*arguments*/, sqlite3_value** values) noexcept {
  if (sqlite3_value_type(*values) != SQLITE_TEXT) return sqlite3_result_int(context, 0);
  const auto* const text = reinterpret_cast<const char*>(sqlite3_value_text(*values));
  if (text == nullptr) return sqlite3_result_error_nomem(context);
  try {
    const auto size = static_cast<std::size_t>(sqlite3_value_bytes(*values));
    sqlite3_result_int(context, is_json_object({text, size}) ? 1 : 0);
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  }
}

}  // namespace

bool add_is_json_object(sqlite3* database) {
  return sqlite3_create_function_v2(database, "is_json_object", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                                    nullptr, answer, nullptr, nullptr, nullptr) == SQLITE_OK;
}

}  // namespace draftscope::traces
