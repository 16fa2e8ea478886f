// SPDX-License-Identifier: GPL-3.0-or-later
// Imports Spec-Bench's answer files (evaluation/eval.py): one question per line, with its repeats as
// `choices`.
#include <draftscope/base/quote.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "foreign/json_fields.h"
#include "import/answer_choice.h"
#include "import/formats.h"

namespace draftscope::traces {
namespace {

Result<void> import_spec_bench(const std::filesystem::path& file, ImportContext& context) {
  const RunName name = run_name(file, context);
  DRAFTSCOPE_TRY(take_run(file, name, context));
  bool is_begun = false;
  std::set<std::string> questions;
  return read_json_lines(
      file, context.progress,
      [&](const nlohmann::json& object, std::int64_t /*line*/, const std::string& where) -> Result<void> {
        const JsonFields fields(object, where);
        DRAFTSCOPE_TRY_ASSIGN(const auto question, question_of(fields, context));
        if (!question) return fail("{}: question_id is missing, expected an integer or a text", where);
        // Spec-Bench appends the answers of a second try to the file of the first.
        if (const std::string id = fields.find("question_id")->dump(); !questions.insert(id).second)
          return fail("{}: question_id {} is there twice, expected each question once", where, excerpt(id));
        DRAFTSCOPE_TRY_ASSIGN(const auto category, fields.text("category"));
        DRAFTSCOPE_TRY_ASSIGN(const auto model_id, fields.text("model_id"));
        if (!std::exchange(is_begun, true)) {
          nlohmann::json parameters = nlohmann::json::object();
          if (model_id) parameters["model_id"] = *model_id;
          // The project's own export puts the model's name before the run's.
          const std::string ending = "-" + name.specification;
          if (model_id && context.model.empty() && model_id->size() > ending.size() &&
              model_id->ends_with(ending))
            context.model = model_id->substr(0, model_id->size() - ending.size());
          context.answers.run(name.specification, context.is_baseline, parameters.dump());
        }
        const Answer asked{.run = name.specification,
                           .question_id = *question,
                           .repeat = name.repeat,
                           .category = category.value_or("")};
        return add_choices(fields, asked, context, true, where);
      });
}

int spec_bench_sureness(const FileHead& head) {
  return head.is_json() && head.has_all_keys({"choices", "turns", "question_id"}) ? 40 : 0;
}

}  // namespace

FormatRow format_of_spec_bench() {
  return {"spec-bench", "answer JSONL of Spec-Bench, or of export --to spec-bench; a run a file",
          import_spec_bench, spec_bench_sureness};
}

}  // namespace draftscope::traces
