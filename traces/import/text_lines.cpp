// SPDX-License-Identifier: GPL-3.0-or-later
#include "import/text_lines.h"

#include <draftscope/base/python_numbers.h>
#include <draftscope/base/text_file.h>
#include <draftscope/base/text_stream.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

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
  TextStream stream(file, progress.may_be_cut);
  DRAFTSCOPE_TRY(stream.result());
  std::string line;
  std::string buffer(buffer_bytes, '\0');
  std::int64_t number = 0;
  while (stream) {
    stream.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    std::string_view rest(buffer.data(), static_cast<std::size_t>(stream.gcount()));
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
    DRAFTSCOPE_TRY(progress.update(stream.bytes_of_file()));
  }
  DRAFTSCOPE_TRY(stream.result());
  if (!line.empty()) DRAFTSCOPE_TRY(take(line, number + 1, false));
  return {};
}

Result<nlohmann::json> parse_json(std::string_view text, const std::string& where) {
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    if (has_python_numbers(text)) {
      nlohmann::json mended =
          nlohmann::json::parse(without_python_numbers(text, PythonNaN::missing), nullptr, false);
      if (!mended.is_discarded()) return mended;
    }
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
        const std::string where = fmt::format("{}: line {}", name, number);
        auto parsed = parse_json(line, where);
        if (!parsed && !is_ended && may_be_cut) return {};
        ++objects;
        DRAFTSCOPE_TRY_ASSIGN(const nlohmann::json object, std::move(parsed));
        if (!object.is_object()) return fail("{}: is {}, expected a JSON object", where, object.type_name());
        return take(object, number, where);
      }));
  if (objects == 0) return fail("{}: is empty, expected a JSON object a line", name);
  return {};
}

namespace {

/// End of the object that begins at the text's first brace; braces outside of strings are balanced.
std::size_t object_end(std::string_view text) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

}  // namespace

Result<void> take_json_objects(
    std::string_view text, const std::string& name,
    const std::function<Result<void>(const nlohmann::json&, std::int64_t, const std::string&)>& take) {
  std::int64_t count = 0;
  while (true) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) break;
    text.remove_prefix(begin);
    const std::string where = fmt::format("{}: object {}", name, ++count);
    const std::size_t end = text.front() == '{' ? object_end(text) : std::string_view::npos;
    if (end == std::string_view::npos) return fail("{}: ends early, expected a whole JSON object", where);
    DRAFTSCOPE_TRY_ASSIGN(const nlohmann::json object, parse_json(text.substr(0, end), where));
    DRAFTSCOPE_TRY(take(object, count, where));
    text.remove_prefix(end);
  }
  if (count == 0) return fail("{}: is empty, expected JSON objects", name);
  return {};
}

Result<void> read_json_objects(
    const std::filesystem::path& file, const ImportProgress& progress,
    const std::function<Result<void>(const nlohmann::json&, std::int64_t, const std::string&)>& take) {
  constexpr std::size_t max_objects_bytes = std::size_t{256} << 20U;
  DRAFTSCOPE_TRY_ASSIGN(const std::string text, read_text_file(file, max_objects_bytes));
  DRAFTSCOPE_TRY(progress.update(0));
  return take_json_objects(text, file.string(), take);
}

}  // namespace draftscope::traces
