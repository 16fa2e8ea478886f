// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Which part of the work a command does, and where it writes its result until that is whole.

#include <draftscope/base/result.h>
#include <draftscope/traces/shard.h>
#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>

namespace draftscope::cli {

struct ShardOptions {
  std::string text;                    ///< as the command line has it; empty = no shard
  std::optional<traces::Shard> shard;  ///< of read_shard()
  std::filesystem::path scratch;  ///< folder of the result until it is whole; empty = that of its own name
};

/// `part`: what a shard is, such as "each N-th prompt".
CLI::Option* add_shard_options(CLI::App& command, ShardOptions& options, const std::string& part);

/// Errors: no I/N, and no task of a launcher; a scratch folder without a shard.
[[nodiscard]] Result<void> read_shard(ShardOptions& options);

}  // namespace draftscope::cli
