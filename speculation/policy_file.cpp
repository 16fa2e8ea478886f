// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/policy_file.h>

#include <draftscope/base/quote.h>
#include <draftscope/base/statistics.h>

#include <draftscope/base/atomic_file.h>
#include <draftscope/base/json_field.h>
#include <draftscope/base/json_text.h>
#include <draftscope/base/number.h>
#include <draftscope/base/text_file.h>
#include <draftscope/speculation/skip_set_json.h>
#include <algorithm>
#include <array>

namespace draftscope::speculation {
namespace {

namespace policy_format {

constexpr const char* marker = "draftscope_policy";
constexpr std::int32_t version = 1;

}  // namespace policy_format

/// Keys that may differ between the model that was tuned and the one that decodes.
constexpr std::array identity{"name", "checkpoint_hash"};

}  // namespace

Facts model_facts(const ModelShape& shape, std::string_view checkpoint_hash) {
  Facts facts{{"name", shape.name}, {"checkpoint_hash", std::string(checkpoint_hash)}};
  for (const auto& [name, member] : shape_sizes) facts[name] = std::to_string(shape.*member);
  return facts;
}

Result<void> check_policy_finished(const PolicyFile& policy, std::string_view file) {
  if (policy.finished) return {};
  if (const auto shard = policy.settings.find(policy_shard); shard != policy.settings.end())
    return fail(
        "{}: is shard {} of a search, expected the policy of all shards (draftscope tune --from-shards)",
        file, shard->second);
  return fail("{}: the search is not finished, expected one that is (draftscope tune --resume)", file);
}

Result<void> check_policy_shape(const PolicyFile& policy, const ModelShape& shape, std::string_view file) {
  for (const auto& [key, value] : model_facts(shape, "")) {
    if (std::find(identity.begin(), identity.end(), key) != identity.end()) continue;
    const std::string& tuned = policy.model.at(key);
    if (tuned != value)
      return fail("{}: was tuned for a model of {} {}, expected {} as {} has", file, key, quote(tuned), value,
                  shape.name);
  }
  return {};
}

std::string other_checkpoint_note(const PolicyFile& policy, std::string_view checkpoint_hash,
                                  std::string_view file) {
  const std::string& made_for = policy.model.at("checkpoint_hash");
  if (checkpoint_hash.empty() || made_for.empty() || made_for == checkpoint_hash) return {};
  return fmt::format(
      "{}: was made for another checkpoint ({}, hash {}), so another setting may be faster here", file,
      policy.model.at("name"), made_for);
}

std::optional<ScoreSpread> score_spread(const std::vector<Measurement>& repeats) {
  if (repeats.empty()) return std::nullopt;
  std::vector<double> scores;
  scores.reserve(repeats.size());
  for (const Measurement& repeat : repeats) scores.push_back(repeat.score);
  const auto [minimum, maximum] = std::ranges::minmax(scores);
  return ScoreSpread{mean_median(scores), minimum, maximum};
}

namespace {

using Json = nlohmann::ordered_json;

/// Writes a text as a JSON number where it has exactly a number's form, so that reading returns the same
/// text.
Json fact_json(const std::string& text) {
  const auto value = parse_number<std::int64_t>(text);
  return value && std::to_string(*value) == text ? Json(*value) : Json(text);
}

Json facts_json(const Facts& facts) {
  Json object = Json::object();
  for (const auto& [key, value] : facts) object[key] = fact_json(value);
  return object;
}

void add_measurement(Json& object, const Measurement& measured) {
  object["score"] = measured.score;
  if (measured.tokens_per_second > 0.0) {
    object["tokens_per_second"] = measured.tokens_per_second;
    object["vanilla_tokens_per_second"] = measured.vanilla_tokens_per_second;
  }
  object["acceptance_rate"] = measured.acceptance_rate;
  object["tokens_per_round"] = measured.tokens_per_round;
}

Json score_json(const std::vector<Measurement>& repeats) {
  const auto spread = score_spread(repeats);
  if (!spread) return nullptr;
  Json list = Json::array();
  for (const Measurement& repeat : repeats) {
    Json one = Json::object();
    add_measurement(one, repeat);
    list.push_back(std::move(one));
  }
  return {{"median", spread->median},
          {"minimum", spread->minimum},
          {"maximum", spread->maximum},
          {"repeats", std::move(list)}};
}

Json finalists_json(const std::vector<Finalist>& finalists) {
  Json list = Json::array();
  for (const Finalist& finalist : finalists)
    list.push_back(Json{{"setting", finalist.setting}, {"score", score_json(finalist.repeats)}});
  return list;
}

Json trial_json(const Trial& trial) {
  Json object{{"setting", trial.setting}, {"prompts", trial.prompts}};
  object["scored_by"] = scored_by_name(trial.scored_by);
  add_measurement(object, trial.measured);
  if (trial.agreement) object["agreement"] = *trial.agreement;
  if (!trial.candidate) return object;
  object["origin"] = candidate_origin_name(trial.candidate->origin);
  object["skipped"] = skip_set_json(trial.candidate->mask);
  object["point"] = trial.candidate->point;
  return object;
}

}  // namespace

std::string policy_json(const PolicyFile& policy) {
  Json skip_sets = nullptr;
  if (policy.skip_set) skip_sets = Json{{std::string(policy_skip_set), skip_set_json(*policy.skip_set)}};
  const Json head{{policy_format::marker, policy_format::version},
                  {"finished", policy.finished},
                  {"strategy", policy.strategy},
                  {"score", score_json(policy.repeats)},
                  {"finalists", finalists_json(policy.finalists)},
                  {"skip_sets", std::move(skip_sets)},
                  {"model", facts_json(policy.model)},
                  {"machine", facts_json(policy.machine)},
                  {"prompts", facts_json(policy.prompts)},
                  {"settings", facts_json(policy.settings)},
                  {"tool_version", policy.tool_version},
                  {"date", policy.date},
                  {"command_line", policy.command_line}};
  // Each member and each trial gets one line, because nlohmann's own indentation takes a line for every layer
  // of a set.
  std::string text = "{";
  const auto replace = nlohmann::detail::error_handler_t::replace;  // file names need not be UTF-8
  for (const auto& [key, value] : head.items())
    text += fmt::format("\n{}: {},", Json(key).dump(), value.dump(-1, ' ', false, replace));
  text += "\n\"trials\": [";
  for (const Trial& trial : policy.trials)
    text += (&trial == policy.trials.data() ? "\n" : ",\n") + trial_json(trial).dump(-1, ' ', false, replace);
  return text + "]}\n";
}

Result<void> write_policy(const std::filesystem::path& file, const PolicyFile& policy) {
  const std::string text = policy_json(policy);
  DRAFTSCOPE_TRY_ASSIGN(auto out, AtomicFile::create(file));
  out.write(text);
  return out.commit();
}

namespace {

constexpr std::size_t max_bytes = std::size_t{256} << 20U;
constexpr Range<std::int32_t> policy_layers_range{1, 4096};
constexpr Range<double> from_zero{.min = 0.0};
constexpr std::string_view none_beside = "none beside those of a policy";

constexpr std::array members{policy_format::marker, "finished", "strategy",     "score",   "finalists",
                             "skip_sets",           "model",    "machine",      "prompts", "settings",
                             "tool_version",        "date",     "command_line", "trials"};
constexpr std::array score_members{"median", "minimum", "maximum", "repeats"};
constexpr std::array finalist_members{"setting", "score"};
constexpr std::array measurement_members{"score", "tokens_per_second", "vanilla_tokens_per_second",
                                         "acceptance_rate", "tokens_per_round"};
constexpr std::array trial_members{
    "setting",         "prompts",          "score",  "tokens_per_second", "vanilla_tokens_per_second",
    "acceptance_rate", "tokens_per_round", "origin", "skipped",           "point",
    "scored_by",       "agreement"};

Result<Facts> facts_of(const JsonField& field) {
  DRAFTSCOPE_TRY_ASSIGN(const auto named, field.members());
  Facts facts;
  for (const auto& [key, member] : named) {
    const nlohmann::json& value = member.value();
    if (!value.is_string() && !value.is_number_integer()) return member.wrong("a string or an integer");
    facts[key] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  return facts;
}

Result<Measurement> measurement_of(const JsonField& field) {
  Measurement measured;
  DRAFTSCOPE_TRY_ASSIGN(measured.score, field["score"].number());
  DRAFTSCOPE_TRY_ASSIGN(measured.tokens_per_second, field["tokens_per_second"].number_or(from_zero, 0.0));
  DRAFTSCOPE_TRY_ASSIGN(measured.vanilla_tokens_per_second,
                        field["vanilla_tokens_per_second"].number_or(from_zero, 0.0));
  DRAFTSCOPE_TRY_ASSIGN(measured.acceptance_rate, field["acceptance_rate"].number({0.0, 1.0}));
  DRAFTSCOPE_TRY_ASSIGN(measured.tokens_per_round, field["tokens_per_round"].number(from_zero));
  return measured;
}

/// Reads the repeats; median, minimum and maximum of a score follow from them and are only for readers of the
/// file.
Result<std::vector<Measurement>> repeats_of(const JsonField& score) {
  std::vector<Measurement> repeats;
  if (score.is_null()) return repeats;
  DRAFTSCOPE_TRY(score.object());
  DRAFTSCOPE_TRY(score.knows_only(score_members, none_beside));
  DRAFTSCOPE_TRY_ASSIGN(const auto elements, score["repeats"].list());
  for (const JsonField& element : elements) {
    DRAFTSCOPE_TRY(element.object());
    DRAFTSCOPE_TRY(element.knows_only(measurement_members, none_beside));
    DRAFTSCOPE_TRY_ASSIGN(repeats.emplace_back(), measurement_of(element));
  }
  return repeats;
}

Result<Candidate> candidate_of(const JsonField& field, std::int32_t n_layers) {
  Candidate candidate;
  DRAFTSCOPE_TRY_ASSIGN(candidate.origin,
                        field["origin"].named(candidate_origin_name, CandidateOrigin::single));
  DRAFTSCOPE_TRY_ASSIGN(candidate.mask, parse_skip_set(field["skipped"], n_layers));
  DRAFTSCOPE_TRY_ASSIGN(candidate.point, field["point"].numbers());
  return candidate;
}

Result<Trial> trial_of(const JsonField& field, std::int32_t n_layers) {
  DRAFTSCOPE_TRY(field.object());
  DRAFTSCOPE_TRY(field.knows_only(trial_members, none_beside));
  Trial trial;
  DRAFTSCOPE_TRY_ASSIGN(trial.setting, field["setting"].text());
  DRAFTSCOPE_TRY_ASSIGN(trial.prompts, field["prompts"].integer(Range<std::int32_t>{.min = 1}));
  DRAFTSCOPE_TRY_ASSIGN(trial.measured, measurement_of(field));
  if (field.has("scored_by")) {
    DRAFTSCOPE_TRY_ASSIGN(trial.scored_by,
                          field["scored_by"].named(scored_by_name, ScoredBy::teacher_forced));
  }
  if (field.has("agreement")) {
    DRAFTSCOPE_TRY_ASSIGN(trial.agreement, field["agreement"].number({0.0, 1.0}));
  }
  if (field.has("origin")) {
    DRAFTSCOPE_TRY_ASSIGN(trial.candidate, candidate_of(field, n_layers));
  }
  return trial;
}

Result<std::vector<Finalist>> finalists_of(const JsonField& field) {
  std::vector<Finalist> finalists;
  if (field.is_null()) return finalists;
  DRAFTSCOPE_TRY_ASSIGN(const auto elements, field.list());
  for (const JsonField& element : elements) {
    DRAFTSCOPE_TRY(element.object());
    DRAFTSCOPE_TRY(element.knows_only(finalist_members, none_beside));
    Finalist finalist;
    DRAFTSCOPE_TRY_ASSIGN(finalist.setting, element["setting"].text());
    DRAFTSCOPE_TRY_ASSIGN(finalist.repeats, repeats_of(element["score"]));
    if (finalist.repeats.empty()) return element["score"].wrong("its repeats");
    finalists.push_back(std::move(finalist));
  }
  return finalists;
}

Result<void> parse_results(const JsonField& file, std::int32_t n_layers, PolicyFile& policy) {
  DRAFTSCOPE_TRY_ASSIGN(policy.repeats, repeats_of(file["score"]));
  DRAFTSCOPE_TRY_ASSIGN(policy.finalists, finalists_of(file["finalists"]));
  if (const JsonField sets = file["skip_sets"]; !sets.is_null()) {
    if (!sets.value().is_object() || sets.value().size() != 1 || !sets.has(policy_skip_set))
      return sets.wrong(fmt::format("an object of the one set {}", quote(policy_skip_set)));
    DRAFTSCOPE_TRY_ASSIGN(policy.skip_set, parse_skip_set(sets[policy_skip_set], n_layers));
  }
  DRAFTSCOPE_TRY_ASSIGN(const auto trials, file["trials"].list());
  for (const JsonField& trial : trials) {
    DRAFTSCOPE_TRY_ASSIGN(policy.trials.emplace_back(), trial_of(trial, n_layers));
  }
  if (policy.finished && (policy.strategy.empty() || policy.repeats.empty()))
    return fail("{}: is finished without strategy or score, expected both", file.file());
  return {};
}

}  // namespace

Result<PolicyFile> parse_policy(std::string_view text, std::string_view file) {
  DRAFTSCOPE_TRY_ASSIGN(const auto json, parse_json_object(text, file));
  const JsonField root(json, file);
  if (!root.has(policy_format::marker))
    return fail("{}: has no field {}, expected a policy of draftscope tune", file, policy_format::marker);
  constexpr Range<std::int32_t> versions{policy_format::version, policy_format::version};
  DRAFTSCOPE_TRY(root[policy_format::marker].integer(versions));
  DRAFTSCOPE_TRY(root.knows_only(members, none_beside));
  PolicyFile policy;
  DRAFTSCOPE_TRY_ASSIGN(policy.finished, root["finished"].boolean());
  DRAFTSCOPE_TRY_ASSIGN(policy.strategy, root["strategy"].text());
  DRAFTSCOPE_TRY_ASSIGN(policy.tool_version, root["tool_version"].text());
  DRAFTSCOPE_TRY_ASSIGN(policy.date, root["date"].text());
  DRAFTSCOPE_TRY_ASSIGN(policy.command_line, root["command_line"].text());
  DRAFTSCOPE_TRY_ASSIGN(policy.model, facts_of(root["model"]));
  DRAFTSCOPE_TRY_ASSIGN(policy.machine, facts_of(root["machine"]));
  DRAFTSCOPE_TRY_ASSIGN(policy.prompts, facts_of(root["prompts"]));
  DRAFTSCOPE_TRY_ASSIGN(policy.settings, facts_of(root["settings"]));
  for (const auto& [key, unused] : model_facts({}, ""))
    if (!policy.model.contains(key)) return root["model"][key].wrong("it");
  DRAFTSCOPE_TRY_ASSIGN(const auto n_layers, root["model"]["n_layers"].integer(policy_layers_range));
  DRAFTSCOPE_TRY(parse_results(root, n_layers, policy));
  return policy;
}

Result<PolicyFile> read_policy(const std::filesystem::path& file) {
  DRAFTSCOPE_TRY_ASSIGN(const auto text, read_text_file(file, max_bytes));
  return parse_policy(text, file.string());
}

}  // namespace draftscope::speculation
