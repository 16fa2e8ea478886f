// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>

#include <draftscope/simulator/prediction/prediction_file.h>
#include "catalogue/earlier_keys.h"
#include "prediction/prediction_format.h"

namespace draftscope::simulator {

namespace {

using nlohmann::json;

/// An object of the file, with its place in it for messages: "predictions[3].".
class Part {
 public:
  Part(const json& object, const std::string& file, std::string path)
      : json_(object), file_(file), path_(std::move(path)) {}

  [[nodiscard]] Result<std::string> text(const char* field) const {
    const auto place = json_.find(field);
    if (place == json_.end() || !place->is_string()) return wrong(field, "a text");
    return place->get<std::string>();
  }

  [[nodiscard]] Result<double> number(const char* field) const {
    const auto place = json_.find(field);
    if (place == json_.end() || !place->is_number()) return wrong(field, "a number");
    return place->get<double>();
  }

  template <typename T>
  [[nodiscard]] Result<T> integer(const char* field) const {
    const auto place = json_.find(field);
    // nlohmann casts a number that does not fit without saying so.
    if (place == json_.end() || !place->is_number_integer() || json(place->get<T>()) != *place)
      return wrong(field, "an integer");
    return place->get<T>();
  }

  [[nodiscard]] Result<Part> object(const char* field) const {
    const auto place = json_.find(field);
    if (place == json_.end() || !place->is_object()) return wrong(field, "an object");
    return Part(*place, file_, path_ + field + ".");
  }

  [[nodiscard]] Result<std::vector<Part>> objects(const char* field) const {
    const auto place = json_.find(field);
    if (place == json_.end() || !place->is_array()) return wrong(field, "a list of objects");
    std::vector<Part> parts;
    for (std::size_t i = 0; i < place->size(); ++i) {
      if (!(*place)[i].is_object()) return wrong(field, "a list of objects");
      parts.emplace_back((*place)[i], file_, fmt::format("{}{}[{}].", path_, field, i));
    }
    return parts;
  }

  [[nodiscard]] Result<std::vector<std::string>> texts(const char* field) const {
    const auto place = json_.find(field);
    const auto is_text = [](const json& element) { return element.is_string(); };
    if (place == json_.end() || !place->is_array() || !std::all_of(place->begin(), place->end(), is_text))
      return wrong(field, "a list of texts");
    return place->get<std::vector<std::string>>();
  }

  /// Every member of this object is a text.
  [[nodiscard]] Result<traces::Meta> all_texts() const {
    traces::Meta meta;
    for (const auto& [key, value] : json_.items()) {
      if (!value.is_string()) return wrong(key, "a text");
      meta[key] = value.get<std::string>();
    }
    return meta;
  }

  [[nodiscard]] Result<std::optional<Interval>> interval(const char* field) const {
    const auto place = json_.find(field);
    if (place != json_.end() && place->is_null()) return std::nullopt;
    if (place == json_.end() || !place->is_array() || place->size() != 2 || !(*place)[0].is_number() ||
        !(*place)[1].is_number())
      return wrong(field, "[low, high] or null");
    return Interval{(*place)[0].get<double>(), (*place)[1].get<double>()};
  }

  /// One of the names that `name_of` gives the values from 0 to `last`.
  template <typename Enumeration>
  [[nodiscard]] Result<Enumeration> named(const char* field, std::string_view (*name_of)(Enumeration),
                                          Enumeration last) const {
    DRAFTSCOPE_TRY_ASSIGN(const std::string name, text(field));
    for (int i = 0; i <= static_cast<int>(last); ++i)
      if (name_of(static_cast<Enumeration>(i)) == name) return static_cast<Enumeration>(i);
    return wrong(field, "a known word");
  }

 private:
  [[nodiscard]] tl::unexpected<Error> wrong(std::string_view field, std::string_view expected) const {
    const auto place = json_.find(field);
    return fail("{}: field {}{} is {}, expected {}", file_, path_, field,
                place == json_.end() ? "missing" : place->type_name(), expected);
  }

