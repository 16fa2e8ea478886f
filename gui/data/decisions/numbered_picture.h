// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Lines over what is numbered and is no round: how much sets of layers have in common by how far apart they
// were chosen, and the trials of a search. Immutable once made.

#include <draftscope/speculation/policy_file.h>
#include <string>
#include <vector>

#include "data/decisions/decision_history.h"

namespace draftscope::gui {

struct NumberedLine {
  std::string name;
  std::vector<double> values;  ///< [place]; not a number where there is none
};

struct NumberedPicture {
  std::string x_title;
  std::vector<std::string> labels;   ///< [place] on the axis
  std::vector<std::string> details;  ///< [place] a line for people
  std::vector<NumberedLine> lines;
  std::vector<std::string> words;   ///< Words that tell marks apart, in the order of their first use.
  std::vector<std::uint32_t> word;  ///< [place] index into `words`; empty where nothing does
  double top = 1.0;                 ///< End of the axis, which begins at 0.
};

/// CLaSp, Fig. 3a.
[[nodiscard]] NumberedPicture gaps_picture(const simulator::RunDecisions& run);

/// Score and best score of each trial, marks by what proposed it (Draft & Verify, Fig. 4 and 8).
[[nodiscard]] NumberedPicture search_picture(const speculation::PolicyFile& policy);

}  // namespace draftscope::gui
