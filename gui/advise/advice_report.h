// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The advice of `draftscope advise` for a recording, by the same functions, with more detail: the closest
// competing settings with their answers, and the effect of threshold and length. Independent of Qt; takes
// seconds.

#include <draftscope/simulator/answers/advice.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "what_if/questions/question.h"
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

struct CurvePoint {
  double at = 0.0;  ///< Value of the parameter.
  AskedSetting asked;
};

/// Effect of one parameter of an early exit while the others stay: speedup, accepted length and acceptance.
struct SettingCurve {
  simulator::EarlyExitSetting of;  ///< Setting whose other parameters stay.
  std::vector<CurvePoint> points;  ///< Points in ascending order; points without an answer are left out.
  std::string refusal;             ///< Why there is no point; empty if there are some.
  std::string stands_in_for;       ///< Advised strategy that has nothing to vary; empty = none.
};

inline constexpr std::int32_t longest_on_curve = 17;

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
      settings;             ///< The considered ones, then the others, the fastest first; each once.
  SettingCurve thresholds;  ///< Over 0, 0.05, … 1, for drafts of at most the setting's length.
  SettingCurve lengths;     ///< Over 1 to longest_on_curve; the setting's threshold stays, if it has one.
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
