// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A picture of decisions over the rounds of a run: lines, rows of exits, or shares of words, summed up so
// that any stretch of a long run costs what its pixels cost. Of several decisions at one round the last
// counts. Immutable once made.

#include <string>
#include <vector>

#include "data/decisions/decision_pictures.h"
#include "data/value_pyramid.h"

namespace draftscope::gui {

/// Rounds [first, last) of the run during which the strategy did one thing: searched, had stopped.
struct DecisionPhase {
  std::size_t first = 0;
  std::size_t last = 0;
  std::string name;
};

struct RoundsPicture {
  const DecisionPicture* picture = nullptr;
  std::vector<std::string> names;     ///< Names of the lines; of exits "exit 3".
  std::vector<ValuePyramid> values;   ///< [line][place]; not a number where no decision was made
  ValuePyramid chosen;                ///< [place] the exit that was chosen; empty unless exits are shown
  std::vector<std::string> words;     ///< that tell marks and shares apart, in the order of their first use
  std::vector<std::uint32_t> word;    ///< [place] index into `words`; no_index without one
  std::vector<bool> adopted;          ///< [place]
  std::vector<std::uint32_t> places;  ///< with a decision, rising, each once
  std::vector<DecisionPhase> phases;
  double top = 1.0;                                 ///< Ends of the axis of values.
  double bottom = 0.0;                              ///< likewise
  std::vector<std::vector<std::uint32_t>> counted;  ///< [word][place] how often it was said before the place

  [[nodiscard]] std::size_t rounds() const { return word.size(); }
  /// Share of the decisions at the rounds [first, last) that said the word; 0 where none said any.
  [[nodiscard]] double share(std::size_t word_index, std::size_t first, std::size_t last) const;
  /// The place of a decision next to a round's on either side, or nearest to it if `by` is 0; no_index if
  /// there is none.
  [[nodiscard]] std::uint32_t place_near(std::size_t place, int by) const;
};

/// `picture` is one of lines, exits or shares that the run has. Of a filtered recording (OpenedRecording)
/// places are among the rounds that it leaves. O(decisions and rounds).
[[nodiscard]] RoundsPicture rounds_picture(const DecisionHistory& history, const OpenedRecording& shown,
                                           std::size_t run_index, const DecisionPicture& picture);

}  // namespace draftscope::gui
