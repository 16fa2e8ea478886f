// SPDX-License-Identifier: GPL-3.0-or-later
#include "import/json_lines.h"

#include <nlohmann/json.hpp>

namespace draftscope::traces {

Result<nlohmann::json> parse_json(std::string_view text, const std::string& where) {
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    return fail("{}: is not JSON from byte {} on, expected a whole JSON object", where, error.byte);
  } catch (const nlohmann::json::exception&) {
    return fail("{}: holds a number that is too large, expected a JSON object", where);
  }
}

Result<void> read_json_lines(
    const std::filesystem::path& file, const ImportProgress& progress,
    const std::function<Result<void>(const nlohmann::json&, std::int64_t, const std::string&)>& take,
    bool may_be_cut) {
  const std::string name = file.string();
  std::int64_t objects = 0;
  DRAFTSCOPE_TRY(read_text_lines(
      file, progress, [&](std::string_view line, std::int64_t number, bool is_ended) -> Result<void> {
        if (line.find_first_not_of(" \t\r") == std::string_view::npos) return {};
        if (!is_ended && may_be_cut && !nlohmann::json::accept(line)) return {};
        ++objects;
        const std::string where = fmt::format("{}: line {}", name, number);
        DRAFTSCOPE_TRY_ASSIGN(const nlohmann::json object, parse_json(line, where));
        if (!object.is_object()) return fail("{}: is {}, expected a JSON object", where, object.type_name());
        return take(object, number, where);
      }));
  if (objects == 0) return fail("{}: is empty, expected a JSON object a line", name);
  return {};
}

}  // namespace draftscope::traces
