// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Diagnosis of the speed of each run of a recording, as `draftscope explain` gives it, with the recording
// that it points into. Immutable once made.

#include <draftscope/simulator/analysis/explain.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/opened_recording.h"

namespace draftscope::gui {

/// Whether the simulator is asked what remedies would bring, which takes most of the time.
enum class Remedies : std::uint8_t { named, simulated };

struct RecordingDiagnosis {
  RecordingPointer recording;
  std::vector<simulator::Diagnosis> runs;  ///< One per run except the vanilla run.
  Remedies remedies = Remedies::named;

  /// Null for the vanilla run.
  [[nodiscard]] const simulator::Diagnosis* of(std::size_t run_index) const;
};

using DiagnosisPointer = std::shared_ptr<const RecordingDiagnosis>;

/// The recording must have its rows. Where the simulator cannot answer, the sentences say why.
[[nodiscard]] DiagnosisPointer diagnose(const RecordingPointer& recording, Remedies remedies);

// Steps from a token's time in vanilla decoding to its time in a run. One target step yields several tokens,
// which saves time. A verification longer than a vanilla step, drafting, deciding and the rest cost time.
// Covers decoding alone, without the prefill.

enum class TokenTime : std::uint8_t {
  vanilla,       ///< Starting point.
  fewer_steps,   ///< One target step for all tokens of a round, instead of one per token.
  verification,  ///< Time beyond one vanilla step.
  draft,
  decide,
  accept,
  outside,  ///< Time outside the rounds' phases.
  run,      ///< End point.
};

struct TokenTimeStep {
  TokenTime what = TokenTime::vanilla;
  double ns = 0.0;         ///< ns per token; the sign of a change says whether it costs time.
  double before_ns = 0.0;  ///< ns per token before this change; 0 for both ends.

  [[nodiscard]] double after_ns() const { return before_ns + ns; }
  [[nodiscard]] bool is_end() const { return what == TokenTime::vanilla || what == TokenTime::run; }
};

/// Steps in the order of TokenTime, both ends included. Each change begins where the previous one ended, and
/// the last ends at the run's time. Empty without a vanilla run, or if the recording does not tell how a
/// round's time splits.
[[nodiscard]] std::vector<TokenTimeStep> token_waterfall(const simulator::RoundAccount& round);

}  // namespace draftscope::gui
