// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/json_field.h>
#include <draftscope/base/text_file.h>
#include <draftscope/traces/prompt_file.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

namespace draftscope::traces {

namespace {

constexpr std::size_t max_prompt_file_bytes = std::size_t{256} << 20U;

Result<Question> parse_question(std::string_view line, const std::string& where, std::int64_t line_number) {
  const nlohmann::json json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return fail("{}: found text that is not a JSON object, expected a question", where);
  const JsonField fields(json, where);
  Question question{.question_id = line_number, .category = {}, .turns = {}};
  if (fields.has("question_id")) {
    DRAFTSCOPE_TRY_ASSIGN(question.question_id, fields["question_id"].integer<std::int64_t>());
  }
  if (fields.has("category")) {
    DRAFTSCOPE_TRY_ASSIGN(question.category, fields["category"].text());
  }
  DRAFTSCOPE_TRY_ASSIGN(question.turns, fields["turns"].texts());
  if (question.turns.empty()) return fields["turns"].wrong("a list of at least one string");
  for (const std::string& turn : question.turns)
    if (turn.empty()) return fail("{}: turns holds an empty string, expected text", where);
  return question;
}

}  // namespace

Result<std::vector<Question>> read_questions(const std::filesystem::path& path) {
  DRAFTSCOPE_TRY_ASSIGN(const std::string text, read_text_file(path, max_prompt_file_bytes));
  std::vector<Question> questions;
  std::set<std::int64_t> ids;
  // Lines are split by hand: a stream without memory for a line ends as a file does, and the rest would be
  // lost.
  std::string_view rest = text;
  for (std::int64_t number = 1; !rest.empty(); ++number) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const std::string where = fmt::format("{}:{}", path.string(), number);
    DRAFTSCOPE_TRY_ASSIGN(Question question, parse_question(line, where, number));
    if (!ids.insert(question.question_id).second)
      return fail("{}: question_id {} occurs twice, expected each once", where, question.question_id);
    questions.push_back(std::move(question));
  }
  if (questions.empty()) return fail("{}: found no question, expected at least one line", path.string());
  return questions;
}

}  // namespace draftscope::traces
