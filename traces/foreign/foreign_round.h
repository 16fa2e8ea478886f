// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Another engine's report of a request and its rounds, and the rows made of it. Importers of rounds and
// draftscope/record.h use this file, so that the schema's rules and the names of missing data are in one
// place.
//
// Times are nanoseconds of one monotonic clock; -1 = unknown. Lengths are in tokens. Thread-safety: as any
// value.

#include <draftscope/base/result.h>
#include <draftscope/traces/missing_data.h>
#include <draftscope/traces/records.h>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace draftscope::traces {

/// One draft–verify cycle. A list is empty where the engine does not report it; otherwise it has one entry
/// per draft token.
struct ForeignRound {
  std::int64_t start_ns = -1;
  std::int64_t end_ns = -1;
  std::int64_t planned = -1;  ///< Planned length; -1 = the length of the draft.
  std::int64_t drafted = -1;  ///< Drafted tokens; -1 = unknown.
  std::int64_t accepted = 0;
  std::int64_t emitted = -1;   ///< Emitted tokens; -1 = the accepted ones and one of the target's own.
  std::int64_t position = -1;  ///< Position of the last emitted token; -1 = after prompt and earlier rounds.
  std::int64_t verify_rows = -1;  ///< Verified rows; -1 = the draft tokens and the root.
  std::int64_t exit_layer = 0;
  std::int64_t bonus_token = -1;
  std::optional<DraftStop> draft_stop;
  double threshold = -1.0;
  std::int64_t draft_ns = -1;
  std::int64_t verify_ns = -1;
  std::int64_t accept_ns = -1;
  std::int64_t optimise_ns = -1;
  std::int64_t control_ns = -1;
  std::vector<std::int32_t> tokens;
  std::vector<double> confidences;    ///< Confidence per token; not a number = unknown.
  std::vector<double> probabilities;  ///< Probability per token; not a number = unknown.
  std::vector<std::int32_t> parents;  ///< Parents in a tree; empty = a chain.
  /// Whether each token was accepted; empty = the first `accepted` ones were.
  std::vector<std::uint8_t> taken;
  /// Whether each token was tested; empty = the accepted ones and the next.
  std::vector<std::uint8_t> tested;
};

/// How a request ended.
struct ForeignEnd {
  std::int64_t end_ns = -1;
  std::int64_t first_token_ns = -1;  ///< Time of the first token; 0 = no token came.
  std::optional<RequestStop> stop;
  std::optional<std::string> text;
  std::optional<std::vector<std::int32_t>> tokens;
  /// Number of tokens where their ids are not known; -1 = as many as the rounds emitted.
  std::int64_t n_tokens = -1;
};

struct ForeignRows {
  Round round;  ///< Row without an id.
  std::vector<DraftToken> draft_tokens;
};

/// A request in progress: checks each report about it, and remembers its position.
class ForeignRequest {
 public:
  /// Begins a request. `request` has its ids, prompt and start. A start of -1 is unknown, and the request is
  /// then placed at `place_ns`. `where` begins every error.
  [[nodiscard]] static Result<ForeignRequest> begin(Request request, std::int64_t prompt_tokens,
                                                    std::int64_t place_ns, const std::string& where);

  /// Makes the rows of the next round. Errors: a count, time, token or parent that breaks a rule of the
  /// schema.
  [[nodiscard]] Result<ForeignRows> round(const ForeignRound& said, const std::string& where);
  /// Makes the request's complete row.
  [[nodiscard]] Result<Request> finish(const ForeignEnd& said, const std::string& where);

  [[nodiscard]] const Request& request() const { return request_; }
  /// Gives the row its ids, which are taken only after nothing can fail any more.
  void identify(Request request) { request_ = std::move(request); }
  /// Data that the request lacks so far.
  [[nodiscard]] const std::set<MissingData>& missing() const { return missing_; }

 private:
  [[nodiscard]] Result<void> place(const ForeignRound& said, Round& round, const std::string& where);
  [[nodiscard]] Result<std::vector<DraftToken>> draft(const ForeignRound& said, const Round& round,
                                                      const std::string& where);

  Request request_;
  std::set<MissingData> missing_;
  bool has_times_ = false;
  std::int32_t rounds_ = 0;
  std::int64_t position_ = 0;
  std::int64_t emitted_ = 0;
  std::int64_t last_ns_ = 0;  ///< End of the last round, or the request's start.
};

}  // namespace draftscope::traces
