// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/simulator/analysis/what_is_traced.h>

namespace draftscope::simulator {

std::string what_is_traced(const traces::Meta& meta) {
  if (meta_value(meta, "device_trace") != "node") return {};
  return "Every kernel was traced, which slows rounds: shares hold, speeds and gaps do not.";
}

}  // namespace draftscope::simulator
