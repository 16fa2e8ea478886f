// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Figures that an import's source states of whole runs (`stated_figures` in meta), where no rows give them.

#include <draftscope/simulator/analysis/measured_recording.h>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace draftscope::simulator {

/// Object of the figures that are stated of the runs with this specification, as the file has them; empty if
/// there are none. `all` is the object `stated_figures` of meta.
[[nodiscard]] nlohmann::json stated_figures(const nlohmann::json& all, const std::string& specification);

/// Fills in figures that the rows of a run do not give and its source states, and names them in
/// Figures::stated. A stated speed of vanilla decoding gives the other runs' speedups.
void put_stated(RecordingFigures& figures, const traces::Meta& meta);

}  // namespace draftscope::simulator
