// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What is written into a slice, and how it is made to fit.

#include <QFont>
#include <QPainter>
#include <QRect>
#include <QStringList>
#include <array>

#include "data/lanes/timeline.h"
#include "data/opened_recording.h"

namespace draftscope::gui {

/// Words for a slice, the longest first: "#41 4/4+1 723 µs" for a round (its place in the run, accepted of
/// drafted tokens and the target's own, its time), "q9·0 coding" for a request, "L3 181 µs" for a layer, the
/// tokens with their confidence for a draft step, a name and its time for others.
[[nodiscard]] QStringList slice_labels(const OpenedRecording& opened, const Timeline& timeline,
                                       const Lane& lane, std::size_t index);

/// "q9·0 coding": question, repeat, category.
[[nodiscard]] QString request_label(const OpenedRecording& opened, const traces::Request& request);

/// Widths of texts, far sooner than a layout of them: labels are measured by the hundred in a frame.
class LabelWidths {
 public:
  explicit LabelWidths(const QFont& font);

  [[nodiscard]] int of(const QString& text) const;
  /// The first text that fits into a width, or the last one cut with "…"; empty where not even that fits.
  [[nodiscard]] QString fitting(const QStringList& texts, int width) const;

 private:
  QFontMetrics metrics_;
  std::array<int, 256> latin_{};
};

}  // namespace draftscope::gui
