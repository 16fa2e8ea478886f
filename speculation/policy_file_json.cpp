// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/policy_file.h>

#include <draftscope/base/atomic_file.h>
#include <draftscope/base/number.h>
#include <draftscope/speculation/skip_set_json.h>
#include <algorithm>

#include "policy_format.h"

namespace draftscope::speculation {
namespace {

using Json = nlohmann::ordered_json;

/// A number where the text is how one is written, so that reading gives the text back.
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
  // A member and a trial a line: nlohmann's own indentation takes a line for every layer of a set.
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

}  // namespace draftscope::speculation
