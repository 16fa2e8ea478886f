// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Exits by where they drafted: one row per exit, one column per category of prompts or per stretch of the
// output (DEL chooses an exit each round).

#include <string>
#include <vector>

#include "data/decisions/decision_history.h"

namespace draftscope::gui {

struct ExitCell {
  std::int64_t rounds = 0;
  std::int64_t drafted = 0;
  std::int64_t accepted = 0;
};

struct ExitGrid {
  std::vector<std::int32_t> exits;  ///< Exit layers, rising.
  std::vector<std::string> columns;
  std::vector<std::vector<ExitCell>> cells;  ///< [exit][column]

  /// Share of the column's rounds; 0 in an empty column.
  [[nodiscard]] double share(std::size_t row, std::size_t column) const;
};

[[nodiscard]] ExitGrid exits_by_category(const simulator::RunDecisions& run);

/// Divides the outputs into stretches of equal length, so that the longest output has at most 16. A round
/// counts where it began.
[[nodiscard]] ExitGrid exits_by_segment(const OpenedRecording& opened, std::size_t run_index);

}  // namespace draftscope::gui
