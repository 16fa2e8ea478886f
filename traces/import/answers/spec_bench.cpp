// SPDX-License-Identifier: GPL-3.0-or-later
// Spec-Bench's answer files (evaluation/eval.py): a question a line, its repeats as `choices`.
#include <limits>
#include <nlohmann/json.hpp>

#include "foreign/json_fields.h"
#include "import/answers/answer_choice.h"
#include "import/formats.h"

namespace draftscope::traces {

Result<void> import_spec_bench(const std::filesystem::path& file, ImportContext& context) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const RunName name = run_name(file, context);
  DRAFTSCOPE_TRY(take_run(file, name, context));
  RunId run_id;
  return read_json_lines(
      file, context.progress,
      [&](const nlohmann::json& object, std::int64_t /*line*/, const std::string& where) -> Result<void> {
        const JsonFields fields(object, where);
        DRAFTSCOPE_TRY_ASSIGN(const auto question, fields.integer("question_id", 0, most));
        if (!question) return fail("{}: question_id is missing, expected an integer", where);
        DRAFTSCOPE_TRY_ASSIGN(const auto category, fields.text("category"));
        DRAFTSCOPE_TRY_ASSIGN(const auto model_id, fields.text("model_id"));
        if (run_id.is_none()) {
          nlohmann::json parameters = nlohmann::json::object();
          if (model_id) parameters["model_id"] = *model_id;
          // The project's own export names the model in front of the run.
          const std::string ending = "-" + name.specification;
          if (model_id && context.model.empty() && model_id->size() > ending.size() &&
              model_id->ends_with(ending))
            context.model = model_id->substr(0, model_id->size() - ending.size());
          run_id = context.answers.run(name.specification, context.is_baseline, parameters.dump());
        }
        const nlohmann::json* const choices = fields.find("choices");
        if (choices == nullptr || !choices->is_array() || choices->empty())
          return fail("{}: choices is {}, expected a list with at least one answer", where,
                      choices == nullptr    ? "missing"
                      : choices->is_array() ? "empty"
                                            : choices->type_name());
        for (std::size_t i = 0; i < choices->size(); ++i) {
          const std::string choice_where = fmt::format("{}: choices[{}]", where, i);
          DRAFTSCOPE_TRY_ASSIGN(ChoiceTurns turns, read_choice((*choices)[i], choice_where));
          if (!turns.are_turns_told_apart) context.target.note(MissingData::turns);
          for (Answer& answer : turns.turns) {
            answer.question_id = *question;
            answer.category = category.value_or("");
            answer.repeat = name.repeat + static_cast<std::int32_t>(i);
            DRAFTSCOPE_TRY(context.answers.add(run_id, answer, choice_where));
          }
        }
        return {};
      });
}

}  // namespace draftscope::traces
