// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Simulated answers to settings that a finding suggests.

#include <draftscope/simulator/analysis/explain.h>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/explain/evidence.h"

namespace draftscope::simulator {

/// The remedies of a finding that the run can take, joined by semicolons.
[[nodiscard]] std::string remedies_for(const FindingRow& row, const Evidence& of);

/// Caches answers, because many findings suggest the same settings.
class Remedies {
 public:
  Remedies(const traces::Recording& recording, const ExplainOptions& options)
      : recording_(recording), options_(options) {}

  /// Fills in `simulated` and `simulation`: the fastest of the settings that the judgement names, compared
  /// with what the recording measured of this run and of its fastest one.
  void add_to(Finding& finding, const Judgement& judgement, const Diagnosis& diagnosis);

 private:
  [[nodiscard]] std::vector<std::string> settings_of(const Judgement& judgement,
                                                     const traces::Run& run) const;
  [[nodiscard]] const Result<SimulatedRemedy>& answer(const std::string& strategy);

  const traces::Recording& recording_;
  const ExplainOptions& options_;
  std::map<std::string, Result<SimulatedRemedy>> answers_;
};

}  // namespace draftscope::simulator
