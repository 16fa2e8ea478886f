// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The answer to one question, or the reason why there is none. The numbers equal those of `draftscope
// simulate` for the same question and seed.

#include <draftscope/simulator/answers/answer.h>
#include <draftscope/simulator/answers/measured_beside.h>
#include <draftscope/simulator/answers/recording_waterfall.h>
#include <draftscope/simulator/answers/what_if.h>
#include <draftscope/simulator/prices/closed_forms.h>
#include <draftscope/simulator/prices/roofline.h>
#include <draftscope/simulator/prices/tpt_ladder.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "what_if/questions/question.h"
#include "what_if/questions/trained_recording.h"

namespace draftscope::gui {

struct WhatIfAnswer {
  Question question;
  std::string refusal;    ///< Reason, and what to record instead; empty = answered.
  WhatIfPointer what_if;  ///< Model that answered; null only if choices are missing.
  /// The recorded run with this setting, if there is one, and the difference between measurement and
  /// prediction.
  std::optional<simulator::MeasuredBeside> beside;
  simulator::StrategyRounds rounds;
  simulator::Machine machine;
  simulator::Answer prediction;
  std::optional<simulator::BreakEven> break_even;  ///< Absent if no draft step is taken.
  /// True if some prices rest on values beyond the measured range.
  bool is_extrapolated = false;
};

/// Whether the question is about the recorded machine, model and circumstances.
[[nodiscard]] bool is_as_recorded(const Question& question);

/// Answers a question. `kept` caches prices of the question before and does not change the result; null
/// caches nothing.
[[nodiscard]] WhatIfAnswer answer_of(const TrainedRecording& trained, const Question& question,
                                     const simulator::PredictionOptions& options = {},
                                     simulator::CachedPrices* kept = nullptr);

/// Whether rounds are "exact", "bounded" or "approximate", and whether times are of the recorded
/// circumstances, from specifications or beyond the measured range: "exact rounds, extrapolated times".
[[nodiscard]] std::string standing(const WhatIfAnswer& answer);

/// Lines about the basis of the rounds, then of the prices. Parameters that the recording leaves open are
/// counted, not listed.
[[nodiscard]] std::vector<std::string> notes_of(const WhatIfAnswer& answer);

/// Correction ladder of an answered question. Errors: those of answer_ladder().
[[nodiscard]] Result<simulator::Ladder> ladder_of(const WhatIfAnswer& answer);

/// Roofline at the mean context of the answer's rounds, with passes of one row and its longest verification.
/// Errors: those of roofline().
[[nodiscard]] Result<simulator::Roofline> roofline_of(const WhatIfAnswer& answer);

/// The waterfall to the oracle on a question's machine, with the question's strategy beside it, as
/// `draftscope simulate --waterfall` prints it.
struct WaterfallLevels {
  std::string machine;
  std::int32_t batch = 1;
  simulator::RecordingWaterfall found;
};

/// Levels of the waterfall; they lack the strategy's share if the question was refused. `progress` is as in
/// WaterfallOptions. Errors: those of recording_waterfall().
[[nodiscard]] Result<WaterfallLevels> waterfall_of(
    const TrainedRecording& trained, const WhatIfAnswer& answer,
    const std::function<bool(std::int64_t, std::int64_t)>& progress = {});

}  // namespace draftscope::gui
