// SPDX-License-Identifier: GPL-3.0-or-later
// SWIFT's answer files (evaluation_llama/eval.py): an answer a line without a question id, and a summary
// without `choices` at the end.
#include <nlohmann/json.hpp>

#include "foreign/json_fields.h"
#include "import/answers/answer_choice.h"
#include "import/formats.h"

namespace draftscope::traces {

Result<void> import_swift(const std::filesystem::path& file, ImportContext& context) {
  const RunName name = run_name(file, context);
  DRAFTSCOPE_TRY(take_run(file, name, context));
  RunId run_id;
  return read_json_lines(
      file, context.progress,
      [&](const nlohmann::json& object, std::int64_t line, const std::string& where) -> Result<void> {
        const JsonFields fields(object, where);
        const nlohmann::json* const choices = fields.find("choices");
        if (run_id.is_none()) {
          nlohmann::json parameters = nlohmann::json::object();
          DRAFTSCOPE_TRY_ASSIGN(const auto model_id, fields.text("model_id"));
          if (model_id) parameters["model_id"] = *model_id;
          run_id = context.answers.run(name.specification, context.is_baseline, parameters.dump());
        }
        if (choices == nullptr) {
          if (!object.contains("Mean accepted tokens"))
            return fail(
                R"({}: choices is missing, expected an answer, or a summary with "Mean accepted tokens")",
                where);
          context.stated_figures[name.specification] =
              object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
          return {};
        }
        if (!choices->is_array() || choices->empty())
          return fail("{}: choices is {}, expected a list with at least one answer", where,
                      choices->is_array() ? "empty" : choices->type_name());
        for (std::size_t i = 0; i < choices->size(); ++i) {
          const std::string choice_where = fmt::format("{}: choices[{}]", where, i);
          DRAFTSCOPE_TRY_ASSIGN(ChoiceTurns turns, read_choice((*choices)[i], choice_where));
          for (Answer& answer : turns.turns) {
            answer.question_id = line;
            answer.repeat = name.repeat + static_cast<std::int32_t>(i);
            DRAFTSCOPE_TRY(context.answers.add(run_id, answer, choice_where));
          }
        }
        return {};
      });
}

}  // namespace draftscope::traces
