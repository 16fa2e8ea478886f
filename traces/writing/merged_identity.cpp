// SPDX-License-Identifier: GPL-3.0-or-later
#include "writing/merged_identity.h"

#include <draftscope/base/number.h>
#include <draftscope/base/quote.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace draftscope::traces {
namespace {

// Keys of `meta` that belong to a single shard; all shards must agree on the others.
constexpr std::array own_keys{"cache_rows",     "closed_cleanly", "command_line", "hostname",
                              "kernel_release", "kv_bytes",       "model_path",   "overview_column_ns",
                              "prompts_file",   "rank",           "run_memory",   "shard",
                              "workspace_bytes"};
constexpr std::array<std::string_view, 3> own_beginnings{"clock_", "device_", "dropped_"};
constexpr std::array<std::string_view, 3> machine_keys{"kernels", "processor", "threads"};
constexpr std::array<std::string_view, 12> counted_keys{
    "device_rows",         "device_dropped",     "device_rejected",     "device_other_records",
    "device_unattributed", "device_before_span", "device_failed_calls", "device_overhead_ns",
    "dropped_spans",       "dropped_kernels",    "dropped_counters",    "device_clock_drift_ns"};
// Keys of a shard's meta that its entry in merged_shards repeats.
constexpr std::array<std::string_view, 9> kept_keys{"hostname",
                                                    "processor",
                                                    "kernel_release",
                                                    "command_line",
                                                    "prompts_file",
                                                    "clock_start_monotonic_ns",
                                                    "clock_start_realtime_ns",
                                                    "clock_end_monotonic_ns",
                                                    "clock_end_realtime_ns"};

bool is_own(std::string_view key) {
  return std::find(own_keys.begin(), own_keys.end(), key) != own_keys.end() ||
         std::any_of(own_beginnings.begin(), own_beginnings.end(),
                     [&](std::string_view beginning) { return key.starts_with(beginning); });
}

bool is_machines(std::string_view key) {
  return std::find(machine_keys.begin(), machine_keys.end(), key) != machine_keys.end();
}

/// A value of `meta`; empty if it is absent.
std::string value_of(const Meta& meta, std::string_view key) {
  const auto found = meta.find(std::string(key));
  return found == meta.end() ? std::string() : found->second;
}

std::int64_t count_of(const Meta& meta, std::string_view key) {
  return parse_number<std::int64_t>(value_of(meta, key)).value_or(0);
}

/// Shortens a value to the room of a line.
std::string shown(const std::string& value) {
  constexpr std::size_t most = 60;
  return quote(value.size() <= most ? value : value.substr(0, most) + "…");
}

Result<void> expect_same_settings(const ShardRecording& first, const ShardRecording& other,
                                  const MergeOptions& options) {
  std::set<std::string> keys;
  for (const Meta* meta : {&first.outline.meta, &other.outline.meta})
    for (const auto& [key, value] : *meta) keys.insert(key);
  for (const std::string& key : keys) {
    if (is_own(key) || (options.has_mixed_machines && is_machines(key))) continue;
    const std::string expected = value_of(first.outline.meta, key);
    const std::string found = value_of(other.outline.meta, key);
    if (found != expected)
      return fail("{}: meta.{} is {}, expected {} as in {}{}", other.path.string(), key, shown(found),
                  shown(expected), first.path.filename().string(),
                  is_machines(key) ? " (--mixed-machines takes both)" : "");
  }
  return {};
}

Result<void> expect_same_runs(const ShardRecording& first, const ShardRecording& other) {
  const auto described = [](const Run& run) {
    return std::tie(run.strategy, run.specification, run.parameters, run.is_baseline);
  };
  const std::vector<Run>& expected = first.outline.runs;
  const std::vector<Run>& found = other.outline.runs;
  for (std::size_t i = 0; i < std::max(expected.size(), found.size()); ++i) {
    if (i < expected.size() && i < found.size() && described(expected[i]) == described(found[i])) continue;
    const auto name = [&](const std::vector<Run>& runs) {
      return i < runs.size() ? quote(runs[i].specification) : std::string("none");
    };
    return fail("{}: run {} is {}, expected {} as in {}", other.path.string(), i + 1, name(found),
                name(expected), first.path.filename().string());
  }
  return {};
}

Result<void> expect_other_prompts(std::span<const ShardRecording> shards) {
  std::map<std::int64_t, const ShardRecording*> of_question;
  for (const ShardRecording& shard : shards)
    for (const Prompt& prompt : shard.outline.prompts) {
      const auto [known, is_new] = of_question.emplace(prompt.question_id, &shard);
      if (!is_new && known->second != &shard)
        return fail("{}: has question {}, expected none that is in {} too", shard.path.string(),
                    prompt.question_id, known->second->path.filename().string());
    }
  return {};
}

std::string joined(std::span<const ShardRecording> shards, std::string_view key) {
  std::vector<std::string> values;
  for (const ShardRecording& shard : shards) {
    std::string value = value_of(shard.outline.meta, key);
    if (!value.empty() && std::find(values.begin(), values.end(), value) == values.end())
      values.push_back(std::move(value));
  }
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ", ") + value;
  return text;
}

