// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What `draftscope advise` says of a recording, by the same functions, and around it: the settings that
// compete most closely, each with its own answer, and what threshold and length do. Knows no Qt; takes
// seconds.

#include <draftscope/simulator/answers/advice.h>
#include <functional>
#include <string>
#include <vector>

#include "advise/setting_curves.h"
#include "what_if/questions/question.h"
#include "what_if/questions/trained_recording.h"

namespace draftscope::gui {

enum class Considered : std::uint8_t {
  everything,
  early_exits,
  recorded_runs,
};

struct AdviceQuestion {
  Question machine;  ///< its machine, model and circumstances; not its strategy
  Considered considered = Considered::everything;
  std::vector<std::string> strategies;  ///< considered besides, as on the command line
  std::string curves_of;                ///< a recorded run that is an early exit; empty: what is advised

  friend bool operator==(const AdviceQuestion& a, const AdviceQuestion& b) {
    return a.machine == b.machine && a.considered == b.considered && a.strategies == b.strategies &&
           a.curves_of == b.curves_of;
  }
};

/// Why a setting is listed.
enum class SettingRole : std::uint8_t {
  fastest,    ///< of all: what is advised, unless the verdict is against it
  runner_up,  ///< the fastest of another kind
  neighbour,  ///< one step from the fastest
  recorded,
  best_of_kind,
  close,  ///< among the fastest
};

struct ListedSetting {
  AskedSetting asked;
  SettingRole role = SettingRole::close;
  std::string change;                                  ///< of a neighbour: "E-1"
  std::optional<simulator::EarlyExitSetting> setting;  ///< if it is an early exit
  bool is_recorded = false;
  double relative = 0.0;  ///< its speedup / the fastest's − 1
};

struct AdviceReport {
  AdviceQuestion question;
  simulator::Machine machine;
  simulator::Advice advice;
  std::vector<ListedSetting> settings;  ///< the fastest first; each once
  SettingCurve thresholds;
  SettingCurve lengths;
};

/// Told of parts done in a thousand, often enough to stop by returning false: advice_of() then fails.
using AdviceProgress = std::function<bool(int thousandths)>;

/// Errors, one line: an imported recording, which says nothing of layers; those of candidates() and advise();
/// a machine that contradicts itself; nothing left to consider; stopped.
[[nodiscard]] Result<AdviceReport> advice_of(const TrainedRecording& trained, const AdviceQuestion& question,
                                             const AdviceProgress& progress = {});

/// The question of the what-if page about a setting on the report's machine.
[[nodiscard]] Question question_about(const AdviceReport& report, const ListedSetting& listed);

/// Command line of draftscope advise that says the same, all kinds considered.
[[nodiscard]] std::string command_line_of(const AdviceQuestion& question, const std::string& file);

}  // namespace draftscope::gui
