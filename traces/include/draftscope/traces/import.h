// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Imports recordings of other programs as a trace. The content of a file becomes rows; data that it lacks
// stays absent and is named in `meta` (missing_data.h); nothing is invented. traces/import/FORMATS.md lists
// the fields that are read, format by format, with their sources.
//
// Inputs are untrusted. Each error is one line that names the file, its line, event or row, what was found
// and what was expected. Text formats are read as a stream. For a Chrome trace or an Nsight Systems export,
// memory holds about 72 bytes per host range and 12 per kernel launch, never the file.
//
// Thread-safety: independent calls may run at the same time on different targets.

#include <draftscope/base/result.h>
#include <draftscope/traces/exporters.h>
#include <draftscope/traces/missing_data.h>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::traces {

struct ImportFormat {
  std::string_view name;   ///< Name in the command and in `meta`: "spec-bench".
  std::string_view about;  ///< One line about such a file, for the command's help.
};
[[nodiscard]] std::vector<ImportFormat> import_formats();

struct ImportOptions {
  std::string format;              ///< Name of the format; empty = detected from each file's first bytes.
  std::filesystem::path baseline;  ///< A further file, whose runs are the baseline; empty = none.
  std::string model;               ///< The model's name, where the files do not state it.
  std::int32_t n_layers = 0;  ///< Layers of the target model, where the files do not state them; 0 = unknown.
  /// Specification of the run, in place of the file's name; only for a single file.
  std::string specification;
  /// Draft tokens of every round that drafts, where the files have only accepted lengths; 0 = unknown.
  std::int32_t draft_length = 0;
  bool overwrite = false;  ///< Whether to replace an existing target.
  /// Whether to import the existing part of a file that was cut off, where a request that never ended counts
  /// as cancelled, and to pass over single bad events and rows of timelines.
  bool partial = false;
};

struct ImportSummary {
  std::vector<std::string_view> formats;  ///< Format names of the files, the baseline's first.
  std::vector<MissingData> missing;  ///< Missing data of all files together, in the order of MissingData.
  std::int64_t runs = 0;
  std::int64_t requests = 0;
  std::int64_t rounds = 0;
  std::int64_t spans = 0;
  std::int64_t kernels = 0;
  std::vector<std::string> remarks;  ///< Sentences about what was passed over, named and counted.
};

/// Writes one trace of all the files, in their order, whole or not at all. Answers of several files become
/// runs of one recording; a Chrome trace or an Nsight Systems export has its own clock and must be the only
/// file. Progress is in bytes of input. `before_end` is called before the trace is in its place, for work
/// that may lack memory. Errors: a file that is unreadable, compressed or of no known format; no files; the
/// target exists; files that can't be combined; options that the format does not know; "import cancelled" if
/// `progress` requested it.
[[nodiscard]] Result<ImportSummary> import_recordings(
    const std::vector<std::filesystem::path>& files, const ImportOptions& options,
    const std::filesystem::path& target, const Progress& progress = {},
    const std::function<void(const ImportSummary&)>& before_end = {});

}  // namespace draftscope::traces
