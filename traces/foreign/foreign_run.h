// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/traces/records.h>

#include <string>

namespace draftscope::traces {

/// A run of another engine, by its specification. Vanilla decoding is a baseline, whether that was said or
/// not.
inline Run foreign_run(const std::string& specification, bool is_baseline, const std::string& parameters) {
  Run run;
  run.strategy = specification.substr(0, specification.find(':'));
  run.specification = specification;
  run.parameters = parameters;
  run.is_baseline = is_baseline || run.strategy == "vanilla";
  return run;
}

}  // namespace draftscope::traces
