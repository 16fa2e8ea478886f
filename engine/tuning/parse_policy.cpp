// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/tuning/policy.h>

#include <draftscope/base/json_text.h>
#include <draftscope/base/quote.h>
#include <draftscope/base/text_file.h>
#include <algorithm>
#include <limits>
#include <span>

#include "checkpoint/config_fields.h"
#include "search/skip_set_json.h"
#include "tuning/policy_format.h"

namespace draftscope::engine {
namespace {

constexpr std::size_t max_bytes = std::size_t{256} << 20U;
constexpr std::int32_t max_layers = 4096;
constexpr Range<double> any_number{std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max()};
constexpr Range<double> from_zero{0.0, std::numeric_limits<double>::max()};

constexpr std::array members{policy_format::marker, "finished", "strategy",     "score",   "finalists",
                             "skip_sets",           "model",    "machine",      "prompts", "settings",
                             "tool_version",        "date",     "command_line", "trials"};
constexpr std::array score_members{"median", "minimum", "maximum", "repeats"};
constexpr std::array finalist_members{"setting", "score"};
constexpr std::array measurement_members{"score", "tokens_per_second", "vanilla_tokens_per_second",
                                         "acceptance_rate", "tokens_per_round"};
constexpr std::array trial_members{
    "setting",         "prompts",          "score",  "tokens_per_second", "vanilla_tokens_per_second",
    "acceptance_rate", "tokens_per_round", "origin", "skipped",           "point"};

/// An object of the file, with its place in it for messages: "trials[3].".
struct Part {
  const nlohmann::json& json;
  std::string_view file;
  std::string path;

