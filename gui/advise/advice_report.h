// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The advice of `draftscope advise` for a recording, by the same functions, with more detail: the closest
// competing settings with their answers, and the effect of threshold and length. Independent of Qt; takes
// seconds.

#include <draftscope/simulator/answers/advice.h>
#include <functional>
#include <string>
#include <vector>

#include "advise/setting_curves.h"
#include "what_if/questions/question.h"
#include "what_if/questions/trained_recording.h"

namespace draftscope::gui {

using simulator::Considered;

struct AdviceQuestion {
  Question machine;  ///< Machine, model and circumstances of the question; its strategy is ignored.
  Considered considered = Considered::everything;
  std::vector<std::string> strategies;  ///< Further strategies to consider, as on the command line.
  std::string curves_of;                ///< Recorded early-exit run; empty = the advised one.

  friend bool operator==(const AdviceQuestion&, const AdviceQuestion&) = default;
};

/// Reason why a setting is listed.
enum class SettingRole : std::uint8_t {
  fastest,    ///< Fastest of all settings; it is advised unless the verdict is against it.
  runner_up,  ///< Fastest setting of another kind.
  neighbour,  ///< Setting one step away from the fastest.
  recorded,
  best_of_kind,
  close,  ///< One of the fastest settings.
};

struct ListedSetting {
  AskedSetting asked;
  SettingRole role = SettingRole::close;
  std::string change;                                  ///< Difference of a neighbour: "E-1".
  std::optional<simulator::EarlyExitSetting> setting;  ///< Present for an early exit.
  bool is_recorded = false;
  bool is_outside =
      false;  ///< Whether the choice leaves it out; it is listed for comparison, below the others.
  double relative = 0.0;  ///< Speedup divided by the fastest speedup, minus 1.
};

struct AdviceReport {
  AdviceQuestion question;
  simulator::Machine machine;
  simulator::Advice advice;
  std::vector<ListedSetting>
      settings;  ///< The considered ones, then the others, the fastest first; each once.
  SettingCurve thresholds;
  SettingCurve lengths;
};

/// Receives the parts done in a thousand, often enough to stop; if it returns false, advice_of() fails.
using AdviceProgress = std::function<bool(int thousandths)>;

/// Errors, one line: an imported recording, which has no data by layer; those of candidates() and advise(); a
/// machine that contradicts itself; no setting left to consider; stopped.
[[nodiscard]] Result<AdviceReport> advice_of(const TrainedRecording& trained, const AdviceQuestion& question,
                                             const AdviceProgress& progress = {});

/// Question for the what-if page about a setting on the report's machine.
[[nodiscard]] Question question_about(const AdviceReport& report, const ListedSetting& listed);

/// Command line of draftscope advise that gives the same advice.
[[nodiscard]] std::string command_line_of(const AdviceQuestion& question, const std::string& file);

}  // namespace draftscope::gui
