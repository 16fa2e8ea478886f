// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/number.h>
#include <draftscope/traces/merge.h>
#include <draftscope/traces/reader.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <system_error>
#include <utility>

#include "storage/schema.h"
#include "writing/merged_identity.h"
#include "writing/paced_trace.h"
#include "writing/shard_copy.h"

namespace draftscope::traces {
namespace {

namespace fs = std::filesystem;

Result<ShardRecording> open_shard(const fs::path& path, const std::atomic<bool>& stopped) {
  DRAFTSCOPE_TRY_ASSIGN(Reader reader, Reader::open(path, stopped));
  ShardRecording shard{.path = path};
  DRAFTSCOPE_TRY_ASSIGN(shard.outline, reader.outline());
  const auto named = shard.outline.meta.find("shard");
  if (named == shard.outline.meta.end())
    return fail("{}: is no shard's recording, expected one of draftscope record --shard", path.string());
  auto parsed = parse_shard(named->second);
  if (!parsed) return fail("{}: meta.{}", path.string(), parsed.error().message);
  shard.shard = *parsed;
  return shard;
}

/// Begin and end of a shard's recording, on its own clock.
struct Stretch {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

Stretch stretch_of(const Recording& outline) {
  const auto clock = [&](const char* key, std::int64_t absent) {
    const auto found = outline.meta.find(key);
    if (found == outline.meta.end()) return absent;
    const std::int64_t ns = parse_number<std::int64_t>(found->second).value_or(absent);
    return ns >= 0 && ns <= max_ns ? ns : absent;
  };
  Stretch stretch{clock("clock_start_monotonic_ns", 0), clock("clock_end_monotonic_ns", 0)};
  for (const Request& request : outline.requests) {
    stretch.start_ns = std::min(stretch.start_ns, request.start_ns);
    stretch.end_ns = std::max(stretch.end_ns, request.end_ns);
  }
  return stretch;
}

/// Places the shards one after another and returns the end of the last one. Error: it ends later than a row
/// may.
Result<std::int64_t> lay_out(std::vector<ShardRecording>& shards) {
  std::int64_t end_ns = stretch_of(shards.front().outline).start_ns;
  for (ShardRecording& shard : shards) {
    const Stretch stretch = stretch_of(shard.outline);
    if (stretch.end_ns - stretch.start_ns > max_ns - end_ns)
      return fail("{}: takes {} ns, expected at most {} with the shards before it", shard.path.string(),
                  stretch.end_ns - stretch.start_ns, max_ns);
    shard.shift_ns = end_ns - stretch.start_ns;
    end_ns = stretch.end_ns + shard.shift_ns;
  }
  return end_ns;
}

/// Refuses a shard that breaks a rule of the schema, before a number of its rows is believed.
Result<void> expect_rules(const fs::path& path, const std::atomic<bool>& stopped) {
  DRAFTSCOPE_TRY_ASSIGN(Reader reader, Reader::open(path, stopped));
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<Violation> violations, reader.validate(1));
  if (violations.empty()) return {};
  const Violation& first = violations.front();
  return fail("{}: {} row {}: {}, expected a shard that keeps every rule (inspect --validate lists them)",
              path.string(), first.table, first.row, first.rule);
}

Result<void> expect_other_files(const std::vector<fs::path>& files, const fs::path& target) {
  if (files.empty()) return fail("found no file, expected shards to merge");
  std::error_code error;
  for (const fs::path& file : files)
    if (fs::equivalent(file, target, error))
      return fail("{}: is the same file as one that is merged, expected another", target.string());
  return {};
}

}  // namespace

Result<MergeSummary> merge_shards(const std::vector<fs::path>& files, const MergeOptions& options,
                                  const fs::path& target, const Progress& progress,
                                  const std::function<void(const MergeSummary&)>& before_end) {
  DRAFTSCOPE_TRY(expect_other_files(files, target));
  const std::atomic<bool> stopped = false;
  std::vector<ShardRecording> shards;
  std::int64_t all_bytes = 0;
  for (const fs::path& file : files) {
    DRAFTSCOPE_TRY_ASSIGN(ShardRecording shard, open_shard(file, stopped));
    shards.push_back(std::move(shard));
  }
  std::ranges::stable_sort(shards, {}, [](const ShardRecording& shard) { return shard.shard.index; });
  MergeSummary summary{.shards = static_cast<std::int32_t>(shards.size())};
  DRAFTSCOPE_TRY_ASSIGN(summary.missing, check_one_experiment(shards, options));
  std::vector<std::int64_t> bytes;
  for (const ShardRecording& shard : shards) {
    std::error_code error;
    const auto size = fs::file_size(shard.path, error);
    bytes.push_back(error ? 0 : static_cast<std::int64_t>(size));
    all_bytes += bytes.back();
  }

  for (const ShardRecording& shard : shards) {
    if (progress && !progress(0, all_bytes)) return fail("merge cancelled");
    DRAFTSCOPE_TRY(expect_rules(shard.path, stopped));
  }
  DRAFTSCOPE_TRY_ASSIGN(const std::int64_t end_ns, lay_out(shards));
  DRAFTSCOPE_TRY_ASSIGN(PacedTrace whole, PacedTrace::create(target, options.overwrite));
  for (auto& [key, text] : merged_meta(shards, end_ns)) whole.writer().set_meta(key, text);
  std::vector<RunId> runs;
  for (const Run& run : shards.front().outline.runs) runs.push_back(whole.writer().add(run));
  std::int64_t done_bytes = 0;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const std::function<bool(double)> done = [&](double share) {
      return !progress ||
             progress(done_bytes + static_cast<std::int64_t>(share * static_cast<double>(bytes[i])),
                      all_bytes);
    };
    DRAFTSCOPE_TRY_ASSIGN(Reader reader, Reader::open(shards[i].path, stopped));
    DRAFTSCOPE_TRY(ShardCopy(shards[i], std::move(reader), runs, whole, summary, done).run());
    done_bytes += bytes[i];
    if (progress && !progress(done_bytes, all_bytes)) return fail("merge cancelled");
  }
  if (before_end) before_end(summary);
  DRAFTSCOPE_TRY(whole.commit());
  return summary;
}

}  // namespace draftscope::traces
