// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Effect of one parameter of an early exit while the others stay: speedup, accepted length and acceptance
// over the confidence threshold, and over the draft length.

#include <draftscope/simulator/answers/advice.h>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "what_if/questions/trained_recording.h"

namespace draftscope::gui {

/// Answer for one setting.
struct AskedSetting {
  std::string strategy;
  std::string refusal;  ///< Why there is no answer; empty if there is one.
  simulator::AnswerStatus status = simulator::AnswerStatus::exact;
  double speedup = 0.0;  ///< Slower bound of the speedup.
  std::optional<simulator::Interval> interval_95;
  double mean_accepted_length = 0.0;
  double acceptance_rate = 0.0;
};

/// Answers one setting. `longer_context` is as in Question. A refusal has its reason in the result.
[[nodiscard]] AskedSetting ask_setting(const simulator::WhatIf& what_if, const std::string& strategy,
                                       const simulator::Machine& machine, std::int32_t longer_context,
                                       const simulator::PredictionOptions& draws = {});

struct CurvePoint {
  double at = 0.0;  ///< Value of the parameter.
  AskedSetting asked;
};

struct SettingCurve {
  simulator::EarlyExitSetting of;  ///< Setting whose other parameters stay.
  std::vector<CurvePoint> points;  ///< Points in ascending order; points without an answer are left out.
  std::string refusal;             ///< Why there is no point; empty if there are some.
  std::string stands_in_for;       ///< Advised strategy that has nothing to vary; empty = none.
};

inline constexpr std::int32_t longest_on_curve = 17;

/// Receives the number of points done and in total; if it returns false, the curve ends there.
using CurveProgress = std::function<bool(std::int64_t done, std::int64_t all)>;

/// Curve over thresholds 0, 0.05, … 1, for drafts of at most the setting's length.
[[nodiscard]] SettingCurve threshold_curve(const simulator::WhatIf& what_if,
                                           simulator::EarlyExitSetting setting,
                                           const simulator::Machine& machine, std::int32_t longer_context,
                                           const CurveProgress& progress = {});

/// Curve over lengths 1 to longest_on_curve; the setting's threshold stays, if it has one.
[[nodiscard]] SettingCurve length_curve(const simulator::WhatIf& what_if, simulator::EarlyExitSetting setting,
                                        const simulator::Machine& machine, std::int32_t longer_context,
                                        const CurveProgress& progress = {});

}  // namespace draftscope::gui
