// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What one parameter of an early exit does while the others stay: speedup, accepted length and acceptance
// over the confidence threshold, and over the draft length.

#include <draftscope/simulator/answers/advice.h>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "what_if/questions/trained_recording.h"

namespace draftscope::gui {

/// One setting's answer.
struct AskedSetting {
  std::string strategy;
  std::string refusal;  ///< why there is no answer; empty if there is
  simulator::AnswerStatus status = simulator::AnswerStatus::exact;
  double speedup = 0.0;  ///< the slower bound
  std::optional<simulator::Interval> interval_95;
  double mean_accepted_length = 0.0;
  double acceptance_rate = 0.0;
};

/// `longer_context` as a question has it. What can't be answered has its reason in the result.
[[nodiscard]] AskedSetting ask_setting(const simulator::WhatIf& what_if, const std::string& strategy,
                                       const simulator::Machine& machine, std::int32_t longer_context,
                                       const simulator::SweepOptions& draws = {});

struct CurvePoint {
  double at = 0.0;  ///< the parameter
  AskedSetting asked;
};

struct SettingCurve {
  simulator::EarlyExitSetting of;  ///< what stays
  std::vector<CurvePoint> points;  ///< rising; those without an answer are left out
  std::string refusal;             ///< why there is no point; empty if there are some
};

inline constexpr std::int32_t longest_on_curve = 17;

/// Told of points done, and all; false stops, and the curve ends there.
using CurveProgress = std::function<bool(std::int64_t done, std::int64_t all)>;

/// Thresholds 0, 0.05, … 1 for drafts of at most the setting's length.
[[nodiscard]] SettingCurve threshold_curve(const simulator::WhatIf& what_if,
                                           simulator::EarlyExitSetting setting,
                                           const simulator::Machine& machine, std::int32_t longer_context,
                                           const CurveProgress& progress = {});

/// Lengths 1 to longest_on_curve; the setting's threshold stays, if it has one.
[[nodiscard]] SettingCurve length_curve(const simulator::WhatIf& what_if, simulator::EarlyExitSetting setting,
                                        const simulator::Machine& machine, std::int32_t longer_context,
                                        const CurveProgress& progress = {});

}  // namespace draftscope::gui
