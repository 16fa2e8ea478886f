// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/clock.h>
#include <draftscope/base/sha256.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/simulator/answers/advice.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <fmt/format.h>

namespace draftscope::simulator {

namespace {

using speculation::Facts;
using speculation::PolicyFile;

Result<Facts> recorded_model(const traces::Recording& recording) {
  DRAFTSCOPE_TRY_ASSIGN(const ModelShape shape, recorded_shape(recording.meta));
  return speculation::model_facts(shape, meta_value(recording.meta, "checkpoint_hash"));
}

Facts machine_facts(const std::string& machine, const traces::Recording& recording) {
  Facts facts{{"advised_for", machine}};
  for (const char* key : {"device", "processor", "kernels", "threads", "hostname"})
    facts[key] = meta_value(recording.meta, key);
  return facts;
}

Facts prompt_facts(const Answer& answer, const traces::Recording& recording) {
  std::size_t tokens = 0;
  for (const traces::Prompt& prompt : recording.prompts) tokens += prompt.tokens.size();
  return {{"file", meta_value(recording.meta, "prompts_file")},
          {"questions", std::to_string(answer.speedup.min_drafted.clusters)},
          {"tokens", std::to_string(tokens)}};
}

std::string range(const std::optional<Interval>& interval) {
  return interval ? fmt::format("{:.4f} to {:.4f}", interval->low, interval->high) : "none";
}

/// Everything except strategy, figures and entries that depend on how the setting was found.
Result<PolicyFile> policy_for(std::string strategy, const std::string& machine, const Answer& answer,
                              const traces::Recording& recording, const PolicyOrigin& origin) {
  if (speculation::strategy_row(speculation::strategy_name(strategy)).names_another)
    return fail("{} is a policy file already, expected another strategy", strategy);
  PolicyFile policy;
  policy.finished = true;
  policy.strategy = std::move(strategy);
  policy.machine = machine_facts(machine, recording);
  policy.prompts = prompt_facts(answer, recording);
  policy.tool_version = origin.tool_version;
  policy.date = utc_now();
  policy.command_line = origin.command_line;
  DRAFTSCOPE_TRY_ASSIGN(policy.model, recorded_model(recording));
  DRAFTSCOPE_TRY_ASSIGN(const std::string hash, sha256_of_file(origin.trace));
  policy.settings = {{"objective", "predicted"}, {"trace", origin.trace.string()}, {"trace_hash", hash}};
  return policy;
}

/// Stores the single prediction in place of the measurements of a tuned policy.
void set_prediction(PolicyFile& policy, const speculation::Measurement& predicted) {
  policy.repeats = {predicted};
  policy.finalists = {{policy.strategy, policy.repeats}};
}

}  // namespace

Result<PolicyFile> advised_policy(const Advice& advice, const traces::Recording& recording,
                                  const PolicyOrigin& origin) {
  if (advice.verdict == Verdict::measure_first)
    return fail("measure first: {}; expected a gain that is sure for a policy", advice.reason);
  DRAFTSCOPE_TRY_ASSIGN(PolicyFile policy,
                        policy_for(advice.strategy, advice.machine, advice.answer, recording, origin));
  speculation::Measurement predicted{.score = 1.0, .tokens_per_round = 1.0};  // Values of vanilla decoding.
  if (advice.verdict == Verdict::speculate) {
    predicted.score = advice.speedup;
    predicted.acceptance_rate = advice.answer.acceptance_rate;
    predicted.tokens_per_round = advice.answer.tokens_per_round;
  }
  set_prediction(policy, predicted);
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

Result<PolicyFile> asked_policy(const Answer& answer, const Machine& machine,
                                const traces::Recording& recording, const PolicyOrigin& origin) {
  DRAFTSCOPE_TRY_ASSIGN(const ModelShape recorded, recorded_shape(recording.meta));
  if (machine.scenario.shape.name != recorded.name || machine.scenario.shape.n_layers != recorded.n_layers)
    return fail("{}: the prediction is for {}, expected the recorded model {}, whose layers the policy names",
                answer.strategy, machine.scenario.shape.name, recorded.name);
  DRAFTSCOPE_TRY_ASSIGN(PolicyFile policy,
                        policy_for(answer.strategy, machine.name, answer, recording, origin));
  set_prediction(policy, {.score = answer.speedup.lower(),
                          .acceptance_rate = answer.acceptance_rate,
                          .tokens_per_round = answer.tokens_per_round});
  policy.settings.insert({{"search", "what-if"},
                          {"rounds_source", std::string(round_source_name(answer.source))},
                          {"status", std::string(answer_status_name(answer.status))},
                          {"interval_95", range(answer.speedup.interval_95())}});
  return policy;
}

}  // namespace draftscope::simulator