  [[nodiscard]] ConfigFields fields() const { return {json, file, path}; }
  [[nodiscard]] Result<void> knows(std::span<const char* const> names) const {
    for (const auto& [key, unused] : json.items())
      if (std::find(names.begin(), names.end(), key) == names.end())
        return fail("{}: unknown field {}{}, expected none beside those of a policy", file, path, quote(key));
    return {};
  }
};

Result<std::string> text_of(const ConfigFields& fields, const char* field) {
  if (fields.is_null_or_absent(field)) return fields.wrong(field, "a text");
  return fields.text_or(field, "");
}

Result<Facts> facts_of(const Part& part, const char* field) {
  const auto place = part.json.find(field);
  if (place == part.json.end() || !place->is_object()) return part.fields().wrong(field, "an object");
  Facts facts;
  for (const auto& [key, value] : place->items()) {
    if (!value.is_string() && !value.is_number_integer())
      return fail("{}: field {}.{} is {}, expected a text or an integer", part.file, field, quote(key),
                  describe(value));
    facts[key] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  return facts;
}

Result<Measurement> measurement_of(const Part& part) {
  const ConfigFields fields = part.fields();
  Measurement measured;
  DRAFTSCOPE_TRY_ASSIGN(measured.score, fields.number("score", any_number));
  DRAFTSCOPE_TRY_ASSIGN(measured.tokens_per_second, fields.number_or("tokens_per_second", from_zero, 0.0));
  DRAFTSCOPE_TRY_ASSIGN(measured.vanilla_tokens_per_second,
                        fields.number_or("vanilla_tokens_per_second", from_zero, 0.0));
  DRAFTSCOPE_TRY_ASSIGN(measured.acceptance_rate, fields.number("acceptance_rate", {0.0, 1.0}));
  DRAFTSCOPE_TRY_ASSIGN(measured.tokens_per_round, fields.number("tokens_per_round", from_zero));
  return measured;
}

Result<Part> element_of(const nlohmann::json& list, std::size_t index, std::string_view file,
                        std::string_view field) {
  Part part{list[index], file, fmt::format("{}[{}].", field, index)};
  if (!part.json.is_object())
    return fail("{}: field {}[{}] is {}, expected an object", file, field, index, describe(part.json));
  return part;
}

/// Of the object `owner`, its "score". Median, minimum and maximum follow from the repeats and are for
/// readers of the file.
Result<std::vector<Measurement>> repeats_of(const Part& owner) {
  const nlohmann::json score = owner.json.value("score", nlohmann::json());
  const std::string_view file = owner.file;
  const std::string path = owner.path + "score";
  if (score.is_null()) return std::vector<Measurement>{};
  if (!score.is_object()) return fail("{}: field {} is {}, expected an object", file, path, describe(score));
  const Part part{score, file, path + "."};
  DRAFTSCOPE_TRY(part.knows(score_members));
  const auto list = score.find("repeats");
  if (list == score.end() || !list->is_array()) return part.fields().wrong("repeats", "a list");
  std::vector<Measurement> repeats;
  for (std::size_t i = 0; i < list->size(); ++i) {
    DRAFTSCOPE_TRY_ASSIGN(const Part one, element_of(*list, i, file, path + ".repeats"));
    DRAFTSCOPE_TRY(one.knows(measurement_members));
    DRAFTSCOPE_TRY_ASSIGN(const Measurement measured, measurement_of(one));
    repeats.push_back(measured);
  }
  return repeats;
}

Result<Candidate> candidate_of(const Part& part, std::int32_t n_layers) {
  const ConfigFields fields = part.fields();
  DRAFTSCOPE_TRY_ASSIGN(const std::string origin, text_of(fields, "origin"));
  const auto* const name = std::find(policy_format::origins.begin(), policy_format::origins.end(), origin);
  if (name == policy_format::origins.end()) return fields.wrong("origin", R"("probe", "random" or "model")");
  if (!fields.has("skipped")) return fields.wrong("skipped", "a skip set");
  Candidate candidate;
  candidate.origin = static_cast<CandidateOrigin>(name - policy_format::origins.begin());
  DRAFTSCOPE_TRY_ASSIGN(candidate.mask, search::parse_skip_set(part.json.at("skipped"), n_layers, part.file,
                                                               part.path + "skipped"));
  if (!fields.has("point") || !part.json.at("point").is_array())
    return fields.wrong("point", "a list of numbers");
  for (const auto& component : part.json.at("point")) {
    if (!component.is_number())
      return fail("{}: field {}point holds {}, expected numbers", part.file, part.path, describe(component));
    candidate.point.push_back(component.get<double>());
  }
  return candidate;
}

Result<Trial> trial_of(const Part& part, std::int32_t n_layers) {
  DRAFTSCOPE_TRY(part.knows(trial_members));
  const ConfigFields fields = part.fields();
  Trial trial;
  DRAFTSCOPE_TRY_ASSIGN(trial.setting, text_of(fields, "setting"));
  DRAFTSCOPE_TRY_ASSIGN(trial.prompts,
                        fields.integer("prompts", {1, std::numeric_limits<std::int32_t>::max()}));
  DRAFTSCOPE_TRY_ASSIGN(trial.measured, measurement_of(part));
  if (fields.has("origin")) {
    DRAFTSCOPE_TRY_ASSIGN(trial.candidate, candidate_of(part, n_layers));
  }
  return trial;
}

Result<std::vector<Finalist>> finalists_of(const Part& file) {
  std::vector<Finalist> finalists;
  if (file.fields().is_null_or_absent("finalists")) return finalists;
  const nlohmann::json& list = file.json.at("finalists");
  if (!list.is_array()) return file.fields().wrong("finalists", "a list");
  for (std::size_t i = 0; i < list.size(); ++i) {
    DRAFTSCOPE_TRY_ASSIGN(const Part part, element_of(list, i, file.file, "finalists"));
    DRAFTSCOPE_TRY(part.knows(finalist_members));
    Finalist finalist;
    DRAFTSCOPE_TRY_ASSIGN(finalist.setting, text_of(part.fields(), "setting"));
    DRAFTSCOPE_TRY_ASSIGN(finalist.repeats, repeats_of(part));
    if (finalist.repeats.empty()) return part.fields().wrong("score", "its repeats");
    finalists.push_back(std::move(finalist));
  }
  return finalists;
}

Result<std::int32_t> layers_of(const Policy& policy, const nlohmann::json& json, std::string_view file) {
  for (const auto& [key, unused] : model_facts({}, ""))
    if (!policy.model.contains(key)) return fail("{}: field model.{} is absent, expected it", file, key);
  return ConfigFields(json.at("model"), file, "model.").integer("n_layers", {1, max_layers});
}

Result<void> parse_results(const Part& file, std::int32_t n_layers, Policy& policy) {
  DRAFTSCOPE_TRY_ASSIGN(policy.repeats, repeats_of(file));
  DRAFTSCOPE_TRY_ASSIGN(policy.finalists, finalists_of(file));
  const nlohmann::json sets = file.json.value("skip_sets", nlohmann::json());
  if (!sets.is_null()) {
    const std::string name(policy_skip_set);
    if (!sets.is_object() || sets.size() != 1 || !sets.contains(name))
      return fail("{}: field skip_sets is {}, expected an object of the one set {}", file.file,
                  describe(sets), quote(name));
    DRAFTSCOPE_TRY_ASSIGN(policy.skip_set,
                          search::parse_skip_set(sets.at(name), n_layers, file.file, "skip_sets." + name));
  }
  const auto trials = file.json.find("trials");
  if (trials == file.json.end() || !trials->is_array()) return file.fields().wrong("trials", "a list");
  for (std::size_t i = 0; i < trials->size(); ++i) {
    DRAFTSCOPE_TRY_ASSIGN(const Part part, element_of(*trials, i, file.file, "trials"));
    DRAFTSCOPE_TRY_ASSIGN(Trial trial, trial_of(part, n_layers));
    policy.trials.push_back(std::move(trial));
  }
  if (policy.finished && (policy.strategy.empty() || policy.repeats.empty()))
    return fail("{}: is finished without strategy or score, expected both", file.file);
  return {};
}

}  // namespace

Result<Policy> parse_policy(std::string_view text, std::string_view file) {
  DRAFTSCOPE_TRY_ASSIGN(const auto json, parse_json_object(text, file));
  if (!json.contains(policy_format::marker))
    return fail("{}: has no field {}, expected a policy of draftscope tune", file, policy_format::marker);
  const Part part{json, file, ""};
  const ConfigFields fields = part.fields();
  DRAFTSCOPE_TRY(fields.integer(policy_format::marker, {policy_format::version, policy_format::version}));
  DRAFTSCOPE_TRY(part.knows(members));
  Policy policy;
  if (!fields.has("finished")) return fields.wrong("finished", "true or false");
  DRAFTSCOPE_TRY_ASSIGN(policy.finished, fields.boolean_or("finished", false));
  DRAFTSCOPE_TRY_ASSIGN(policy.strategy, text_of(fields, "strategy"));
  DRAFTSCOPE_TRY_ASSIGN(policy.tool_version, text_of(fields, "tool_version"));
  DRAFTSCOPE_TRY_ASSIGN(policy.date, text_of(fields, "date"));
  DRAFTSCOPE_TRY_ASSIGN(policy.command_line, text_of(fields, "command_line"));
  DRAFTSCOPE_TRY_ASSIGN(policy.model, facts_of(part, "model"));
  DRAFTSCOPE_TRY_ASSIGN(policy.machine, facts_of(part, "machine"));
  DRAFTSCOPE_TRY_ASSIGN(policy.prompts, facts_of(part, "prompts"));
  DRAFTSCOPE_TRY_ASSIGN(policy.settings, facts_of(part, "settings"));
  DRAFTSCOPE_TRY_ASSIGN(const std::int32_t n_layers, layers_of(policy, json, file));
  DRAFTSCOPE_TRY(parse_results(part, n_layers, policy));
  return policy;
}

Result<Policy> read_policy(const std::filesystem::path& file) {
  DRAFTSCOPE_TRY_ASSIGN(const auto text, read_text_file(file, max_bytes));
  return parse_policy(text, file.string());
}

}  // namespace draftscope::engine
