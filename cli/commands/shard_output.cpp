// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands/shard_output.h"

#include <draftscope/base/put_in_place.h>
#include <draftscope/traces/reader.h>

#include <system_error>

namespace draftscope::cli {

namespace fs = std::filesystem;

ShardOutput shard_output(const fs::path& recording, const traces::Shard& shard, const fs::path& scratch) {
  ShardOutput output{.target = traces::shard_file(recording, shard), .partial = {}};
  output.partial = scratch.empty() ? output.target : scratch / output.target.filename();
  output.partial += ".partial";
  return output;
}

Result<bool> is_recorded(const ShardOutput& output, const traces::Shard& shard) {
  std::error_code error;
  if (!fs::exists(output.target, error)) return false;
  DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(output.target));
  DRAFTSCOPE_TRY_ASSIGN(const traces::Recording recording, reader.recording());
  const auto named = recording.meta.find("shard");
  const std::string found = named == recording.meta.end() ? "none" : named->second;
  if (found != traces::shard_text(shard))
    return fail("{}: is shard {}, expected {} (--overwrite replaces it)", output.target.string(), found,
                traces::shard_text(shard));
  if (!recording.closed_cleanly)
    return fail("{}: was not closed, expected a recording that has ended (--overwrite replaces it)",
                output.target.string());
  return true;
}

Result<void> put_shard_in_place(const ShardOutput& output, bool overwrite) {
  const Replacing replacing = overwrite ? Replacing::allowed : Replacing::refused;
  if (output.partial.parent_path() == output.target.parent_path()) {
    DRAFTSCOPE_TRY(sync_file(output.partial));
    return put_in_place(output.partial, output.target, replacing);
  }
  fs::path beside = output.target;
  beside += ".partial";
  std::error_code error;
  fs::copy_file(output.partial, beside, fs::copy_options::overwrite_existing, error);
  if (error)
    return fail("{}: can't be copied to {}: {}", output.partial.string(), beside.string(), error.message());
  DRAFTSCOPE_TRY(sync_file(beside));
  DRAFTSCOPE_TRY(put_in_place(beside, output.target, replacing));
  fs::remove(output.partial, error);  // what stays behind is a copy
  return {};
}

}  // namespace draftscope::cli
