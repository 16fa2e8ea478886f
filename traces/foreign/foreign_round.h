// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What another engine says of a request and its rounds, and the rows that it makes. Importers of rounds and
// draftscope/record.h go through here, so that the schema's rules and the names of what is missing are in
// one place.
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

/// One draft–verify cycle. A list is empty where the engine does not tell, else it has an entry a draft
/// token.
struct ForeignRound {
  std::int64_t start_ns = -1;
  std::int64_t end_ns = -1;
  std::int64_t planned = -1;  ///< -1 = as long as the draft
  std::int64_t drafted = -1;  ///< -1 = unknown
  std::int64_t accepted = 0;
  std::int64_t emitted = -1;      ///< -1 = the accepted ones and one of the target's own
  std::int64_t position = -1;     ///< of the last emitted token; -1 = after prompt and earlier rounds
  std::int64_t verify_rows = -1;  ///< -1 = the draft tokens and the root
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
  std::vector<double> confidences;    ///< not a number = unknown
  std::vector<double> probabilities;  ///< likewise
  std::vector<std::int32_t> parents;  ///< of a tree; none = a chain
  std::vector<std::uint8_t> taken;    ///< accepted or not; none = the first `accepted` ones
  std::vector<std::uint8_t> tested;   ///< none = those taken, and the next
};

/// How a request ended.
struct ForeignEnd {
  std::int64_t end_ns = -1;
  std::int64_t first_token_ns = -1;  ///< 0 = no token came
  std::optional<RequestStop> stop;
  std::optional<std::string> text;
  std::optional<std::vector<std::int32_t>> tokens;
  std::int64_t n_tokens = -1;  ///< where the tokens themselves are not known; -1 = as many as the rounds gave
};

struct ForeignRows {
  Round round;  ///< without an id
  std::vector<DraftToken> draft_tokens;
};

/// A request that is under way: checks what is said of it, and remembers where it is.
class ForeignRequest {
 public:
  /// `request` has its ids, prompt and start; a start of -1 is unknown, and the request then stands at
  /// `place_ns`. `where` begins every error.
  [[nodiscard]] static Result<ForeignRequest> begin(Request request, std::int64_t prompt_tokens,
                                                    std::int64_t place_ns, const std::string& where);

  /// The rows of the next round. Errors: a count, time, token or parent that breaks a rule of the schema.
  [[nodiscard]] Result<ForeignRows> round(const ForeignRound& said, const std::string& where);
  /// The request's whole row.
  [[nodiscard]] Result<Request> finish(const ForeignEnd& said, const std::string& where);

  [[nodiscard]] const Request& request() const { return request_; }
  /// Gives the row its ids, which are taken once nothing can fail any more.
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
  std::int64_t last_ns_ = 0;  ///< end of the last round, or the request's start
};

}  // namespace draftscope::traces
