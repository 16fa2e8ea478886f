// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A shard of the sweep of `draftscope simulate`: the document of its answers, which also says which of the
// sweep's questions they are to, and how the sweep was asked. Merged, the shards of a sweep are the document
// of one process.

#include <draftscope/base/result.h>
#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "commands/shards/shard_output.h"

namespace draftscope::cli {

/// Places among a sweep's questions: of every strategy, in turn, on every machine.
struct AskedQuestions {
  std::int64_t all = 0;                ///< questions of the whole sweep
  std::vector<std::int64_t> answered;  ///< of each answer of the document
  std::vector<std::int64_t> refused;   ///< of each refusal; that of a strategy on all machines is its first
};

/// Everything on the command line that decides the answers: options and their values, and the digests of the
/// files they name. Errors: a file can't be read.
[[nodiscard]] Result<nlohmann::ordered_json> sweep_asked(const CLI::App& command,
                                                         std::span<const std::filesystem::path> files);

/// Adds to the document of a shard's answers what it is a shard of.
void add_sweep_shard(nlohmann::ordered_json& document, const traces::Shard& shard,
                     const AskedQuestions& questions, nlohmann::ordered_json asked);

/// The shard that a document of answers says it is; none = it is of a whole sweep. Errors: it is no JSON.
[[nodiscard]] Result<std::optional<std::string>> shard_of_sweep(const std::filesystem::path& file);

/// Whether the file begins as JSON does; false also where it can't be read.
[[nodiscard]] bool is_json_file(const std::filesystem::path& file);

struct SweepSummary {
  std::size_t answers = 0;
  std::size_t refusals = 0;
  std::vector<traces::Shard> missing;
};

/// Writes the sweep's document, whole or not at all, whatever the order of `files`. Errors name the file: no
/// shard's answers; of another sweep, recording or build; of a shard twice; shards missing, unless
/// `is_partial`; no question has an answer.
[[nodiscard]] Result<SweepSummary> merge_sweep(std::span<const std::filesystem::path> files, bool is_partial,
                                               const std::filesystem::path& target);

}  // namespace draftscope::cli
