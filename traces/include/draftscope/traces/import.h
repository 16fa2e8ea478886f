// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Others' recordings as a trace. What a file holds becomes rows, what it lacks stays absent and is named in
// `meta` (missing_data.h); nothing is invented. The fields that are read, format by format, with their
// sources: traces/import/FORMATS.md.
//
// Inputs are untrusted. Each error is one line that names the file, its line, event or row, what was found
// and what was expected. Text formats are read as a stream; of a Chrome trace or an Nsight Systems export
// what stays in memory is about 72 bytes a host range and 12 a kernel launch, never the file.
//
// Thread-safety: independent calls may run at the same time on different targets.

#include <draftscope/base/result.h>
#include <draftscope/traces/exporters.h>
#include <draftscope/traces/missing_data.h>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::traces {

struct ImportFormat {
  std::string_view name;   ///< in the command and in `meta`: "spec-bench"
  std::string_view about;  ///< one line about such a file, for the command's help
};
[[nodiscard]] std::vector<ImportFormat> import_formats();

struct ImportOptions {
  std::string format;              ///< a name; empty: told from the file's first bytes, each for itself
  std::filesystem::path baseline;  ///< a further file, whose runs are the baseline; empty = none
  std::string model;               ///< the model's name, where the files do not say it
  std::int32_t n_layers = 0;       ///< of the target model, where the files do not say it; 0 = unknown
  std::string specification;       ///< of the run, instead of the file's name; for one file alone
  /// Draft tokens of every round that drafts, where the files have accepted lengths alone; 0 = unknown.
  std::int32_t draft_length = 0;
  bool overwrite = false;  ///< replace an existing target
  /// Takes what is there of a file that was cut off: a request that never ended counts as cancelled.
  bool partial = false;
};

struct ImportSummary {
  std::vector<std::string_view> formats;  ///< names: of each file, the baseline's first
  std::vector<MissingData> missing;       ///< of all files together, in the order of MissingData
  std::int64_t runs = 0;
  std::int64_t requests = 0;
  std::int64_t rounds = 0;
  std::int64_t spans = 0;
  std::int64_t kernels = 0;
};

/// Name of the format that the file's first bytes look like. Errors: unreadable, compressed, or none of the
/// formats.
[[nodiscard]] Result<std::string_view> detect_import_format(const std::filesystem::path& file);

/// Writes one trace of all the files, in their order, whole or not at all. Answers of several files become
/// runs of one recording; a Chrome trace or an Nsight Systems export has its own clock and stands alone.
/// Progress is in bytes of input. Errors: as above; no files; the target exists; files that can't stand
/// together; options that the format does not know; "import cancelled" if `progress` said so.
[[nodiscard]] Result<ImportSummary> import_recordings(const std::vector<std::filesystem::path>& files,
                                                      const ImportOptions& options,
                                                      const std::filesystem::path& target,
                                                      const Progress& progress = {});

}  // namespace draftscope::traces
