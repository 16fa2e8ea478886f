// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Reads a recording while it is being written: figures of finished requests, and the text of the current one.
// Each reading processes only new rounds.
//
// Thread-safety: only one thread at a time may call, except for stop().

#include <draftscope/simulator/analysis/figures.h>
#include <draftscope/traces/reader.h>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "data/details/replayed_text.h"

namespace draftscope::gui {

struct LiveRun {
  std::string specification;
  bool is_baseline = false;
  std::int64_t requests = 0;  ///< Requests that have finished.
  std::optional<double> tokens_per_second;
  std::optional<simulator::Speedup> speedup;  ///< Absent without a baseline, and for the baseline.
  std::optional<double> acceptance_rate;
  std::optional<double> mean_accepted_length;  ///< M, tokens per target forward.
};

struct LiveToken {
  std::string text;  ///< Empty while the trace lacks the text, since no finished request had this token.
  TokenOrigin origin = TokenOrigin::bonus;
};

/// The request that is being decoded, up to its last committed round. Its first token, from the prefill, is
/// written only at its end.
struct LiveText {
  std::string specification;  ///< Specification of its run.
  std::int64_t question_id = 0;
  std::string category;
  std::int32_t repeat = 0;
  std::string prompt;
  std::vector<LiveToken> tokens;
};

struct LiveFigures {
  bool closed_cleanly = false;
  std::int64_t requests = 0;  ///< Requests that have finished.
  std::int64_t rounds = 0;
  std::vector<LiveRun> runs;  ///< Runs in the recording's order.
  std::optional<LiveText> at_hand;
};

class LiveReader {
 public:
  explicit LiveReader(std::filesystem::path path) : path_(std::move(path)) {}

  /// Reads everything committed so far. Errors: not a readable trace; after stop(), it soon fails.
  [[nodiscard]] Result<LiveFigures> read();
  void stop() { stopped_ = true; }

 private:
  struct OpenRound {
    traces::Round round;
    std::vector<std::int32_t> accepted;  ///< Draft tokens, in order of the text.
  };

  Result<void> take_rounds(traces::Reader& reader, traces::RequestId at_hand);
  [[nodiscard]] Result<LiveText> text_of(traces::Reader& reader, const traces::Recording& outline,
                                         const traces::Request& request) const;

  std::filesystem::path path_;
  std::atomic<bool> stopped_{false};
  std::int64_t last_round_id_ = 0;
  std::unordered_map<traces::RequestId, traces::RequestSum> sums_;
  traces::RequestId open_request_;
  std::vector<OpenRound> open_rounds_;  ///< Committed rounds of `open_request_`.
};

}  // namespace draftscope::gui
