// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/answers/simulate_trace.h"

#include <utility>

namespace draftscope::cli {

Result<void> check_write(const SimulateOptions& options, const std::vector<simulator::Machine>& machines) {
  if (options.write && machines.size() != 1)
    return fail("--write {}: found {} machines, expected one, whose vanilla run speedups refer to",
                *options.write, machines.size());
  return {};
}

Result<void> write_answers(const SimulateOptions& options, const simulator::WhatIf& what_if,
                           const traces::Recording& recording, simulator::PredictedTrace trace) {
  trace.meta = {{"tool_version", DRAFTSCOPE_VERSION}};
  trace.overwrite = options.overwrite;
  if (auto written = simulator::write_predicted_trace(what_if, recording, trace, *options.write); !written)
    return fail("--write: {}", written.error().message);
  return {};
}

}  // namespace draftscope::cli
