// SPDX-License-Identifier: GPL-3.0-or-later
#include "import/text_lines.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace draftscope::traces {

Result<void> ImportProgress::update(std::int64_t bytes_of_file) const {
  if (report && !report(done_bytes + bytes_of_file, all_bytes)) return fail("import cancelled");
  return {};
}

Result<void> read_text_lines(const std::filesystem::path& file, const ImportProgress& progress,
                             const std::function<Result<void>(std::string_view, std::int64_t, bool)>& take) {
  constexpr std::size_t max_line_bytes = std::size_t{64} << 20U;
  constexpr std::size_t buffer_bytes = std::size_t{1} << 16U;
  const std::string name = file.string();
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return fail("{}: can't be read: {}", name, std::strerror(errno));
  std::string line;
  std::string buffer(buffer_bytes, '\0');
  std::int64_t number = 0;
  std::int64_t bytes = 0;
  while (stream) {
    stream.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    std::string_view rest(buffer.data(), static_cast<std::size_t>(stream.gcount()));
    bytes += static_cast<std::int64_t>(rest.size());
    for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
      line.append(rest.substr(0, end));
      rest.remove_prefix(end + 1);
      DRAFTSCOPE_TRY(take(line, ++number, true));
      line.clear();
    }
    line.append(rest);
    if (line.size() > max_line_bytes)
      return fail("{}: line {}: is longer than {} bytes, expected a shorter one", name, number + 1,
                  max_line_bytes);
    DRAFTSCOPE_TRY(progress.update(bytes));
  }
  if (stream.bad()) return fail("{}: can't be read: {}", name, std::strerror(errno));
  if (!line.empty()) DRAFTSCOPE_TRY(take(line, number + 1, false));
  return {};
}

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
