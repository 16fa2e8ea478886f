// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Rows of one run, grouped by request, which every figure is computed from.
//
// Only finished requests count (they ended at EOS, the token budget or the context). The wall time of a
// request that was cancelled, failed or was cut off by a crash is meaningless. The number of such requests is
// stored.
//
// Values point into the recording, which must outlive them and stay unchanged.

#include <draftscope/traces/overview.h>
#include <draftscope/traces/reader.h>
#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

/// Whether a recording has these of its requests, whose fields hold substitutes otherwise
/// (traces/missing_data.h).
struct KnownOfRequest {
  bool wall_times = true;
  bool first_token_times = true;
  bool token_ids = true;
  bool output_text = true;
};

struct RequestRows {
  const traces::Request* request = nullptr;
  const traces::Prompt* prompt = nullptr;
  KnownOfRequest known;
  std::span<const traces::Round> rounds;
  /// Depth-0 spans of the request, in any order; empty if none were recorded.
  std::vector<traces::Span> phase_spans;
  std::int64_t tested_tokens = -1;  ///< Draft tokens that the verifier reached; -1 if token rows are missing.
  /// Sums stored in an overview, where the rounds themselves are not loaded; else null.
  const traces::RequestSum* stored = nullptr;
};

struct RunRows {
  const traces::Run* run = nullptr;
  std::vector<RequestRows> requests;  ///< Finished requests, in order of their start.
  std::int32_t unfinished_requests = 0;
  std::map<std::string_view, std::int32_t> unfinished_by_category;  ///< [category]: number of them
};

/// One element per run, in order of the recording. Requests, prompts and rounds with dangling references are
/// ignored (Reader::validate reports them). O(rows), with hashing.
[[nodiscard]] std::vector<RunRows> rows_by_run(const traces::Recording& recording,
                                               std::span<const traces::Span> phase_spans = {});

/// First vanilla run with a finished request; null if there is none.
[[nodiscard]] const RunRows* baseline_of(std::span<const RunRows> runs);

/// Run restricted to the prompts of one category.
[[nodiscard]] RunRows only_category(const RunRows& run, std::string_view category);

/// Categories of the run's prompts, in order of their first appearance.
[[nodiscard]] std::vector<std::string> categories(const RunRows& run);

// Sufficient statistics of a request's rounds for their time, given that costs are affine in the context:
// counts and sums of contexts. A replay runs once per setting; every GPU, parameter draw and resample is then
// a short dot product with these (prices.h).
//
// The context of a pass is the number of K/V rows before its first row. A draft step that extends position p
// has context p; a verification or target step with root position p has context p.

struct PassCount {
  std::int64_t passes = 0;
  std::int64_t context = 0;  ///< Sum over the passes.

  friend bool operator==(const PassCount&, const PassCount&) = default;
};

/// Target steps of vanilla decoding: one per token, with consecutive contexts from `first_context` on.
[[nodiscard]] PassCount vanilla_steps(std::int64_t tokens, std::int64_t first_context);

/// Rows from which on kernels of a GPU take other tiles, or read the weights once more.
inline constexpr std::array<std::int32_t, 5> row_steps{9, 17, 33, 65, 129};

/// Draft passes with one exit layer (or one layer set).
struct DraftStatistics {
  std::int32_t exit = 0;          ///< Exit layer 1 … n_layers − 1, which is an index into Prices::drafts.
  PassCount steps;                ///< Draft steps, one row each.
  std::vector<PassCount> verify;  ///< [rows]: verifications of drafts with this exit; rows = draft length + 1
  /// [row step]: verifications that were planned for so many rows, and had fewer since the draft stopped.
  std::array<std::int64_t, row_steps.size()> planned_beyond{};

  friend bool operator==(const DraftStatistics&, const DraftStatistics&) = default;
};

struct RoundStatistics {
  std::int64_t tokens = 0;    ///< Tokens that rounds emitted, without the prefill's token.
  std::int64_t rounds = 0;    ///< Number of rounds, including those without a draft.
  std::int64_t drafted = 0;   ///< Draft tokens.
  std::int64_t accepted = 0;  ///< Accepted draft tokens, up to the text's end.
  PassCount target_steps;     ///< Rounds without a draft.
  std::vector<DraftStatistics> drafts;
  /// Auxiliary passes of the strategy (scenario.h), indexed as Prices::auxiliary.
  std::vector<PassCount> auxiliary;
  /// Time that the recorded machine's host spent on deciding and waiting, beyond the time that the prices of
  /// rounds include.
  std::int64_t host_ns = 0;

  friend bool operator==(const RoundStatistics&, const RoundStatistics&) = default;
};

/// Rows that a round plans to verify: of its planned length within the token budget of its request. Trees and
/// guesses are verified as they are. `first_root` is the root position of the request's first round.
[[nodiscard]] std::int32_t planned_rows(const traces::Round& round, std::int32_t first_root,
                                        std::int32_t max_new_tokens);
/// The recording's token budget of a request; the largest number without one.
[[nodiscard]] std::int32_t recorded_token_budget(const traces::Meta& meta);

/// Counts a verification of `rows` rows that was planned for `planned` rows.
void count_planned(DraftStatistics& draft, std::int32_t rows, std::int32_t planned);

/// Adds the passes of a drafting round: `steps` draft steps with `exit` from `root_position` on, and their
/// verification of `rows` ≥ 2 rows, which was planned for `planned` rows.
void add_passes(RoundStatistics& statistics, std::int32_t exit, std::int64_t root_position,
                std::int64_t steps, std::int32_t rows, std::int32_t planned);

/// Adds `b` to `a`, per exit.
void add(RoundStatistics& a, const RoundStatistics& b);
[[nodiscard]] RoundStatistics sum_of(const std::vector<RoundStatistics>& requests);
[[nodiscard]] PassCount sum_of(const std::vector<PassCount>& requests);

}  // namespace draftscope::simulator
