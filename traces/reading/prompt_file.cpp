// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/json_field.h>
#include <draftscope/base/python_numbers.h>
#include <draftscope/base/text_file.h>
#include <draftscope/traces/prompt_file.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace draftscope::traces {

namespace {

constexpr std::size_t max_prompt_file_bytes = std::size_t{256} << 20U;
constexpr std::string_view expected_fields =
    "a question with turns, prompt, text, question, instruction, messages or conversations";
constexpr const char* message_fields[] = {"messages", "conversations", "conversation", "prompt"};
constexpr const char* text_fields[] = {"prompt", "text", "question", "instruction", "problem", "query"};
constexpr const char* id_fields[] = {"question_id", "task_id", "id", "custom_id", "prompt_id", "_id"};
/// Names of the list in a file that is one object.
constexpr const char* list_fields[] = {"data", "questions", "prompts"};

/// The text of a message: a string, or a list of parts that are all text.
Result<std::string> message_text(const JsonField& content) {
  if (!content.value().is_array()) return content.text();
  DRAFTSCOPE_TRY_ASSIGN(const auto parts, content.list());
  std::string text;
  for (const JsonField& part : parts) {
    DRAFTSCOPE_TRY_ASSIGN(const std::string piece, part["text"].text());
    text += piece;
  }
  return text;
}

/// Takes a conversation: its last user message is the turn, and what stands before it is given. Of ShareGPT's
/// conversations, which hold another model's answers, the first user message is the turn.
Result<void> take_messages(const JsonField& field, bool has_answers, Question& question) {
  DRAFTSCOPE_TRY_ASSIGN(const auto messages, field.list());
  std::vector<QuestionMessage> all;
  std::optional<std::size_t> turn;
  for (const JsonField& message : messages) {
    const bool is_share_gpt = message.has("from");
    DRAFTSCOPE_TRY_ASSIGN(std::string role, message[is_share_gpt ? "from" : "role"].text());
    if (role == "human") role = "user";
    if (role == "gpt") role = "assistant";
    DRAFTSCOPE_TRY_ASSIGN(std::string text, message_text(message[is_share_gpt ? "value" : "content"]));
    if (role == "user" && (!turn || !has_answers)) turn = all.size();
    all.push_back({std::move(role), std::move(text)});
  }
  if (!turn) return field.wrong("a list with a message of the user");
  question.turns = {std::move(all[*turn].content)};
  all.resize(*turn);
  question.given = std::move(all);
  return {};
}

/// Takes the turns from the first field that holds some.
Result<void> take_turns(const JsonField& fields, const std::string& where, Question& question) {
  // A line of OpenAI's batch files has the request as its body.
  if (fields["body"].value().is_object()) return take_turns(fields["body"], where, question);
  if (fields["turns"].value().is_string()) {
    question.turns.emplace_back();
    DRAFTSCOPE_TRY_ASSIGN(question.turns[0], fields["turns"].text());
    return {};
  }
  if (fields.has("turns")) {
    DRAFTSCOPE_TRY_ASSIGN(question.turns, fields["turns"].texts());
    if (question.turns.empty()) return fields["turns"].wrong("a list of at least one string");
    return {};
  }
  for (const char* name : message_fields)
    if (fields.has(name) && fields[name].value().is_array())
      return take_messages(fields[name], std::string_view(name).starts_with("conversation"), question);
  for (const char* name : text_fields) {
    if (!fields.has(name) || fields[name].is_null()) continue;
    question.turns.emplace_back();
    DRAFTSCOPE_TRY_ASSIGN(question.turns[0], fields[name].text());
    if (std::string_view(name) != "instruction") return {};
    // Alpaca's and Dolly's material of an instruction.
    for (const char* material : {"input", "context"}) {
      DRAFTSCOPE_TRY_ASSIGN(const std::string text, fields[material].text_or(""));
      if (!text.empty()) question.turns[0] += "\n\n" + text;
    }
    return {};
  }
  return fail("{}: turns is missing, expected {}", where, expected_fields);
}

/// Takes the id: an integer, or a text, which then stands beside the question's number in the file.
Result<void> take_id(const JsonField& fields, Question& question, bool& has_number) {
  for (const char* name : id_fields) {
    if (!fields.has(name) || fields[name].is_null()) continue;
    if (fields[name].value().is_string()) {
      DRAFTSCOPE_TRY_ASSIGN(question.name, fields[name].text());
    } else {
      DRAFTSCOPE_TRY_ASSIGN(question.question_id, fields[name].integer<std::int64_t>());
      has_number = true;
    }
    return {};
  }
  return {};
}

Result<Question> read_question(const nlohmann::json& json, const std::string& where, std::int64_t number,
                               bool& has_number) {
  Question question{.question_id = number, .name = {}, .category = {}, .turns = {}, .given = {}};
  if (json.is_string()) {
    question.turns = {json.get<std::string>()};
  } else {
    if (!json.is_object())
      return fail("{}: found text that is not a JSON object, expected {}", where, expected_fields);
    const JsonField fields(json, where);
    DRAFTSCOPE_TRY(take_id(fields, question, has_number));
    DRAFTSCOPE_TRY_ASSIGN(question.category, fields["category"].text_or(""));
    DRAFTSCOPE_TRY(take_turns(fields, where, question));
  }
  return question;
}

/// Whether a conversation has no message of the user, or a turn has no text.
bool is_without_prompt(const nlohmann::json& json, const Result<Question>& question) {
  if (question) return std::ranges::any_of(question->turns, &std::string::empty);
  if (!json.is_object()) return false;
  return std::ranges::any_of(message_fields, [&](const char* name) {
    const auto found = json.find(name);
    return found != json.end() && found->is_array() &&
           std::ranges::none_of(*found, [](const nlohmann::json& message) {
             const auto role = message.is_object() ? message.find(message.contains("from") ? "from" : "role")
                                                   : message.end();
             return !message.is_object() || (role != message.end() && (*role == "user" || *role == "human"));
           });
  });
}

/// Collects questions and refuses an id that occurs twice.
class Questions {
 public:
  /// `without_prompt`: counts questions without one, which are refused if it is null.
  explicit Questions(std::size_t* without_prompt) : without_prompt_(without_prompt) {}

