// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A policy plans the rounds of a replay from what a strategy would know at that moment, and observes their
// outcomes. A policy that decides only a part (an exit, a length, a threshold) leaves the other fields
// unchanged. So parts can be mixed as the engine's strategies mix theirs (policies.h).

#include <draftscope/speculation/branch_width.h>
#include <cstdint>
#include <span>

#include "rounds/replay/shadow_table.h"

namespace draftscope::simulator {

/// Everything that is known before a round.
struct RoundState {
  const ShadowTable* table = nullptr;  ///< Table of the request; a plan reads the text up to the root.
  std::int32_t round_index = 0;        ///< Index within the request.
  std::int32_t root_position = 0;      ///< Position of the last token known.
  std::int32_t remaining = 0;          ///< Tokens that may still be emitted.
};

struct PlannedRound {
  std::int32_t exit = 0;    ///< E; 0 = no draft, a step of the target.
  std::int32_t length = 0;  ///< γ, before the cut at budget, context and width.
  double threshold =
      -1.0;  ///< Draft-exit threshold: a draft token of lower confidence is the last; -1 = none.
  /// Widths of the draft's steps, which live as long as the program; empty = a chain.
  std::span<const speculation::BranchWidth> widths;
};

/// The end of a draft.
struct DraftOutcome {
  std::int32_t drafted = 0;   ///< Draft tokens.
  std::int32_t accepted = 0;  ///< Accepted tokens, before a cut at the end of the text.
  std::int32_t siblings = 0;  ///< Draft tokens of a tree beside the first of their step.

  [[nodiscard]] std::int32_t steps() const { return drafted - siblings; }
  friend bool operator==(const DraftOutcome& a, const DraftOutcome& b) {
    return a.drafted == b.drafted && a.accepted == b.accepted && a.siblings == b.siblings;
  }
};

struct ObservedRound {
  RoundState state;
  PlannedRound plan;
  DraftOutcome outcome;  ///< Outcome that the policy must use.
  /// Outcomes that the table allows, with the fewest and the most draft tokens; both equal `outcome` where it
  /// determines everything.
  DraftOutcome least, most;
  std::int32_t planned_rows = 0;  ///< Rows of the longest draft that the plan allows, and one; 0 = unknown.
};

class Policy {
 public:
  virtual ~Policy() = default;
  /// Called before a request's first round. `table` outlives the request's replay.
  virtual void begin_request(const ShadowTable& /*table*/) {}
  /// Sets the fields that this policy decides.
  virtual void plan(const RoundState& state, PlannedRound& plan) = 0;
  virtual void observe(const ObservedRound& /*round*/) {}
  /// Whether the plan of the next round equals that of a recording; false once the policy has observed
  /// something that the table does not determine.
  [[nodiscard]] virtual bool is_certain() const { return true; }
};

}  // namespace draftscope::simulator
