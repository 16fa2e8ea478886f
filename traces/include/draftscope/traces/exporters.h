// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Writes a trace in others' formats. Each streams through a bounded buffer, writes to a temporary file beside
// the target and renames it at the end, so that a failure leaves nothing half-written.

#include <draftscope/base/result.h>
#include <draftscope/traces/reader.h>
#include <filesystem>
#include <functional>

namespace draftscope::traces {

/// Called with rows done and rows in all; returning false cancels the export.
using Progress = std::function<bool(std::int64_t done, std::int64_t all)>;

/// Perfetto TrackEvent protobuf (.pftrace): one track a lane, requests › rounds › phases › ops nested,
/// counters, ids as debug annotations, a flow from launch to kernel.
[[nodiscard]] Result<void> export_perfetto(Reader& reader, const std::filesystem::path& target,
                                           const Progress& progress = {});

/// Chrome trace event JSON, times in microseconds with exact nanosecond decimals.
[[nodiscard]] Result<void> export_chrome(Reader& reader, const std::filesystem::path& target,
                                         const Progress& progress = {});

/// Spec-Bench answer JSONL (docs/methods.md, Files of others): one file a run, named after its specification,
/// into the folder `target`.
[[nodiscard]] Result<void> export_spec_bench(Reader& reader, const std::filesystem::path& target,
                                             const Progress& progress = {});

/// The neutral JSONL of rounds (docs/rounds-format.md), which import_recordings() reads. Layer sets, spans,
/// kernels, counters, decisions and shadow tokens have no line.
[[nodiscard]] Result<void> export_rounds(Reader& reader, const std::filesystem::path& target,
                                         const Progress& progress = {});

}  // namespace draftscope::traces
