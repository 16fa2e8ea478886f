// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/json_field.h>
#include <draftscope/base/text_file.h>
#include <draftscope/simulator/prediction/prediction_file.h>
#include <draftscope/speculation/model_shape_json.h>

#include <optional>
#include <string>

#include "prediction/prediction_format.h"

namespace draftscope::simulator {

namespace {

Result<traces::Meta> meta_of(const JsonField& field) {
  DRAFTSCOPE_TRY_ASSIGN(const auto members, field.members());
  traces::Meta meta;
  for (const auto& [key, member] : members) {
    DRAFTSCOPE_TRY_ASSIGN(meta[key], member.text());
  }
  return meta;
}

Result<std::optional<Interval>> interval_of(const JsonField& field) {
  if (field.is_null() && !field.is_missing()) return std::nullopt;
  const nlohmann::json& pair = field.value();
  if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number() || !pair[1].is_number())
    return field.wrong("[low, high] or null");
  return Interval{pair[0].get<double>(), pair[1].get<double>()};
}

Result<PredictedDecoding> decoding_of(const JsonField& field) {
  PredictedDecoding decoding;
  DRAFTSCOPE_TRY_ASSIGN(decoding.status, field["status"].named(answer_status_name, AnswerStatus::invalid));
  DRAFTSCOPE_TRY_ASSIGN(decoding.source,
                        field["rounds_source"].named(round_source_name, RoundSource::modelled));
  DRAFTSCOPE_TRY_ASSIGN(decoding.speedup, field["speedup"].number());
  DRAFTSCOPE_TRY_ASSIGN(decoding.speedup_min_drafted, field["speedup_min_drafted"].number());
  DRAFTSCOPE_TRY_ASSIGN(decoding.speedup_max_drafted, field["speedup_max_drafted"].number());
  DRAFTSCOPE_TRY_ASSIGN(decoding.interval_80, interval_of(field["interval_80"]));
  DRAFTSCOPE_TRY_ASSIGN(decoding.interval_95, interval_of(field["interval_95"]));
  DRAFTSCOPE_TRY_ASSIGN(decoding.no_interval_reason, field["no_interval_reason"].text());
  DRAFTSCOPE_TRY_ASSIGN(decoding.vanilla_step_ns, field["target_step_ns"].number());
  DRAFTSCOPE_TRY_ASSIGN(decoding.draft_step_ns, field["draft_step_ns"].number());
  DRAFTSCOPE_TRY_ASSIGN(decoding.verify_ns, field["verify_ns"].number());
  DRAFTSCOPE_TRY_ASSIGN(decoding.mean_accepted_length, field["tokens_per_round"].number());
  DRAFTSCOPE_TRY_ASSIGN(decoding.tokens_per_second, field["decode_tokens_per_second"].number());
  DRAFTSCOPE_TRY_ASSIGN(decoding.vanilla_tokens_per_second,
                        field["vanilla_decode_tokens_per_second"].number());
  return decoding;
}

Result<PredictedRequest::Counts> counts_of(const JsonField& field) {
  DRAFTSCOPE_TRY(field.object());
  PredictedRequest::Counts counts;
  constexpr Range<std::int64_t> from_zero{.min = 0};
  DRAFTSCOPE_TRY_ASSIGN(counts.rounds, field["rounds"].integer(from_zero));
  DRAFTSCOPE_TRY_ASSIGN(counts.drafted, field["drafted"].integer(from_zero));
  DRAFTSCOPE_TRY_ASSIGN(counts.accepted, field["accepted"].integer(from_zero));
  DRAFTSCOPE_TRY_ASSIGN(counts.emitted, field["emitted"].integer(from_zero));
  return counts;
}

/// None where the file does not say.
Result<std::vector<PredictedRequest>> requests_of(const JsonField& field) {
  std::vector<PredictedRequest> requests;
  if (field.is_missing()) return requests;
  DRAFTSCOPE_TRY_ASSIGN(const auto list, field.list());
  for (const JsonField& one : list) {
    DRAFTSCOPE_TRY(one.object());
    PredictedRequest& request = requests.emplace_back();
    DRAFTSCOPE_TRY_ASSIGN(request.prompt_sha256, one["sha256"].text());
    DRAFTSCOPE_TRY_ASSIGN(request.least, counts_of(one["min_drafted"]));
    DRAFTSCOPE_TRY_ASSIGN(request.most, counts_of(one["max_drafted"]));
  }
  return requests;
}

Result<PredictedQuestion> question_of(const JsonField& field) {
  DRAFTSCOPE_TRY(field.object());
  PredictedQuestion question;
  DRAFTSCOPE_TRY_ASSIGN(question.kind, field["kind"].named(question_kind_key, QuestionKind::unseen_machine));
  DRAFTSCOPE_TRY_ASSIGN(question.strategy, field["strategy"].text());
  DRAFTSCOPE_TRY_ASSIGN(question.machine, field["machine"].text());
  DRAFTSCOPE_TRY_ASSIGN(question.gpu, field["gpu"].text());
  DRAFTSCOPE_TRY_ASSIGN(question.shape, speculation::parse_named_sizes(field["model_shape"]));
  DRAFTSCOPE_TRY_ASSIGN(question.weights, field["weights"].text());
  DRAFTSCOPE_TRY_ASSIGN(question.regime, field["regime"].text());
  DRAFTSCOPE_TRY_ASSIGN(question.batch, field["batch"].integer<std::int32_t>());
  DRAFTSCOPE_TRY_ASSIGN(question.tensor_parallel, field["tensor_parallel"].integer<std::int32_t>());
  DRAFTSCOPE_TRY_ASSIGN(question.decoding, decoding_of(field["predicted"]));
  DRAFTSCOPE_TRY_ASSIGN(question.requests, requests_of(field["requests"]));
  DRAFTSCOPE_TRY_ASSIGN(question.notes, field["notes"].texts());
  return question;
}

Result<void> read_recording(const JsonField& field, PredictionFile& into) {
  DRAFTSCOPE_TRY_ASSIGN(into.recording, field["file"].text());
  DRAFTSCOPE_TRY_ASSIGN(into.recording_sha256, field["sha256"].text());
  DRAFTSCOPE_TRY_ASSIGN(into.recording_meta, meta_of(field["meta"]));
  return {};
}

Result<LearntPrompt> prompt_of(const JsonField& field) {
  DRAFTSCOPE_TRY(field.object());
  LearntPrompt prompt;
  DRAFTSCOPE_TRY_ASSIGN(prompt.question_id, field["question_id"].integer<std::int64_t>());
  DRAFTSCOPE_TRY_ASSIGN(prompt.turn, field["turn"].integer<std::int32_t>());
  DRAFTSCOPE_TRY_ASSIGN(prompt.sha256, field["sha256"].text());
  return prompt;
}

}  // namespace

