// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A picture of decisions over the rounds of a run: lines, rows of exits, or shares of words. It is summed up,
// so that drawing any stretch costs time per pixel only. Of several decisions at one round the last counts.
// Immutable once made.

#include <string>
#include <vector>

#include "data/decisions/decision_pictures.h"
#include "data/sum_pyramid.h"

namespace draftscope::gui {

/// Rounds [first, last) of the run during which the strategy did one thing: it searched, or had stopped.
struct DecisionPhase {
  std::size_t first = 0;
  std::size_t last = 0;
  std::string name;
};

struct RoundsPicture {
  const DecisionPicture* picture = nullptr;
  std::vector<std::string> names;     ///< Names of the lines; for exits "exit 3".
  std::vector<ValuePyramid> values;   ///< [line][place] NaN where no decision was made.
  ValuePyramid chosen;                ///< [place] Chosen exit; empty unless exits are shown.
  std::vector<std::string> words;     ///< Words for marks and shares, in the order of their first use.
  std::vector<std::uint32_t> word;    ///< [place] Index into `words`; no_index = no word.
  std::vector<bool> adopted;          ///< [place]
  std::vector<std::uint32_t> places;  ///< Places with a decision, rising, each once.
  std::vector<DecisionPhase> phases;
  double top = 1.0;                                 ///< Upper end of the value axis.
  double bottom = 0.0;                              ///< Lower end of the value axis.
  std::vector<std::vector<std::uint32_t>> counted;  ///< [word][place] Uses of the word before the place.

  [[nodiscard]] std::size_t rounds() const { return word.size(); }
  /// Share of the decisions at the rounds [first, last) that said the word; 0 where none said any.
  [[nodiscard]] double share(std::size_t word_index, std::size_t first, std::size_t last) const;
  /// The next place with a decision on the side that `by` points to, or the nearest one to `place` if `by` is
  /// 0. no_index if there is none.
  [[nodiscard]] std::uint32_t place_near(std::size_t place, int by) const;
};

/// `picture` is a picture of lines, exits or shares that the run has. For a filtered recording
/// (OpenedRecording), places count only the rounds that the filter leaves. O(decisions and rounds).
[[nodiscard]] RoundsPicture rounds_picture(const DecisionHistory& history, const OpenedRecording& shown,
                                           std::size_t run_index, const DecisionPicture& picture);

}  // namespace draftscope::gui
