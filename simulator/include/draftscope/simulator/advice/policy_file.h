// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A predicted setting as a policy file: what `draftscope tune` writes and the engine's strategy `tuned` runs
// (tuned:policy=FILE). The engine measures what it tunes; here the figures are predictions, and the file says
// of which recording, for which machine and how sure.

#include <draftscope/base/result.h>
#include <draftscope/simulator/advice/advice.h>
#include <draftscope/simulator/what_if/what_if.h>
#include <filesystem>
#include <map>
#include <string>

namespace draftscope::simulator {

/// Keys and values of one of the file's objects. Integers are numbers in the file and text here.
using PolicyFacts = std::map<std::string, std::string>;

struct PredictedPolicy {
  std::string strategy;
  double score = 1.0;  ///< predicted speedup; of a bounded answer the slower bound
  double acceptance_rate = 0.0;
  double tokens_per_round = 1.0;
  PolicyFacts model;
  PolicyFacts machine;
  PolicyFacts prompts;
  PolicyFacts settings;
  std::string tool_version;
  std::string date;  ///< ISO 8601, UTC
  std::string command_line;
};

/// Who writes a policy, from what.
struct PolicyOrigin {
  std::filesystem::path trace;
  std::string command_line;
  std::string tool_version;
};

/// The advised strategy. Errors: a verdict to measure first, which advises nothing yet; a policy file as the
/// strategy; a recording that lacks its model's identity; an unreadable trace.
[[nodiscard]] Result<PredictedPolicy> advised_policy(const Advice& advice, const traces::Recording& recording,
                                                     const PolicyOrigin& origin);

/// A setting that was asked about, whatever it brings. Errors: as above, and an answer for another model than
/// the recorded one, of whose acceptance nothing is known.
[[nodiscard]] Result<PredictedPolicy> asked_policy(const Answer& answer, const Machine& machine,
                                                   const traces::Recording& recording,
                                                   const PolicyOrigin& origin);

[[nodiscard]] std::string policy_text(const PredictedPolicy& policy);

/// Whole or not at all, whatever interrupts it; takes an existing file's place.
[[nodiscard]] Result<void> write_policy_file(const std::filesystem::path& file,
                                             const PredictedPolicy& policy);

}  // namespace draftscope::simulator
