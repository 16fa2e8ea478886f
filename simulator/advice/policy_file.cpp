// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/atomic_file.h>
#include <draftscope/base/sha256.h>
#include <draftscope/base/utc_time.h>
#include <draftscope/simulator/advice/policy_file.h>
#include <draftscope/simulator/figures/measured_recording.h>
#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

namespace draftscope::simulator {

namespace {

using Json = nlohmann::ordered_json;

Result<PolicyFacts> model_facts(const traces::Recording& recording) {
  DRAFTSCOPE_TRY_ASSIGN(const ModelShape shape, recorded_shape(recording.meta));
  return PolicyFacts{{"name", shape.name},
                     {"checkpoint_hash", meta_value(recording.meta, "checkpoint_hash")},
                     {"n_layers", std::to_string(shape.n_layers)},
                     {"d_model", std::to_string(shape.d_model)},
                     {"n_heads", std::to_string(shape.n_heads)},
                     {"n_kv_heads", std::to_string(shape.n_kv_heads)},
                     {"head_dim", std::to_string(shape.head_dim)},
                     {"d_ff", std::to_string(shape.d_ff)},
                     {"vocab", std::to_string(shape.vocab)}};
}

PolicyFacts machine_facts(const std::string& machine, const traces::Recording& recording) {
  PolicyFacts facts{{"advised_for", machine}};
  for (const char* key : {"device", "processor", "kernels", "threads", "hostname"})
    facts[key] = meta_value(recording.meta, key);
  return facts;
}

PolicyFacts prompt_facts(const Answer& answer, const traces::Recording& recording) {
  std::size_t tokens = 0;
  for (const traces::Prompt& prompt : recording.prompts) tokens += prompt.tokens.size();
  return {{"file", meta_value(recording.meta, "prompts_file")},
          {"questions", std::to_string(answer.speedup.min_drafted.total.clusters)},
          {"tokens", std::to_string(tokens)}};
}

std::string range(const std::optional<Interval>& interval) {
  return interval ? fmt::format("{:.4f} to {:.4f}", interval->low, interval->high) : "none";
}

/// All but strategy, figures and what is particular to how the setting was found.
Result<PredictedPolicy> policy_for(std::string strategy, const std::string& machine, const Answer& answer,
                                   const traces::Recording& recording, const PolicyOrigin& origin) {
  if (strategy.starts_with("tuned"))
    return fail("{} is a policy file already, expected another strategy", strategy);
  PredictedPolicy policy{.strategy = std::move(strategy),
                         .machine = machine_facts(machine, recording),
                         .prompts = prompt_facts(answer, recording),
                         .tool_version = origin.tool_version,
                         .date = utc_now(),
                         .command_line = origin.command_line};
  DRAFTSCOPE_TRY_ASSIGN(policy.model, model_facts(recording));
  DRAFTSCOPE_TRY_ASSIGN(const std::string hash, sha256_of_file(origin.trace));
  policy.settings = {{"objective", "predicted"}, {"trace", origin.trace.string()}, {"trace_hash", hash}};
  return policy;
}

double slower_bound(const PredictedSpeedup& speedup) {
  const double least = speedup.min_drafted.total.value;
  return speedup.max_drafted ? std::min(least, speedup.max_drafted->total.value) : least;
}

/// A number where the text is how one is written, so that reading gives the text back.
Json fact_json(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && std::to_string(value) == text ? Json(value) : Json(text);
}

Json facts_json(const PolicyFacts& facts) {
  Json object = Json::object();
  for (const auto& [key, value] : facts) object[key] = fact_json(value);
  return object;
}

/// Of a single prediction: the engine's own policies have several measurements.
Json score_json(const PredictedPolicy& policy) {
  const Json prediction{{"score", policy.score},
                        {"acceptance_rate", policy.acceptance_rate},
                        {"tokens_per_round", policy.tokens_per_round}};
  return {{"median", policy.score},
          {"minimum", policy.score},
          {"maximum", policy.score},
          {"repeats", Json::array({prediction})}};
}

}  // namespace

Result<PredictedPolicy> advised_policy(const Advice& advice, const traces::Recording& recording,
                                       const PolicyOrigin& origin) {
  if (advice.verdict == Verdict::measure_first)
    return fail("no policy yet, measure first: {}", advice.reason);
  DRAFTSCOPE_TRY_ASSIGN(PredictedPolicy policy,
                        policy_for(advice.strategy, advice.machine, advice.answer, recording, origin));
  // Vanilla decoding needs no prediction.
  if (advice.verdict == Verdict::speculate) {
    policy.score = advice.speedup;
    policy.acceptance_rate = advice.answer.acceptance_rate;
    policy.tokens_per_round = advice.answer.mean_accepted_length;
  }
  policy.settings.insert({{"search", "advise"},
                          {"verdict", std::string(verdict_name(advice.verdict))},
                          {"reason", advice.reason},
                          {"candidates", std::to_string(advice.considered)},
                          {"interval_95", range(advice.interval_95)},
                          {"held_out", fmt::format("{:.4f}", advice.held_out.speedup.value)},
                          {"held_out_interval_95", range(advice.held_out.speedup.interval_95)},
                          {"folds", std::to_string(advice.held_out.folds)}});
  return policy;
}

Result<PredictedPolicy> asked_policy(const Answer& answer, const Machine& machine,
                                     const traces::Recording& recording, const PolicyOrigin& origin) {
  DRAFTSCOPE_TRY_ASSIGN(const ModelShape recorded, recorded_shape(recording.meta));
  if (machine.scenario.shape.name != recorded.name || machine.scenario.shape.n_layers != recorded.n_layers)
    return fail("{}: the prediction is for {}, expected the recorded model {}, whose layers the policy names",
                answer.strategy, machine.scenario.shape.name, recorded.name);
  DRAFTSCOPE_TRY_ASSIGN(PredictedPolicy policy,
                        policy_for(answer.strategy, machine.name, answer, recording, origin));
  policy.score = slower_bound(answer.speedup);
  policy.acceptance_rate = answer.acceptance_rate;
  policy.tokens_per_round = answer.mean_accepted_length;
  policy.settings.insert({{"search", "what-if"},
                          {"rounds_source", std::string(round_source_name(answer.source))},
                          {"status", std::string(answer_status_name(answer.status))},
                          {"interval_95", range(outermost_interval_95(answer.speedup))}});
  return policy;
}

std::string policy_text(const PredictedPolicy& policy) {
  const Json head{
      {"draftscope_policy", 1},
      {"finished", true},
      {"strategy", policy.strategy},
      {"score", score_json(policy)},
      {"finalists", Json::array({Json{{"setting", policy.strategy}, {"score", score_json(policy)}}})},
      {"skip_sets", nullptr},
      {"model", facts_json(policy.model)},
      {"machine", facts_json(policy.machine)},
      {"prompts", facts_json(policy.prompts)},
      {"settings", facts_json(policy.settings)},
      {"tool_version", policy.tool_version},
      {"date", policy.date},
      {"command_line", policy.command_line}};
  std::string text = "{";
  const auto replace = nlohmann::detail::error_handler_t::replace;  // file names need not be UTF-8
  for (const auto& [key, value] : head.items())
    text += fmt::format("\n{}: {},", Json(key).dump(), value.dump(-1, ' ', false, replace));
  return text + "\n\"trials\": []}\n";
}

Result<void> write_policy_file(const std::filesystem::path& file, const PredictedPolicy& policy) {
  DRAFTSCOPE_TRY_ASSIGN(auto out, AtomicFile::create(file));
  out.write(policy_text(policy));
  return out.commit();
}

}  // namespace draftscope::simulator