  const json& json_;
  const std::string& file_;
  std::string path_;
};

Result<ModelShape> shape_of(const Part& part) {
  ModelShape shape;
  DRAFTSCOPE_TRY_ASSIGN(shape.name, part.text("name"));
  DRAFTSCOPE_TRY_ASSIGN(shape.n_layers, part.integer<std::int32_t>("n_layers"));
  DRAFTSCOPE_TRY_ASSIGN(shape.d_model, part.integer<std::int32_t>("d_model"));
  DRAFTSCOPE_TRY_ASSIGN(shape.n_heads, part.integer<std::int32_t>("n_heads"));
  DRAFTSCOPE_TRY_ASSIGN(shape.n_kv_heads, part.integer<std::int32_t>("n_kv_heads"));
  DRAFTSCOPE_TRY_ASSIGN(shape.head_dim, part.integer<std::int32_t>("head_dim"));
  DRAFTSCOPE_TRY_ASSIGN(shape.d_ff, part.integer<std::int32_t>("d_ff"));
  DRAFTSCOPE_TRY_ASSIGN(shape.vocab, part.integer<std::int32_t>("vocab"));
  return shape;
}

Result<PredictedDecoding> decoding_of(const Part& part) {
  PredictedDecoding decoding;
  DRAFTSCOPE_TRY_ASSIGN(decoding.status, part.named("status", answer_status_name, AnswerStatus::invalid));
  DRAFTSCOPE_TRY_ASSIGN(decoding.source,
                        part.named("rounds_source", round_source_name, RoundSource::modelled));
  DRAFTSCOPE_TRY_ASSIGN(decoding.speedup, part.number("speedup"));
  DRAFTSCOPE_TRY_ASSIGN(decoding.speedup_min_drafted, part.number("speedup_min_drafted"));
  DRAFTSCOPE_TRY_ASSIGN(decoding.speedup_max_drafted, part.number("speedup_max_drafted"));
  DRAFTSCOPE_TRY_ASSIGN(decoding.interval_80, part.interval("interval_80"));
  DRAFTSCOPE_TRY_ASSIGN(decoding.interval_95, part.interval("interval_95"));
  DRAFTSCOPE_TRY_ASSIGN(decoding.no_interval_reason, part.text("no_interval_reason"));
  DRAFTSCOPE_TRY_ASSIGN(decoding.vanilla_step_ns, part.number("target_step_ns"));
  DRAFTSCOPE_TRY_ASSIGN(decoding.draft_step_ns, part.number("draft_step_ns"));
  DRAFTSCOPE_TRY_ASSIGN(decoding.verify_ns, part.number("verify_ns"));
  DRAFTSCOPE_TRY_ASSIGN(decoding.mean_accepted_length, part.number("tokens_per_round"));
  DRAFTSCOPE_TRY_ASSIGN(decoding.tokens_per_second, part.number("decode_tokens_per_second"));
  DRAFTSCOPE_TRY_ASSIGN(decoding.vanilla_tokens_per_second, part.number("vanilla_decode_tokens_per_second"));
  return decoding;
}

Result<PredictedQuestion> question_of(const Part& part) {
  PredictedQuestion question;
  DRAFTSCOPE_TRY_ASSIGN(question.kind, part.named("kind", question_kind_key, QuestionKind::unseen_machine));
  DRAFTSCOPE_TRY_ASSIGN(question.strategy, part.text("strategy"));
  DRAFTSCOPE_TRY_ASSIGN(question.machine, part.text("machine"));
  DRAFTSCOPE_TRY_ASSIGN(question.gpu, part.text("gpu"));
  DRAFTSCOPE_TRY_ASSIGN(const Part shape, part.object("model_shape"));
  DRAFTSCOPE_TRY_ASSIGN(question.shape, shape_of(shape));
  DRAFTSCOPE_TRY_ASSIGN(question.weights, part.text("weights"));
  DRAFTSCOPE_TRY_ASSIGN(question.regime, part.text("regime"));
  DRAFTSCOPE_TRY_ASSIGN(question.batch, part.integer<std::int32_t>("batch"));
  DRAFTSCOPE_TRY_ASSIGN(question.tensor_parallel, part.integer<std::int32_t>("tensor_parallel"));
  DRAFTSCOPE_TRY_ASSIGN(const Part decoding, part.object("predicted"));
  DRAFTSCOPE_TRY_ASSIGN(question.decoding, decoding_of(decoding));
  DRAFTSCOPE_TRY_ASSIGN(question.notes, part.texts("notes"));
  return question;
}

Result<void> read_recording(const Part& part, PredictionFile& into) {
  DRAFTSCOPE_TRY_ASSIGN(into.recording, part.text("file"));
  DRAFTSCOPE_TRY_ASSIGN(into.recording_sha256, part.text("sha256"));
  DRAFTSCOPE_TRY_ASSIGN(const Part meta, part.object("meta"));
  DRAFTSCOPE_TRY_ASSIGN(into.recording_meta, meta.all_texts());
  return {};
}

Result<LearntPrompt> prompt_of(const Part& part) {
  LearntPrompt prompt;
  DRAFTSCOPE_TRY_ASSIGN(prompt.question_id, part.integer<std::int64_t>("question_id"));
  DRAFTSCOPE_TRY_ASSIGN(prompt.turn, part.integer<std::int32_t>("turn"));
  DRAFTSCOPE_TRY_ASSIGN(prompt.sha256, part.text("sha256"));
  return prompt;
}

}  // namespace

Result<PredictionFile> parse_prediction(std::string_view text, const std::string& name) {
  json content = json::parse(text, nullptr, false);
  if (!content.is_object() || content.value("format", json()) != prediction_format)
    return fail("{}: found no prediction, expected what draftscope predict writes", name);
  if (content.value("version", json()) != prediction_version)
    return fail("{}: field version is {}, expected {}", name, content.value("version", json()).dump(),
                prediction_version);
  const Part part(content, name, "");
  PredictionFile prediction;
  DRAFTSCOPE_TRY_ASSIGN(prediction.digest, part.text("digest"));
  const std::string actual = prediction_digest(content);
  if (prediction.digest != actual)
    return fail("{}: digest is {}, its content has {}: it was changed after it was written", name,
                prediction.digest, actual);
  rename_earlier_prediction_keys(content);
  DRAFTSCOPE_TRY_ASSIGN(prediction.tool_version, part.text("tool_version"));
  DRAFTSCOPE_TRY_ASSIGN(prediction.command_line, part.text("command_line"));
  DRAFTSCOPE_TRY_ASSIGN(prediction.created_realtime_ns, part.integer<std::int64_t>("created_realtime_ns"));
  DRAFTSCOPE_TRY_ASSIGN(const Part recording, part.object("recording"));
  DRAFTSCOPE_TRY(read_recording(recording, prediction));
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<Part> prompts, part.objects("prompts"));
  for (const Part& one : prompts) {
    DRAFTSCOPE_TRY_ASSIGN(LearntPrompt prompt, prompt_of(one));
    prediction.prompts.push_back(std::move(prompt));
  }
  DRAFTSCOPE_TRY_ASSIGN(prediction.draws, part.integer<std::int32_t>("draws"));
  DRAFTSCOPE_TRY_ASSIGN(prediction.seed, part.integer<std::uint64_t>("seed"));
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<Part> questions, part.objects("predictions"));
  for (const Part& one : questions) {
    DRAFTSCOPE_TRY_ASSIGN(PredictedQuestion question, question_of(one));
    prediction.questions.push_back(std::move(question));
  }
  return prediction;
}

Result<PredictionFile> read_prediction(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();  // unlike an iterator, it sets the state of a folder's stream and does not throw
  if (!file || !text) return fail("{}: can't be read", path.string());
  return parse_prediction(text.str(), path.string());
}

}  // namespace draftscope::simulator
