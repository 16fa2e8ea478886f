// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Every text that a widget draws, by whatever means: where, in which colour, and on which background. A paint
// device takes the drawing, so that labels, cells, charts and what is painted by hand are all seen.

#include <QColor>
#include <QRect>
#include <QString>
#include <QWidget>
#include <string>
#include <vector>

namespace draftscope::gui {

struct DrawnText {
  QString text;
  QRect box;    ///< pixels of the widget, without what was clipped away
  QRect whole;  ///< with it
  QColor ink;   ///< as it is seen: blended with the background
  QColor back;  ///< the colour of most pixels behind it
};

/// Texts that leave at least a pixel in the widget, in the order in which they were drawn.
[[nodiscard]] std::vector<DrawnText> drawn_texts(QWidget& widget);

/// Those that can be seen whole, in the same order, with single spaces between.
[[nodiscard]] std::string words_on_screen(QWidget& widget);

}  // namespace draftscope::gui
