// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands/tune_state.h"

#include <draftscope/base/quote.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace draftscope::cli {

namespace {

/// Fails on the first fact of the file that the command contradicts. `may_differ` names one key that may
/// differ; empty = none.
Result<void> check_same(const std::string& file, const char* part, const engine::Facts& found,
                        const engine::Facts& expected, std::string_view may_differ = "") {
  for (const auto& [key, value] : expected) {
    if (key == may_differ) continue;
    const auto place = found.find(key);
    const std::string there = place == found.end() ? "absent" : quote(place->second);
    if (place == found.end() || place->second != value)
      return fail("{}: {}.{} is {}, expected {} as this command has it (a search goes on as it began)", file,
                  part, key, there, quote(value));
  }
  return {};
}

/// Fails if the file does not belong to this command's search.
Result<void> check_same_search(const TuneOptions& options, const std::string& file,
                               const engine::Policy& found, const engine::Policy& fresh) {
  DRAFTSCOPE_TRY(check_same(file, "model", found.model, fresh.model));
  DRAFTSCOPE_TRY(check_same(file, "prompts", found.prompts, fresh.prompts, "file"));
  DRAFTSCOPE_TRY(check_same(file, "settings", found.settings, fresh.settings, "trials"));
  // A predicted score depends on no machine: the search may continue elsewhere, and with other threads.
  if (options.objective != "speedup") return {};
  return check_same(file, "machine", found.machine, fresh.machine, "hostname");
}

}  // namespace

Result<engine::Policy> resumed_policy(const TuneOptions& options, const std::filesystem::path& file,
                                      engine::Policy fresh) {
  DRAFTSCOPE_TRY_ASSIGN(engine::Policy policy, engine::read_policy(file));
  // Older files do not state how they were scored.
  policy.settings.try_emplace("scored_by", engine::scored_by_name(engine::ScoredBy::decoded));
  if (options.skip_set()) policy.settings.try_emplace("ranked_sublayers", "0");
  DRAFTSCOPE_TRY(check_same_search(options, file.string(), policy, fresh));
  policy.settings = std::move(fresh.settings);
  return policy;
}

Result<std::vector<engine::Trial>> trials_of_shards(const TuneOptions& options, const engine::Policy& fresh) {
  std::vector<traces::ShardFile> files;
  std::vector<engine::Trial> trials;
  for (const std::filesystem::path& path : options.from_shards) {
    const std::string file = path.string();
    DRAFTSCOPE_TRY_ASSIGN(engine::Policy policy, engine::read_policy(path));
    const auto named = policy.settings.find(engine::policy_shard);
    if (named == policy.settings.end())
      return fail("{}: is no shard's policy, expected one of draftscope tune --shard", file);
    auto shard = traces::parse_shard(named->second);
    if (!shard) return fail("{}: settings.{}", file, shard.error().message);
    files.push_back({path, *shard});
    DRAFTSCOPE_TRY(check_same_search(options, file, policy, fresh));
    if (policy.tool_version != fresh.tool_version)
      return fail("{}: tool_version is {}, expected {} as this command has it", file,
                  quote(policy.tool_version), quote(fresh.tool_version));
    std::move(policy.trials.begin(), policy.trials.end(), std::back_inserter(trials));
  }
  DRAFTSCOPE_TRY(traces::missing_shards(std::move(files), options.is_partial));
  return trials;
}

Result<std::optional<std::string>> shard_of_policy(const std::filesystem::path& file) {
  DRAFTSCOPE_TRY_ASSIGN(const engine::Policy policy, engine::read_policy(file));
  const auto named = policy.settings.find(engine::policy_shard);
  if (named == policy.settings.end()) return std::nullopt;
  return named->second;
}

}  // namespace draftscope::cli