/// Memory of each run: the maximum over the shards.
std::string merged_memory(std::span<const ShardRecording> shards) {
  nlohmann::ordered_json merged = nlohmann::ordered_json::object();
  for (const ShardRecording& shard : shards) {
    const auto memory =
        nlohmann::ordered_json::parse(value_of(shard.outline.meta, "run_memory"), nullptr, false);
    if (!memory.is_object()) continue;
    for (std::size_t run = 0; run < shard.outline.runs.size(); ++run) {
      const auto of_run = memory.find(fmt::format("{}", shard.outline.runs[run].id));
      if (of_run == memory.end() || !of_run->is_object()) continue;
      auto& into = merged[std::to_string(run + 1)];
      if (into.is_null()) into = nlohmann::ordered_json::object();
      for (const auto& [key, value] : of_run->items())
        if (value.is_number_integer() && (!into.contains(key) || into[key] < value)) into[key] = value;
    }
  }
  return merged.empty() ? std::string() : merged.dump();
}

std::string listed(std::span<const ShardRecording> shards) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ShardRecording& shard : shards) {
    nlohmann::ordered_json entry{{"shard", shard_text(shard.shard)},
                                 {"file", shard.path.filename().string()}};
    for (const std::string_view key : kept_keys)
      if (const std::string value = value_of(shard.outline.meta, key); !value.empty())
        entry[std::string(key)] = value;
    entry["shift_ns"] = shard.shift_ns;
    list.push_back(std::move(entry));
  }
  return list.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

Result<std::vector<Shard>> check_one_experiment(std::span<const ShardRecording> shards,
                                                const MergeOptions& options) {
  std::vector<ShardFile> files;
  for (const ShardRecording& shard : shards) files.push_back({shard.path, shard.shard});
  DRAFTSCOPE_TRY_ASSIGN(std::vector<Shard> missing, missing_shards(std::move(files), options.is_partial));
  const ShardRecording& first = shards.front();
  for (const ShardRecording& shard : shards) {
    if (!shard.outline.closed_cleanly)
      return fail("{}: was not closed, expected a recording that has ended", shard.path.string());
    DRAFTSCOPE_TRY(expect_same_settings(first, shard, options));
    DRAFTSCOPE_TRY(expect_same_runs(first, shard));
  }
  DRAFTSCOPE_TRY(expect_other_prompts(shards));
  return missing;
}

Meta merged_meta(std::span<const ShardRecording> shards, std::int64_t end_ns) {
  Meta meta = shards.front().outline.meta;
  for (const std::string_view key : {"shard", "rank", "overview_column_ns"}) meta.erase(std::string(key));
  for (const std::string_view key :
       {"hostname", "kernel_release", "kernels", "processor", "threads", "prompts_file"})
    if (std::string text = joined(shards, key); !text.empty()) meta[std::string(key)] = std::move(text);
  for (const std::string_view key : counted_keys) {
    if (!meta.contains(std::string(key))) continue;
    std::int64_t sum = 0;
    for (const ShardRecording& shard : shards) sum += count_of(shard.outline.meta, key);
    meta[std::string(key)] = std::to_string(sum);
  }
  if (std::string memory = merged_memory(shards); !memory.empty()) meta["run_memory"] = std::move(memory);
  const std::int64_t start_ns = count_of(meta, "clock_start_monotonic_ns");
  meta["clock_end_monotonic_ns"] = std::to_string(end_ns);
  meta["clock_end_realtime_ns"] =
      std::to_string(count_of(meta, "clock_start_realtime_ns") + end_ns - start_ns);
  meta["merged_shards"] = listed(shards);
  return meta;
}

std::string missing_shards_note(const Meta& meta) {
  const auto list = nlohmann::json::parse(value_of(meta, "merged_shards"), nullptr, false);
  if (!list.is_array()) return "";
  std::vector<ShardFile> files;
  for (const nlohmann::json& entry : list) {
    if (!entry.is_object() || !entry.contains("shard") || !entry["shard"].is_string()) return "";
    const auto shard = parse_shard(entry["shard"].get<std::string>());
    if (!shard) return "";
    files.push_back({{}, *shard});
  }
  const std::size_t found = files.size();
  const auto missing = missing_shards(std::move(files), true);
  if (!missing || missing->empty()) return "";
  return fmt::format("merged from {} of {} shards, without the prompts of {}", found, missing->front().count,
                     shards_text(*missing));
}

}  // namespace draftscope::traces
