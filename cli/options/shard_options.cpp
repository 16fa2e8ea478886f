// SPDX-License-Identifier: GPL-3.0-or-later
#include "options/shard_options.h"

#include <draftscope/base/atomic_file.h>
#include <fmt/format.h>

#include <cstdlib>
#include <system_error>
#include <utility>

#include "terminal/messages.h"

namespace draftscope::cli {

CLI::Option* add_shard_options(CLI::App& command, ShardOptions& options, const std::string& part) {
  CLI::Option* shard = command.add_option(
      "--shard", options.text,
      fmt::format(
          "I/N: only {}, from the I-th on, into OUTPUT.I-of-N; task: as Slurm's or MPI's variables say",
          part));
  command
      .add_option("--scratch", options.scratch,
                  "With --shard: a folder to write in, from where the whole file is moved")
      ->needs(shard);
  return shard;
}

Result<void> read_shard(ShardOptions& options) {
  if (options.text.empty()) return {};
  auto shard = options.text != "task"
                   ? traces::parse_shard(options.text)
                   : traces::shard_of_task([](const char* variable) -> std::optional<std::string> {
                       const char* const value = std::getenv(variable);
                       if (value == nullptr) return std::nullopt;
                       return value;
                     });
  if (!shard) return tl::unexpected(std::move(shard).error());
  options.shard = *shard;
  return {};
}

namespace fs = std::filesystem;

ShardOutput shard_output(const fs::path& whole, const ShardOptions& options) {
  ShardOutput output{
      .shard = *options.shard, .target = traces::shard_file(whole, *options.shard), .partial = {}};
  output.partial = options.scratch.empty() ? output.target : options.scratch / output.target.filename();
  output.partial += ".partial";
  return output;
}

Result<bool> is_there(const ShardOutput& output, const ShardOf& shard_of, bool quiet) {
  std::error_code error;
  if (!fs::exists(output.target, error)) return false;
  DRAFTSCOPE_TRY_ASSIGN(const std::optional<std::string> found, shard_of(output.target));
  if (found != traces::shard_text(output.shard))
    return fail("{}: is shard {}, expected {} (--overwrite replaces it)", output.target.string(),
                found.value_or("none"), traces::shard_text(output.shard));
  if (!quiet) print_note(fmt::format("{} is there already", output.target.string()));
  return true;
}

namespace {

Result<void> move_into_place(const ShardOutput& output, Replacing replacing) {
  fs::path beside = output.target;
  beside += ".partial";
  std::error_code error;
  // The scratch folder may be the output's own, by whatever name.
  if (fs::equivalent(output.partial, beside, error)) {
    DRAFTSCOPE_TRY(sync_file(output.partial));
    return put_in_place(output.partial, output.target, replacing);
  }
  fs::copy_file(output.partial, beside, fs::copy_options::overwrite_existing, error);
  if (error)
    return fail("{}: can't be copied to {}: {}", output.partial.string(), beside.string(), error.message());
  DRAFTSCOPE_TRY(sync_file(beside));
  DRAFTSCOPE_TRY(put_in_place(beside, output.target, replacing));
  fs::remove(output.partial, error);  // If this fails, a copy remains.
  return {};
}

}  // namespace

Result<void> put_shard_in_place(const ShardOutput& output, bool overwrite, bool quiet) {
  DRAFTSCOPE_TRY(move_into_place(output, overwrite ? Replacing::allowed : Replacing::refused));
  if (!quiet)
    print_note(fmt::format("shard {} is {}", traces::shard_text(output.shard), output.target.string()));
  return {};
}

}  // namespace draftscope::cli
