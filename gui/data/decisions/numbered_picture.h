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

}  // namespace draftscope::gui
