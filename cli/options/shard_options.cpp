// SPDX-License-Identifier: GPL-3.0-or-later
#include "options/shard_options.h"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

namespace draftscope::cli {

CLI::Option* add_shard_options(CLI::App& command, ShardOptions& options, const std::string& part) {
  CLI::Option* shard = command.add_option(
      "--shard", options.text,
      fmt::format(
          "I/N: only {}, from the I-th on, into OUTPUT.I-of-N; task: as Slurm's or MPI's variables say",
          part));
  command.add_option("--scratch", options.scratch,
                     "With --shard: a folder to write in, from where the whole file is moved");
  return shard;
}

Result<void> read_shard(ShardOptions& options) {
  if (options.text.empty()) {
    if (!options.scratch.empty()) return fail("--scratch: found no --shard, expected it too");
    return {};
  }
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

}  // namespace draftscope::cli
