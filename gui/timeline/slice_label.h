// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What is written into a slice, and where it may be cut to fit.

#include <QString>
#include <QVarLengthArray>

#include "data/lanes/timeline.h"
#include "data/opened_recording.h"

namespace draftscope::gui {

struct SliceLabel {
  QString words;
  /// Lengths of its beginnings that say something, the longest first: all of it, without the time, and what
  /// tells it from others.
  QVarLengthArray<qsizetype, 3> lengths;
};

/// Words for a slice: "#41 4/4+1 723 µs" for a round (its place in the run, accepted of drafted tokens and
/// the target's own, its time), "q9·0 coding 1.2 s" for a request, "L3 181 µs" for a layer, the tokens with
/// their confidence for a draft step, a name and its time for others.
[[nodiscard]] SliceLabel slice_label(const OpenedRecording& opened, const Timeline& timeline,
                                     const Lane& lane, std::size_t index);

/// "q9·0 coding": question, repeat, category; of which "q9·0" tells it from others.
[[nodiscard]] SliceLabel request_label(const OpenedRecording& opened, const traces::Request& request);

}  // namespace draftscope::gui
