// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/recording/prompts.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

namespace draftscope::engine {

namespace {

Result<Question> parse_question(const std::string& line, const std::string& where, std::int64_t line_number) {
  const nlohmann::json json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return fail("{}: found text that is not a JSON object, expected a question", where);
  Question question{.question_id = line_number, .category = {}, .turns = {}};
  if (const auto id = json.find("question_id"); id != json.end()) {
    if (!id->is_number_integer())
      return fail("{}: question_id is {}, expected an integer", where, id->dump());
    question.question_id = id->get<std::int64_t>();
  }
  if (const auto category = json.find("category"); category != json.end()) {
    if (!category->is_string()) return fail("{}: category is {}, expected a string", where, category->dump());
    question.category = category->get<std::string>();
  }
  const auto turns = json.find("turns");
  if (turns == json.end()) return fail("{}: turns is missing, expected a list of strings", where);
  if (!turns->is_array() || turns->empty())
    return fail("{}: turns is {}, expected a list of strings", where, turns->type_name());
  for (const nlohmann::json& turn : *turns) {
    if (!turn.is_string()) return fail("{}: turns holds a {}, expected strings", where, turn.type_name());
    if (turn.get_ref<const std::string&>().empty())
      return fail("{}: turns holds an empty string, expected text", where);
    question.turns.push_back(turn.get<std::string>());
  }
  return question;
}

}  // namespace

Result<std::vector<Question>> read_questions(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return fail("{}: is a folder, expected a prompt file", path.string());
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail("{}: can't be read ({})", path.string(), std::strerror(errno));
  std::vector<Question> questions;
  std::set<std::int64_t> ids;
  std::string line;
  for (std::int64_t number = 1; std::getline(file, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string where = fmt::format("{}:{}", path.string(), number);
    DRAFTSCOPE_TRY_ASSIGN(Question question, parse_question(line, where, number));
    if (!ids.insert(question.question_id).second)
      return fail("{}: question_id {} occurs twice, expected each once", where, question.question_id);
    questions.push_back(std::move(question));
  }
  if (file.bad()) return fail("{}: can't be read to the end ({})", path.string(), std::strerror(errno));
  if (questions.empty()) return fail("{}: found no question, expected at least one line", path.string());
  return questions;
}

}  // namespace draftscope::engine
