// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Lines over numbered items that are no rounds: the overlap of layer sets by the distance between their
// choices, and the trials of a search. Immutable once made.

#include <draftscope/speculation/policy_file.h>

#include <string>
#include <vector>

#include "data/decisions/decision_history.h"

namespace draftscope::gui {

struct NumberedLine {
  std::string name;
  std::vector<double> values;  ///< [place] NaN where there is no value.
};

struct NumberedPicture {
  std::string x_title;
  std::vector<std::string> labels;   ///< [place] Label on the axis.
  std::vector<std::string> details;  ///< [place] One line for people.
  std::vector<NumberedLine> lines;
  std::vector<std::string> words;   ///< Words that tell marks apart, in the order of their first use.
  std::vector<std::uint32_t> word;  ///< [place] Index into `words`; empty = no words.
  double top = 1.0;                 ///< End of the axis, which begins at 0.
};

/// Overlap of layer sets (CLaSp, Fig. 3a).
[[nodiscard]] NumberedPicture gaps_picture(const simulator::RunDecisions& run);

/// Score and best score of each trial, marked by what proposed it (Draft & Verify).
[[nodiscard]] NumberedPicture search_picture(const speculation::PolicyFile& policy);

/// Exits by where they drafted: one row per exit, one column per category of prompts or per stretch of the
/// output (DEL chooses an exit each round).
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
