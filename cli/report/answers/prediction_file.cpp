// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/answers/prediction_file.h"

#include <draftscope/base/clock.h>
#include <draftscope/base/json_field.h>
#include <draftscope/base/json_text.h>
#include <draftscope/base/sha256.h>
#include <draftscope/base/text_file.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/speculation/model_shape_json.h>

#include <set>

#include "report/report_json.h"

namespace draftscope::cli {

namespace {

/// Digest of the content. It does not depend on the order of keys or on white space; numbers are hashed as
/// they are read back.
std::string digest_of(nlohmann::json content) {
  if (content["prediction"].is_object()) content["prediction"].erase("digest");
  return sha256_of(content.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

Json questions_json(const std::vector<simulator::Scenario>& scenarios) {
  return json_list(scenarios, [](const simulator::Scenario& scenario) -> Json {
    return {{"gpu", scenario.gpu ? scenario.gpu->name : ""},
            {"model_shape", speculation::named_sizes_json(scenario.shape)},
            {"weights", weight_type_name(scenario.weights)},
            {"batch", scenario.batch},
            {"tensor_parallel", scenario.tensor_parallel}};
  });
}

/// Texts of finished requests, each once.
Json prompts_json(const traces::Recording& recording) {
  std::set<const traces::Prompt*> known;
  Json prompts = Json::array();
  for (const simulator::RunRows& run : simulator::rows_by_run(recording))
    for (const simulator::RequestRows& rows : run.requests)
      if (known.insert(rows.prompt).second) prompts.push_back(sha256_of(rows.prompt->text));
  return prompts;
}

Result<std::optional<simulator::Interval>> interval_of(const JsonField& field) {
  if (field.is_null() && !field.is_missing()) return std::nullopt;
  const nlohmann::json& pair = field.value();
  if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number() || !pair[1].is_number())
    return field.wrong("[low, high] or null");
  return simulator::Interval{pair[0].get<double>(), pair[1].get<double>()};
}

Result<WrittenAnswer> answer_of(const JsonField& answer, const JsonField& question) {
  WrittenAnswer written;
  DRAFTSCOPE_TRY_ASSIGN(written.strategy, answer["strategy"].text());
  DRAFTSCOPE_TRY_ASSIGN(written.machine, answer["machine"].text());
  DRAFTSCOPE_TRY_ASSIGN(const double least, answer["speedup"].number());
  DRAFTSCOPE_TRY_ASSIGN(const double most, answer["speedup_max_drafted"].number_or({}, least));
  written.speedup = 0.5 * (least + most);
  DRAFTSCOPE_TRY_ASSIGN(written.interval_80, interval_of(answer["interval_80"]));
  DRAFTSCOPE_TRY_ASSIGN(written.interval_95, interval_of(answer["interval_95"]));
  DRAFTSCOPE_TRY_ASSIGN(written.tokens_per_round, answer["tokens_per_round"].number());
  DRAFTSCOPE_TRY(question.object());
  DRAFTSCOPE_TRY_ASSIGN(written.gpu, question["gpu"].text());
  DRAFTSCOPE_TRY_ASSIGN(written.shape, speculation::parse_named_sizes(question["model_shape"]));
  DRAFTSCOPE_TRY_ASSIGN(written.weights, question["weights"].text());
  DRAFTSCOPE_TRY_ASSIGN(written.batch, question["batch"].integer<std::int32_t>());
  DRAFTSCOPE_TRY_ASSIGN(written.tensor_parallel, question["tensor_parallel"].integer<std::int32_t>());
  return written;
}

Result<void> read_answers(const JsonField& root, PredictionFile& into) {
  DRAFTSCOPE_TRY_ASSIGN(const auto answers, root["answers"].list());
  DRAFTSCOPE_TRY_ASSIGN(const auto questions, root["prediction"]["questions"].list());
  if (questions.size() != answers.size())
    return fail("{} are {}, expected one for each of {} answers", root["prediction"]["questions"].name(),
                questions.size(), answers.size());
  for (std::size_t i = 0; i < answers.size(); ++i) {
    DRAFTSCOPE_TRY_ASSIGN(into.answers.emplace_back(), answer_of(answers[i], questions[i]));
  }
  DRAFTSCOPE_TRY_ASSIGN(const auto refusals, root["refusals"].list());
  for (const JsonField& field : refusals) {
    Refusal& refusal = into.refusals.emplace_back();
    DRAFTSCOPE_TRY_ASSIGN(refusal.strategy, field["strategy"].text());
    DRAFTSCOPE_TRY_ASSIGN(refusal.machine, field["machine"].text_or(""));
    DRAFTSCOPE_TRY_ASSIGN(refusal.reason, field["reason"].text());
  }
  return {};
}

}  // namespace

Result<std::string> prediction_text(const Simulation& simulation, const std::string& command_line) {
  const traces::Recording& recording = *simulation.recording;
  const std::int64_t now = read_clock_pair().realtime_ns;
  Json document = simulate_document(simulation);
  Json& prediction = document["prediction"] = Json::object();
  prediction["created"] = utc_text(now);
  prediction["created_realtime_ns"] = now;
  prediction["tool_version"] = DRAFTSCOPE_VERSION;
  prediction["command_line"] = command_line;
  DRAFTSCOPE_TRY_ASSIGN(prediction["recording_sha256"], sha256_of_file(recording.path));
  prediction["recording_meta"] = recording.meta;
  prediction["prompts"] = prompts_json(recording);
  prediction["questions"] = questions_json(simulation.scenarios);
  // The digest covers what will be read back, where invalid UTF-8 is already replaced.
  prediction["digest"] = digest_of(nlohmann::json::parse(json_text(document)));
  return json_text(document);
}

Result<PredictionFile> parse_prediction(std::string_view text, const std::string& name) {
  DRAFTSCOPE_TRY_ASSIGN(const nlohmann::json content, parse_json_object(text, name));
  const JsonField root(content, name);
  const JsonField field = root["prediction"];
  if (!field.object()) return fail("{}: found no prediction, expected what simulate -o writes", name);
  PredictionFile prediction;
  DRAFTSCOPE_TRY_ASSIGN(prediction.digest, field["digest"].text());
  const std::string actual = digest_of(content);
  if (prediction.digest != actual)
    return fail("{}: digest is {}, expected {} of its content: it was changed after it was written", name,
                prediction.digest, actual);
  DRAFTSCOPE_TRY_ASSIGN(prediction.tool_version, field["tool_version"].text());
  DRAFTSCOPE_TRY_ASSIGN(prediction.command_line, field["command_line"].text());
  DRAFTSCOPE_TRY_ASSIGN(prediction.created_realtime_ns, field["created_realtime_ns"].integer<std::int64_t>());
  DRAFTSCOPE_TRY_ASSIGN(prediction.recording, root["recording"].text());
  DRAFTSCOPE_TRY_ASSIGN(prediction.recording_sha256, field["recording_sha256"].text());
  DRAFTSCOPE_TRY_ASSIGN(const auto meta, field["recording_meta"].members());
  for (const auto& [key, member] : meta) {
    DRAFTSCOPE_TRY_ASSIGN(prediction.recording_meta[key], member.text());
  }
  DRAFTSCOPE_TRY_ASSIGN(prediction.prompts, field["prompts"].texts());
  DRAFTSCOPE_TRY(read_answers(root, prediction));
  return prediction;
}

Result<PredictionFile> read_prediction(const std::filesystem::path& path) {
  DRAFTSCOPE_TRY_ASSIGN(const std::string text, read_text_file(path, max_settings_bytes));
  return parse_prediction(text, path.string());
}

}  // namespace draftscope::cli
