// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The text written into a slice, and where it may be cut to fit.

#include <QString>
#include <QVarLengthArray>

#include "data/lanes/timeline.h"
#include "data/opened_recording.h"

namespace draftscope::gui {

struct SliceLabel {
  QString words;
  /// Lengths of meaningful beginnings, the longest first, down to the part that tells it from others.
  QVarLengthArray<qsizetype, 3> lengths;
};

/// Label of a slice. A round has "#41 4/4+1 723 µs": its place in the run, accepted of drafted tokens and the
/// target's own, its time. A request has "q9·0 coding 1.2 s", a layer "L3 181 µs". A draft step has its
/// tokens with their confidence. A kernel has "L2 attention 75 µs AttentionKernel<Bf16, 128>": its operation,
/// its time, its name, and what the template is for. Other slices have name and time.
[[nodiscard]] SliceLabel slice_label(const OpenedRecording& opened, const Timeline& timeline,
                                     const Lane& lane, std::size_t index);

/// "q9·0 coding": question, repeat, category. The part "q9·0" tells it from others.
[[nodiscard]] SliceLabel request_label(const OpenedRecording& opened, const traces::Request& request);

/// Begin of a slice to the nanosecond: "#41 + 1.026 300 ms" after that of its round, else "16.123 456 ms"
/// after that of the recording.
[[nodiscard]] QString begin_text(const OpenedRecording& opened, const LaneSlice& slice);

}  // namespace draftscope::gui
