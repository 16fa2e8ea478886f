// SPDX-License-Identifier: GPL-3.0-or-later
#include "import/text_lines.h"

#include <draftscope/base/python_numbers.h>
#include <draftscope/base/text_file.h>
#include <draftscope/base/text_stream.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace draftscope::traces {
namespace {
constexpr std::size_t max_line_bytes = std::size_t{64} << 20U;
}  // namespace

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  return text;
}

Result<void> ImportProgress::update(std::int64_t bytes_of_file) const {
  if (report && !report(done_bytes + bytes_of_file, all_bytes)) return fail("import cancelled");
  return {};
}

Result<void> read_text_lines(const std::filesystem::path& file, const ImportProgress& progress,
                             const std::function<Result<void>(std::string_view, std::int64_t, bool)>& take) {
  constexpr std::size_t buffer_bytes = std::size_t{1} << 16U;
  const std::string name = file.string();
  TextStream stream(file, progress.may_be_cut);
  DRAFTSCOPE_TRY(stream.result());
  std::string line;
  std::string buffer(buffer_bytes, '\0');
  std::int64_t number = 0;
  const auto take_line = [&](bool is_ended) {
    std::string_view text = ++number == 1 ? without_byte_order_mark(line) : line;
    if (text.ends_with('\r')) text.remove_suffix(1);
    return take(text, number, is_ended);
  };
  while (stream) {
    stream.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    std::string_view rest(buffer.data(), static_cast<std::size_t>(stream.gcount()));
    for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
      line.append(rest.substr(0, end));
      rest.remove_prefix(end + 1);
      DRAFTSCOPE_TRY(take_line(true));
      line.clear();
    }
    line.append(rest);
    if (line.size() > max_line_bytes)
      return fail("{}: line {}: is longer than {} bytes, expected a shorter one", name, number + 1,
                  max_line_bytes);
    DRAFTSCOPE_TRY(progress.update(stream.bytes_of_file()));
  }
  DRAFTSCOPE_TRY(stream.result());
  if (!line.empty()) DRAFTSCOPE_TRY(take_line(false));
  return {};
}

namespace {

/// Splits text into JSON objects, each on one line or several, or the entries of one list.
class ObjectSplit {
 public:
  /// An object, or a text that begins as none and is its line's rest, and the line on which it began.
  using Take = std::function<Result<void>(std::string_view text, std::int64_t line)>;

  [[nodiscard]] bool is_list() const { return is_list_; }
  [[nodiscard]] bool is_open_list() const { return is_list_ && !is_closed_; }
  /// Beginning of an object that has not ended, and its first line.
  [[nodiscard]] const std::string& rest() const { return object_; }
  [[nodiscard]] std::int64_t rest_line() const { return line_; }

  Result<void> add(std::string_view text, std::int64_t line, const Take& take) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (depth_ > 0) {
        if (!take_within(c)) continue;
        object_.append(text.substr(begin, i + 1 - begin));
        DRAFTSCOPE_TRY(take(object_, line_));
        object_.clear();
      } else if (c == '[' && !has_begun_ && begins_objects(text.substr(i + 1))) {
        is_list_ = has_begun_ = true;
      } else if (c == ']' && is_open_list()) {
        is_closed_ = true;
      } else if (c == '{') {
        has_begun_ = true;
        begin = i;
        depth_ = 1;
        line_ = line;
      } else if (c != ' ' && c != '\t' && c != '\r' && c != '\n' && !(c == ',' && is_open_list())) {
        return take(text.substr(i), line);
      }
    }
    if (depth_ > 0) object_.append(text.substr(begin)).push_back('\n');
    return {};
  }

 private:
  /// Whether what comes after a [ may be a list of objects.
  static bool begins_objects(std::string_view text) {
    const std::size_t next = text.find_first_not_of(" \t\r\n");
    return next == std::string_view::npos || text[next] == '{' || text[next] == ']';
  }
  /// Whether the object ends with this byte.
  bool take_within(char c) {
    if (in_string_) {
      in_string_ = is_escaped_ || c != '"';
      is_escaped_ = !is_escaped_ && c == '\\';
      return false;
    }
    in_string_ = c == '"';
    if (c == '{' || c == '[') ++depth_;
    if (c == '}' || c == ']') --depth_;
    return depth_ == 0;
  }

  std::string object_;
  std::int64_t line_ = 0;
  std::size_t depth_ = 0;
  bool has_begun_ = false;
  bool is_list_ = false;
  bool is_closed_ = false;
  bool in_string_ = false;
  bool is_escaped_ = false;
};

}  // namespace

Result<void> read_json_lines(
    const std::filesystem::path& file, const ImportProgress& progress,
    const std::function<Result<void>(const nlohmann::json&, std::int64_t, const std::string&)>& take,
    bool may_be_cut) {
  const std::string name = file.string();
  ObjectSplit split;
  std::int64_t objects = 0;
  std::int64_t last_number = 0;
  const auto where_of = [&](std::int64_t line) {
    return split.is_list() ? fmt::format("{}: entry {}", name, objects + 1)
                           : fmt::format("{}: line {}", name, line);
  };
  const auto take_text = [&](std::string_view text, std::int64_t line) -> Result<void> {
    const std::string where = where_of(line);
    DRAFTSCOPE_TRY_ASSIGN(const nlohmann::json object, parse_python_json(text, where, PythonNaN::missing));
    if (!object.is_object()) return fail("{}: is {}, expected a JSON object", where, object.type_name());
    last_number = std::max(last_number + 1, split.is_list() ? 1 : line);
    ++objects;
    return take(object, last_number, where);
  };
  bool is_whole = true;
  std::int64_t last_line = 0;
  DRAFTSCOPE_TRY(read_text_lines(
      file, progress, [&](std::string_view line, std::int64_t number, bool is_ended) -> Result<void> {
        is_whole = is_ended;
        last_line = number;
        if (split.rest().size() > max_line_bytes)
          return fail("{}: is longer than {} bytes, expected a shorter object", where_of(split.rest_line()),
                      max_line_bytes);
        return split.add(line, number, take_text);
      }));
  const bool is_cut_line = may_be_cut && !is_whole && split.rest_line() == last_line;
  if (!split.rest().empty() && !is_cut_line) {
    DRAFTSCOPE_TRY(take_text(split.rest(), split.rest_line()));
  }
  if (split.is_open_list() && !may_be_cut) return fail("{}: its list has no end, expected a ]", name);
  if (objects == 0) return fail("{}: is empty, expected a JSON object a line", name);
  return {};
}

Result<void> take_json_objects(
    std::string_view text, const std::string& name,
    const std::function<Result<void>(const nlohmann::json&, std::int64_t, const std::string&)>& take) {
  ObjectSplit split;
  std::int64_t count = 0;
  const auto next = [&] { return fmt::format("{}: object {}", name, ++count); };
  DRAFTSCOPE_TRY(
      split.add(without_byte_order_mark(text), 1, [&](std::string_view one, std::int64_t) -> Result<void> {
        const std::string where = next();
        if (!one.starts_with('{')) return fail("{}: ends early, expected a whole JSON object", where);
        DRAFTSCOPE_TRY_ASSIGN(const nlohmann::json object, parse_python_json(one, where, PythonNaN::missing));
        return take(object, count, where);
      }));
  if (!split.rest().empty()) return fail("{}: ends early, expected a whole JSON object", next());
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
