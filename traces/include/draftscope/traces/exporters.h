// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Writes a trace in formats of other programs. Each exporter streams through a bounded buffer, writes to a
// temporary file next to the target and renames it at the end, so that a failure leaves nothing half-written.

#include <draftscope/base/result.h>
#include <draftscope/traces/reader.h>
#include <filesystem>
#include <functional>

namespace draftscope::traces {

/// Callback with the rows done and all rows; returning false cancels the export.
using Progress = std::function<bool(std::int64_t done, std::int64_t all)>;

/// Writes Perfetto TrackEvent protobuf (.pftrace): one track per lane, requests › rounds › phases › ops
/// nested, counters, ids as debug annotations, a flow from launch to kernel.
[[nodiscard]] Result<void> export_perfetto(Reader& reader, const std::filesystem::path& target,
                                           const Progress& progress = {});

/// Writes Spec-Bench answer JSONL (docs/methods.md, Files of others): one file per run, named after its
/// specification, into the folder `target`.
[[nodiscard]] Result<void> export_spec_bench(Reader& reader, const std::filesystem::path& target,
                                             const Progress& progress = {});

/// Writes the neutral JSONL of rounds (docs/rounds-format.md), which import_recordings() reads. It has no
/// lines for layer sets, spans, kernels, counters, decisions and shadow tokens.
[[nodiscard]] Result<void> export_rounds(Reader& reader, const std::filesystem::path& target,
                                         const Progress& progress = {});

}  // namespace draftscope::traces