Result<PredictionFile> parse_prediction(std::string_view text, const std::string& name) {
  nlohmann::json content = nlohmann::json::parse(text, nullptr, false);
  const JsonField field(content, name);
  if (field["format"].value() != prediction_format)
    return fail("{}: found no prediction, expected what draftscope predict writes", name);
  if (field["version"].value() != prediction_version)
    return field["version"].wrong(std::to_string(prediction_version));
  PredictionFile prediction;
  DRAFTSCOPE_TRY_ASSIGN(prediction.digest, field["digest"].text());
  const std::string actual = prediction_digest(content);
  if (prediction.digest != actual)
    return fail("{}: digest is {}, expected {} of its content: it was changed after it was written", name,
                prediction.digest, actual);
  DRAFTSCOPE_TRY_ASSIGN(prediction.tool_version, field["tool_version"].text());
  DRAFTSCOPE_TRY_ASSIGN(prediction.command_line, field["command_line"].text());
  DRAFTSCOPE_TRY_ASSIGN(prediction.created_realtime_ns, field["created_realtime_ns"].integer<std::int64_t>());
  DRAFTSCOPE_TRY(read_recording(field["recording"], prediction));
  DRAFTSCOPE_TRY_ASSIGN(const auto prompts, field["prompts"].list());
  for (const JsonField& prompt : prompts) {
    DRAFTSCOPE_TRY_ASSIGN(prediction.prompts.emplace_back(), prompt_of(prompt));
  }
  DRAFTSCOPE_TRY_ASSIGN(prediction.draws, field["draws"].integer<std::int32_t>());
  DRAFTSCOPE_TRY_ASSIGN(prediction.seed, field["seed"].integer<std::uint64_t>());
  DRAFTSCOPE_TRY_ASSIGN(const auto questions, field["predictions"].list());
  for (const JsonField& question : questions) {
    DRAFTSCOPE_TRY_ASSIGN(prediction.questions.emplace_back(), question_of(question));
  }
  return prediction;
}

Result<PredictionFile> read_prediction(const std::filesystem::path& path) {
  DRAFTSCOPE_TRY_ASSIGN(const std::string text, read_text_file(path, max_settings_bytes));
  return parse_prediction(text, path.string());
}

}  // namespace draftscope::simulator
