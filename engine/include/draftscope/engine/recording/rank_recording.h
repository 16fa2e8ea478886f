// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The other ranks' part of a recording: a lane each, beside the decoding thread's.

#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <draftscope/engine/ranks/lead_and_follow.h>
#include <draftscope/traces/writer.h>
#include <vector>

namespace draftscope::engine {

/// Rows of `kernels`, on a track of kind "rank" for each rank that follows: what it did in each pass, as
/// finely as rank 0's spans are recorded, and which span of rank 0 it was for. Without other ranks every call
/// does nothing. Thread-safety: none.
class RankRecording {
 public:
  /// Opens the tracks; what ranks did before is forgotten. Neither is owned; both must outlive the last call.
  /// Errors: a rank has ended.
  [[nodiscard]] Result<void> begin(traces::Writer& writer, Backend& backend);
  /// Writes what the ranks did since the last call; between requests, for it takes the ranks' time.
  [[nodiscard]] Result<void> end_request();

 private:
  traces::Writer* writer_ = nullptr;
  LeadingBackend* lead_ = nullptr;       // null: there are no others
  std::vector<traces::TrackId> tracks_;  // by rank, from rank 1 on
  std::vector<traces::Kernel> rows_;
};

}  // namespace draftscope::engine
