// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/figures/phase_spans.h"

namespace draftscope::simulator {

Result<std::vector<traces::Span>> read_phase_spans(traces::Reader& reader) {
  std::vector<traces::Span> phases;
  DRAFTSCOPE_TRY(reader.spans([&phases](const traces::Span& span) {
    if (span.depth == 0) phases.push_back(span);
    return true;
  }));
  return phases;
}

}  // namespace draftscope::simulator
