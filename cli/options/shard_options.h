// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Options for the part of the work that a command does, where it writes the result, and where the complete
// result goes. A killed task leaves no file with its shard's name, and a task that is submitted again finds
// what is done.

#include <draftscope/base/result.h>
#include <draftscope/traces/shard.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace draftscope::cli {

struct ShardOptions {
  std::string text;                    ///< Text as on the command line; empty = no shard.
  std::optional<traces::Shard> shard;  ///< Set by read_shard().
  std::filesystem::path scratch;  ///< Folder of the result until it is complete; empty = the final folder.
};

/// `part` describes a shard, such as "each N-th prompt".
CLI::Option* add_shard_options(CLI::App& command, ShardOptions& options, const std::string& part);

/// Errors: neither I/N nor a task of a launcher.
[[nodiscard]] Result<void> read_shard(ShardOptions& options);

struct ShardOutput {
  traces::Shard shard;
  std::filesystem::path target;   ///< Final path: "run.2-of-4.dstrace".
  std::filesystem::path partial;  ///< Path until the work has ended; the same name with ".partial".
};

/// `whole` is the file name of the whole experiment. The options must name a shard.
[[nodiscard]] ShardOutput shard_output(const std::filesystem::path& whole, const ShardOptions& options);

/// Gives the shard that a file names, as text; none = the file has no shard. Errors: the file can't be read,
/// or is not complete.
using ShardOf = std::function<Result<std::optional<std::string>>(const std::filesystem::path& file)>;

/// Whether the target of this shard exists; if so, says it on the terminal unless `quiet`. Errors: the file
/// belongs to another shard; those of `shard_of`.
[[nodiscard]] Result<bool> is_there(const ShardOutput& output, const ShardOf& shard_of, bool quiet);

/// Moves the partial file to the target, from another file system too, and says so on the terminal unless
/// `quiet`. Errors: those of the disk; the target now exists and `overwrite` is false.
[[nodiscard]] Result<void> put_shard_in_place(const ShardOutput& output, bool overwrite, bool quiet);

}  // namespace draftscope::cli
