// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/number.h>
#include <draftscope/base/quote.h>
#include <draftscope/traces/shard.h>

#include <algorithm>

namespace draftscope::traces {
namespace {

/// The rank of a task among others, counted from 0.
struct Rank {
  std::int32_t index = 0;
  std::int32_t count = 1;
};

Result<std::int32_t> number_of(const Environment& environment, const char* variable, std::int32_t min,
                               std::int32_t max) {
  const std::optional<std::string> text = environment(variable);
  if (!text) return fail("{}: is not set, expected {} to {}", variable, min, max);
  const auto number = parse_number<std::int32_t>(*text);
  if (!number || *number < min || *number > max)
    return fail("{}: found {}, expected {} to {}", variable, quote(*text), min, max);
  return *number;
}

Result<Rank> rank_by(const Environment& environment, const char* index, const char* count) {
  DRAFTSCOPE_TRY_ASSIGN(const std::int32_t all, number_of(environment, count, 1, max_shards));
  DRAFTSCOPE_TRY_ASSIGN(const std::int32_t own, number_of(environment, index, 0, all - 1));
  return Rank{own, all};
}

/// The rank among processes that a launcher started; a single process without a launcher has rank 0 of 1.
Result<Rank> rank_in_step(const Environment& environment) {
  if (environment("OMPI_COMM_WORLD_RANK"))
    return rank_by(environment, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE");
  if (environment("PMI_RANK")) return rank_by(environment, "PMI_RANK", "PMI_SIZE");
  // A batch script is no step, however many tasks were requested.
  if (environment("SLURM_STEP_NUM_TASKS"))
    return rank_by(environment, "SLURM_PROCID", "SLURM_STEP_NUM_TASKS");
  return Rank{};
}

Result<Rank> rank_in_array(const Environment& environment) {
  if (!environment("SLURM_ARRAY_TASK_ID")) return Rank{};
  constexpr std::int32_t max_id = 1 << 30;
  DRAFTSCOPE_TRY_ASSIGN(const std::int32_t id, number_of(environment, "SLURM_ARRAY_TASK_ID", 0, max_id));
  DRAFTSCOPE_TRY_ASSIGN(const std::int32_t min, number_of(environment, "SLURM_ARRAY_TASK_MIN", 0, id));
  DRAFTSCOPE_TRY_ASSIGN(const std::int32_t count,
                        number_of(environment, "SLURM_ARRAY_TASK_COUNT", 1, max_shards));
  std::int32_t step = 1;
  if (environment("SLURM_ARRAY_TASK_STEP")) {
    DRAFTSCOPE_TRY_ASSIGN(step, number_of(environment, "SLURM_ARRAY_TASK_STEP", 1, max_id));
  }
  if ((id - min) % step != 0 || (id - min) / step >= count)
    return fail(
        "SLURM_ARRAY_TASK_ID: found {}, expected one of the {} from {} in steps of {} (--shard I/N says it)",
        id, count, min, step);
  return Rank{(id - min) / step, count};
}

}  // namespace

std::string shard_text(const Shard& shard) {
  return fmt::format("{}/{}", shard.index, shard.count);
}

std::string shards_text(const std::vector<Shard>& shards) {
  constexpr std::size_t max_named = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(shards.size(), max_named); ++i)
    text += (i == 0 ? "" : ", ") + shard_text(shards[i]);
  if (shards.size() > max_named) text += fmt::format(" and {} others", shards.size() - max_named);
  return text;
}

Result<Shard> parse_shard(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    const auto index = parse_number<std::int32_t>(text.substr(0, slash));
    const auto count = parse_number<std::int32_t>(text.substr(slash + 1));
    if (index && count && *index >= 1 && *index <= *count && *count <= max_shards)
      return Shard{*index, *count};
  }
  return fail("shard: found {}, expected I/N with 1 <= I <= N <= {}", quote(text), max_shards);
}

std::filesystem::path shard_file(const std::filesystem::path& recording, const Shard& shard) {
  std::filesystem::path file = recording;
  file.replace_filename(fmt::format("{}.{}-of-{}{}", recording.stem().string(), shard.index, shard.count,
                                    recording.extension().string()));
  return file;
}

Result<std::vector<Shard>> missing_shards(std::vector<ShardFile> files, bool is_partial) {
  if (files.empty()) return fail("found no shard, expected each of an experiment");
  const ShardFile first = files.front();
  const std::int32_t count = first.shard.count;
  for (const ShardFile& file : files)
    if (file.shard.count != count)
      return fail("{}: is shard {}, expected one of {} as {}", file.path.string(), shard_text(file.shard),
                  count, first.path.filename().string());
  std::ranges::stable_sort(files, {}, [](const ShardFile& file) { return file.shard.index; });
  std::vector<Shard> missing;
  std::int32_t next = 1;
  for (const ShardFile& file : files) {
    if (file.shard.index < next)
      return fail("{}: is shard {}, expected each shard once", file.path.string(), shard_text(file.shard));
    for (; next < file.shard.index; ++next) missing.push_back({next, count});
    ++next;
  }
  for (; next <= count; ++next) missing.push_back({next, count});
  if (missing.empty() || is_partial) return missing;
  return fail("found {} of {} shards, expected {} too (--partial does without)", files.size(), count,
              shards_text(missing));
}

Result<Shard> shard_of_task(const Environment& environment) {
  if (!environment("OMPI_COMM_WORLD_RANK") && !environment("PMI_RANK") &&
      !environment("SLURM_STEP_NUM_TASKS") && !environment("SLURM_ARRAY_TASK_ID"))
    return fail("shard: found no task of Slurm or MPI in the environment, expected I/N");
  DRAFTSCOPE_TRY_ASSIGN(const Rank array, rank_in_array(environment));
  DRAFTSCOPE_TRY_ASSIGN(const Rank step, rank_in_step(environment));
  if (static_cast<std::int64_t>(array.count) * step.count > max_shards)
    return fail("shard: found {} tasks in each of {} array tasks, expected at most {} in all", step.count,
                array.count, max_shards);
  return Shard{array.index * step.count + step.index + 1, array.count * step.count};
}

}  // namespace draftscope::traces
