// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Which part of the work a command does, where it writes its result, and where that goes once it is whole: a
// task that was killed leaves no file of its shard's name, and one that is submitted again finds what is
// done.

#include <draftscope/base/result.h>
#include <draftscope/traces/shard.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <functional>
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

struct ShardOutput {
  traces::Shard shard;
  std::filesystem::path target;   ///< "run.2-of-4.dstrace"
  std::filesystem::path partial;  ///< written until the work has ended; the same name with ".partial"
};

/// `whole`: the name of the whole experiment's file. The options have a shard.
[[nodiscard]] ShardOutput shard_output(const std::filesystem::path& whole, const ShardOptions& options);

/// The shard that a file says it is, as text; none = of no shard. Fails where the file can't be read, or is
/// not whole.
using ShardOf = std::function<Result<std::optional<std::string>>(const std::filesystem::path& file)>;

/// Whether the target is there, as this shard's; says so on the terminal unless `quiet`. Errors: it is
/// another's; those of `shard_of`.
[[nodiscard]] Result<bool> is_there(const ShardOutput& output, const ShardOf& shard_of, bool quiet);

/// Puts the partial file in the target's place, from another file system too; says so on the terminal unless
/// `quiet`. Errors: the disk's; without `overwrite` the target has come to be.
[[nodiscard]] Result<void> put_shard_in_place(const ShardOutput& output, bool overwrite, bool quiet);

}  // namespace draftscope::cli
