// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The rows of one run, request by request, which every figure is computed from.
//
// Only finished requests count (they ended at EOS, the token budget or the context): one that was cancelled,
// failed or was cut off by a crash has a wall time that says nothing. How many were left out is kept.
//
// Values point into the recording, which must outlive them and stay unchanged.

#include <draftscope/traces/overview.h>
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
  /// Sums that an overview stores, where the rounds themselves are not at hand; else null.
  const traces::RequestSum* stored = nullptr;
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

/// The first vanilla run with a finished request; null if there is none.
[[nodiscard]] const RunRows* baseline_of(std::span<const RunRows> runs);

/// The same run with the prompts of one category only.
[[nodiscard]] RunRows only_category(const RunRows& run, std::string_view category);

/// Categories of the run's prompts, in order of their first appearance.
[[nodiscard]] std::vector<std::string> categories(const RunRows& run);

// All that the time of a request's rounds depends on, once costs are affine in the context: counts and sums
// of contexts. A replay is made once a setting; every GPU, parameter draw and resample is then a short dot
// product with these (prices.h).
//
// The context of a pass is the number of K/V rows before its first row: a draft step that extends position p
// has context p, a verification or target step with root position p has context p.

struct PassCount {
  std::int64_t passes = 0;
  std::int64_t context = 0;  ///< summed over the passes

  friend bool operator==(const PassCount&, const PassCount&) = default;
};

/// The target steps of vanilla decoding: one a token, contexts one after the other from `first_context` on.
[[nodiscard]] PassCount vanilla_steps(std::int64_t tokens, std::int64_t first_context);

/// Passes of drafts of one exit layer (or one layer set).
struct DraftStatistics {
  std::int32_t exit = 0;          ///< 1 … n_layers − 1; an index into Prices::drafts
  PassCount steps;                ///< draft steps, one row each
  std::vector<PassCount> verify;  ///< [rows]: verifications of drafts of this exit; rows = draft length + 1

  friend bool operator==(const DraftStatistics&, const DraftStatistics&) = default;
};

struct RoundStatistics {
  std::int64_t tokens = 0;    ///< that rounds emitted (the prefill's token is not one)
  std::int64_t rounds = 0;    ///< those without a draft included
  std::int64_t drafted = 0;   ///< draft tokens
  std::int64_t accepted = 0;  ///< accepted draft tokens, before a cut at EOS or the budget
  PassCount target_steps;     ///< rounds without a draft
  std::vector<DraftStatistics> drafts;
  /// Passes for the strategy's own purposes (scenario.h): an index into Prices::auxiliary.
  std::vector<PassCount> auxiliary;
  /// Time that the host spent on deciding and waiting beside what prices of rounds cover; of the recorded
  /// machine's host.
  std::int64_t host_ns = 0;

  friend bool operator==(const RoundStatistics&, const RoundStatistics&) = default;
};

/// Adds `b` to `a`, exit by exit.
void add(RoundStatistics& a, const RoundStatistics& b);
[[nodiscard]] RoundStatistics sum_of(const std::vector<RoundStatistics>& requests);
[[nodiscard]] PassCount sum_of(const std::vector<PassCount>& requests);

}  // namespace draftscope::simulator
