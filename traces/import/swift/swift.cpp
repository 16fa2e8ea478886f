// SPDX-License-Identifier: GPL-3.0-or-later
// Imports SWIFT's answer files (evaluation_llama/eval.py): one answer per line without a question id, and a
// summary without `choices` at the end.
#include <nlohmann/json.hpp>
#include <utility>

#include "foreign/json_fields.h"
#include "import/answer_choice.h"
#include "import/formats.h"

namespace draftscope::traces {
namespace {

Result<void> import_swift(const std::filesystem::path& file, ImportContext& context) {
  const RunName name = run_name(file, context);
  DRAFTSCOPE_TRY(take_run(file, name, context));
  bool is_begun = false;
  return read_json_lines(
      file, context.progress,
      [&](const nlohmann::json& object, std::int64_t line, const std::string& where) -> Result<void> {
        const JsonFields fields(object, where);
        if (!std::exchange(is_begun, true)) {
          nlohmann::json parameters = nlohmann::json::object();
          DRAFTSCOPE_TRY_ASSIGN(const auto model_id, fields.text("model_id"));
          if (model_id) parameters["model_id"] = *model_id;
          context.answers.run(name.specification, context.is_baseline, parameters.dump());
        }
        if (fields.find("choices") == nullptr) {
          if (!object.contains("Mean accepted tokens"))
            return fail(
                R"({}: choices is missing, expected an answer, or a summary with "Mean accepted tokens")",
                where);
          context.stated_figures[name.specification] =
              object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
          return {};
        }
        const Answer asked{.run = name.specification, .question_id = line, .repeat = name.repeat};
        return add_choices(fields, asked, context, false, where);
      });
}

int swift_sureness(const FileHead& head) {
  return head.is_json() && head.has_all_keys({"choices", "turns"}) ? 39 : 0;
}

}  // namespace

FormatRow format_of_swift() {
  return {"swift", "SWIFT's answer JSONL; a run a file", import_swift, swift_sureness};
}

}  // namespace draftscope::traces