  Result<void> add(const nlohmann::json& json, const std::string& where, std::int64_t number) {
    bool has_number = false;
    Result<Question> read = read_question(json, where, number, has_number);
    if (without_prompt_ != nullptr && is_without_prompt(json, read)) {
      ++*without_prompt_;
      return {};
    }
    DRAFTSCOPE_TRY_ASSIGN(Question question, std::move(read));
    for (const std::string& turn : question.turns)
      if (turn.empty()) return fail("{}: turns holds an empty string, expected text", where);
    const bool known = has_number && !numbers_.insert(question.question_id).second;
    if (!has_number) numberless_.push_back(all.size());
    if (known || (!question.name.empty() && !names_.insert(question.name).second))
      return fail("{}: question_id {} occurs twice, expected each once", where, question_label(question));
    all.push_back(std::move(question));
    return {};
  }

  /// Gives a number of their own to questions whose place in the file is another one's id.
  void number() {
    std::int64_t last = numberless_.empty() ? 0 : all[numberless_.back()].question_id;
    for (const std::size_t index : numberless_)
      while (!numbers_.insert(all[index].question_id).second) all[index].question_id = ++last;
  }

  std::vector<Question> all;

 private:
  std::size_t* without_prompt_;
  std::set<std::int64_t> numbers_;
  std::set<std::string> names_;
  std::vector<std::size_t> numberless_;  // Places in `all`.
};

Result<void> read_array(const nlohmann::json& json, const std::string& file, Questions& questions) {
  std::int64_t number = 0;
  for (const nlohmann::json& element : json) {
    ++number;
    DRAFTSCOPE_TRY(questions.add(element, fmt::format("{}: question {}", file, number), number));
  }
  return {};
}

/// The list of a file that is one object, or the object itself as a list of one; null: it is neither.
nlohmann::json whole_object(std::string_view text, const std::string& file) {
  const std::string_view line = text.substr(0, text.find('\n'));
  const bool is_one_line = text.find_first_not_of(" \t\r\n", line.size()) == std::string_view::npos;
  // An object a line is the usual form, and such a file is parsed once.
  if (!is_one_line && parse_python_json(line, file, PythonNaN::missing)) return nullptr;
  Result<nlohmann::json> parsed = parse_python_json(text, file, PythonNaN::missing);
  if (!parsed) return nullptr;
  nlohmann::json& whole = *parsed;
  const auto has = [&whole](const char* name) { return whole.contains(name); };
  const bool is_question = has("turns") || std::ranges::any_of(text_fields, has);
  for (const char* name : list_fields)
    if (const auto list = whole.find(name); list != whole.end() && list->is_array() && !is_question)
      return nlohmann::json(std::move(*list));
  return is_one_line ? nlohmann::json(nullptr) : nlohmann::json::array({std::move(whole)});
}

}  // namespace

std::string question_label(const Question& question) {
  return question.name.empty() ? std::to_string(question.question_id) : question.name;
}

Result<std::vector<Question>> read_questions(const std::filesystem::path& path, std::size_t* without_prompt) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  DRAFTSCOPE_TRY_ASSIGN(const std::string whole_text, read_text_file(path, max_prompt_file_bytes));
  std::string_view text = whole_text;
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  Questions questions(without_prompt);
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  const bool is_plain = path.extension() == ".txt";
  const char first = is_plain || begin == std::string_view::npos ? '\0' : text[begin];
  nlohmann::json list;
  if (first == '{') {
    list = whole_object(text.substr(begin), path.string());
  } else if (first == '[') {
    DRAFTSCOPE_TRY_ASSIGN(list, parse_python_json(text, path.string(), PythonNaN::missing));
  }
  if (!list.is_null()) {
    DRAFTSCOPE_TRY(read_array(list, path.string(), questions));
  } else {
    // Lines are split by hand: a stream without memory for a line ends as a file does, and the rest would be
    // lost.
    std::string_view rest = text;
    for (std::int64_t number = 1; !rest.empty(); ++number) {
      std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
      if (is_plain && line.back() == '\r') line.remove_suffix(1);
      const std::string where = fmt::format("{}:{}", path.string(), number);
      DRAFTSCOPE_TRY_ASSIGN(
          const nlohmann::json json,
          is_plain ? Result<nlohmann::json>(line) : parse_python_json(line, where, PythonNaN::missing));
      DRAFTSCOPE_TRY(questions.add(json, where, number));
    }
  }
  if (questions.all.empty()) return fail("{}: found no question, expected at least one line", path.string());
  questions.number();
  return std::move(questions.all);
}

}  // namespace draftscope::traces
