// SPDX-License-Identifier: GPL-3.0-or-later
#include "advise_policy.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <fstream>

namespace draftscope::cli {

namespace {

std::string meta_value(const traces::Recording& recording, const std::string& key) {
  const auto found = recording.meta.find(key);
  return found == recording.meta.end() ? "" : found->second;
}

/// FNV-1a over the file's bytes: which recording this was, whatever it is called.
Result<std::string> hash_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::uint64_t hash = 14695981039346656037ULL;
  std::array<char, 1 << 16> buffer;
  while (file.read(buffer.data(), buffer.size()) || file.gcount() > 0)
    for (std::streamsize i = 0; i < file.gcount(); ++i)
      hash = (hash ^ static_cast<unsigned char>(buffer[static_cast<std::size_t>(i)])) * 1099511628211ULL;
  if (!file.eof()) return fail("{}: can't be read", path.string());
  return fmt::format("{:016x}", hash);
}

Result<engine::Facts> model_facts(const traces::Recording& recording) {
  DRAFTSCOPE_TRY_ASSIGN(const simulator::ModelShape recorded, simulator::recorded_shape(recording.meta));
  engine::ModelShape shape;
  shape.name = recorded.name;
  shape.n_layers = recorded.n_layers;
  shape.d_model = recorded.d_model;
  shape.n_heads = recorded.n_heads;
  shape.n_kv_heads = recorded.n_kv_heads;
  shape.head_dim = recorded.head_dim;
  shape.d_ff = recorded.d_ff;
  shape.vocab = recorded.vocab;
  return engine::model_facts(shape, meta_value(recording, "checkpoint_hash"));
}

engine::Facts machine_facts(const simulator::Advice& advice, const traces::Recording& recording) {
  engine::Facts facts{{"advised_for", advice.machine}};
  for (const char* key : {"device", "processor", "kernels", "threads", "hostname"})
    facts[key] = meta_value(recording, key);
  return facts;
}

engine::Facts prompt_facts(const simulator::Advice& advice, const traces::Recording& recording) {
  std::size_t tokens = 0;
  for (const traces::Prompt& prompt : recording.prompts) tokens += prompt.tokens.size();
  return {{"file", meta_value(recording, "prompts_file")},
          {"questions", std::to_string(advice.answer.speedup.least_drafted.total.clusters)},
          {"tokens", std::to_string(tokens)}};
}

std::string range(const std::optional<simulator::Interval>& interval) {
  return interval ? fmt::format("{:.4f} to {:.4f}", interval->low, interval->high) : "none";
}

std::string now_utc() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
}

/// Of what is set; vanilla decoding needs no prediction.
engine::Measurement figures_of(const simulator::Advice& advice) {
  if (advice.verdict != simulator::Verdict::speculate) return {.score = 1.0, .tokens_per_round = 1.0};
  return {.score = advice.speedup,
          .acceptance_rate = advice.answer.acceptance_rate,
          .tokens_per_round = advice.answer.mean_accepted_length};
}

}  // namespace

Result<engine::Policy> advised_policy(const simulator::Advice& advice, const traces::Recording& recording,
                                      const std::filesystem::path& trace, const std::string& command_line) {
  if (advice.verdict == simulator::Verdict::measure_first)
    return fail("no policy yet, measure first: {}", advice.reason);
  if (advice.strategy.starts_with("tuned"))
    return fail("{} is a policy file already, expected another strategy", advice.strategy);
  engine::Policy policy;
  policy.finished = true;
  policy.strategy = advice.strategy;
  policy.repeats = {figures_of(advice)};
  policy.finalists = {{advice.strategy, policy.repeats}};
  DRAFTSCOPE_TRY_ASSIGN(policy.model, model_facts(recording));
  policy.machine = machine_facts(advice, recording);
  policy.prompts = prompt_facts(advice, recording);
  DRAFTSCOPE_TRY_ASSIGN(const std::string hash, hash_of(trace));
  policy.settings = {{"search", "advise"},
                     {"objective", "predicted"},
                     {"verdict", std::string(verdict_name(advice.verdict))},
                     {"reason", advice.reason},
                     {"trace", trace.string()},
                     {"trace_hash", hash},
                     {"candidates", std::to_string(advice.considered)},
                     {"interval_95", range(advice.interval_95)},
                     {"held_out", fmt::format("{:.4f}", advice.held_out.speedup.value)},
                     {"held_out_interval_95", range(advice.held_out.speedup.interval_95)},
                     {"folds", std::to_string(advice.held_out.folds)}};
  policy.tool_version = DRAFTSCOPE_VERSION;
  policy.date = now_utc();
  policy.command_line = command_line;
  return policy;
}

}  // namespace draftscope::cli
