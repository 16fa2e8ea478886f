// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/result.h>
#include <draftscope/traces/reader.h>
#include <vector>

namespace draftscope::simulator {

/// The depth-0 spans of a trace, which is what phase breakdowns need (a few a round).
[[nodiscard]] Result<std::vector<traces::Span>> read_phase_spans(traces::Reader& reader);

}  // namespace draftscope::simulator
