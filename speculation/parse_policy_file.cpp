// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/policy_file.h>

#include <draftscope/base/json_field.h>
#include <draftscope/base/json_text.h>
#include <draftscope/base/quote.h>
#include <draftscope/base/text_file.h>
#include <draftscope/speculation/skip_set_json.h>
#include <array>

#include "policy_format.h"

namespace draftscope::speculation {
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

/// Median, minimum and maximum of a score follow from the repeats and are for readers of the file.
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
