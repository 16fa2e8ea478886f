// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// One question answered, or the reason why it can't be. The numbers are those of `draftscope simulate` for
// the same question and seed.

#include <draftscope/simulator/answers/answer.h>
#include <draftscope/simulator/answers/measured_beside.h>
#include <draftscope/simulator/answers/what_if.h>
#include <draftscope/simulator/prices/closed_forms.h>
#include <draftscope/simulator/prices/roofline.h>
#include <draftscope/simulator/prices/tpt_ladder.h>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "what_if/questions/question.h"
#include "what_if/questions/trained_recording.h"

namespace draftscope::gui {

struct WhatIfAnswer {
  Question question;
  std::string refusal;    ///< one line, with what to record or choose instead; empty: all below is there
  WhatIfPointer what_if;  ///< what answered it; null only where choices are missing
  /// The run that it describes, where that was recorded, and how far the two are apart.
  std::optional<simulator::MeasuredBeside> beside;
  simulator::StrategyRounds rounds;
  simulator::Machine machine;
  simulator::Answer prediction;
  simulator::PredictedRate rate;
  std::optional<simulator::BreakEven> break_even;  ///< absent where no draft step is taken
  /// Some of what prices rest on is beyond what was measured.
  bool is_extrapolated = false;
};

/// `kept`: of the question before, to the same bits; null: nothing is kept.
[[nodiscard]] WhatIfAnswer answer_of(const TrainedRecording& trained, const Question& question,
                                     const simulator::SweepOptions& options = {},
                                     simulator::CachedPrices* kept = nullptr);

/// "exact", "bounded", "approximate" rounds, and whether times are of the recorded circumstances,
/// specifications or beyond what was measured: "exact rounds, extrapolated times".
[[nodiscard]] std::string standing(const WhatIfAnswer& answer);

/// A line each: what the rounds and then the prices rest on. Parameters that the recording leaves open are
/// counted, not listed.
[[nodiscard]] std::vector<std::string> notes_of(const WhatIfAnswer& answer);

/// Correction ladder of an answered question. Errors: as answer_ladder().
[[nodiscard]] Result<simulator::Ladder> ladder_of(const WhatIfAnswer& answer);

/// Roofline at the mean context of the answer's rounds, with passes of one row and of its longest
/// verification. Errors: as roofline().
[[nodiscard]] Result<simulator::Roofline> roofline_of(const WhatIfAnswer& answer);

}  // namespace draftscope::gui
