// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// An experiment that was made again: what it measured beside what was predicted before and what the
// publication prints (keys of the JSON document: cli/OUTPUT.md).

#include <draftscope/base/result.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/speculation/policy_file.h>
#include <optional>
#include <string>
#include <vector>

#include "report/answers/prediction_file.h"
#include "reproduce/experiments.h"
#include "reproduce/published_rows.h"
#include "reproduce/steps.h"
#include "terminal/glyphs.h"

namespace draftscope::cli {

struct Reproduction {
  const ExperimentRow* experiment = nullptr;
  std::vector<FilledSetting> settings;
  /// Absent for a search alone; then `policy` is there.
  std::optional<simulator::MeasuredRecording> measured;
  std::optional<speculation::PolicyFile> policy;
  std::optional<PredictionFile> prediction;
  std::string no_prediction;  ///< Why there is no prediction; empty if there is one.
  std::vector<PublishedRow> published;
};

/// Reads the files that the plan made. Errors: unreadable files; a recording with other runs than the plan's.
[[nodiscard]] Result<Reproduction> read_reproduction(const ExperimentRow& experiment, const Plan& plan);

[[nodiscard]] Result<std::string> reproduction_text(const Reproduction& reproduction, const Glyphs& glyphs);
[[nodiscard]] std::string reproduction_json(const Reproduction& reproduction);

}  // namespace draftscope::cli
