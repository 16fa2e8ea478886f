// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The rows of one run, request by request, which every figure is computed from.
//
// Only finished requests count (they ended at EOS, the token budget or the context): one that was cancelled,
// failed or was cut off by a crash has a wall time that says nothing. How many were left out is kept.
//
// Values point into the recording, which must outlive them and stay unchanged.

#include <draftscope/traces/reader.h>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

struct RequestRows {
  const traces::Request* request = nullptr;
  const traces::Prompt* prompt = nullptr;
  std::span<const traces::Round> rounds;
  /// Forwards of the draft in each round: the depth of its token tree, which for a chain is the draft length.
  std::vector<std::int32_t> draft_steps;
  /// Depth-0 spans of the request, in any order; empty if none were recorded.
  std::vector<traces::Span> phase_spans;
  std::int64_t tested_tokens = -1;  ///< draft tokens that the verifier got to; -1 if token rows are missing
};

struct RunRows {
  const traces::Run* run = nullptr;
  std::vector<RequestRows> requests;  ///< finished ones, in order of their start
  std::int32_t unfinished_requests = 0;
};

/// One element a run of the recording, in its order. Requests, prompts and rounds that refer to nothing are
/// ignored (Reader::validate reports them). O(rows), with hashing.
[[nodiscard]] std::vector<RunRows> rows_by_run(const traces::Recording& recording,
                                               std::span<const traces::Span> phase_spans = {});

/// The same run with the prompts of one category only.
[[nodiscard]] RunRows only_category(const RunRows& run, std::string_view category);

/// Categories of the run's prompts, in order of their first appearance.
[[nodiscard]] std::vector<std::string> categories(const RunRows& run);

}  // namespace draftscope::simulator
