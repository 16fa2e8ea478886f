// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Finds every text that a widget draws, by whatever means, with its place, its colour and its background. A
// paint device records the drawing, so that labels, cells, charts and hand-painted texts are all seen.

#include <QColor>
#include <QRect>
#include <QString>
#include <QWidget>
#include <string>
#include <vector>

namespace draftscope::gui {

struct DrawnText {
  QString text;
  QRect box;    ///< the visible part, in pixels of the widget
  QRect whole;  ///< unclipped
  QColor ink;   ///< colour as seen, blended with the background
  QColor back;  ///< colour of most pixels under the text
};

/// Texts that leave at least a pixel in the widget, in drawing order.
[[nodiscard]] std::vector<DrawnText> drawn_texts(QWidget& widget);

/// Texts that are completely visible, in drawing order, with single spaces between.
[[nodiscard]] std::string words_on_screen(QWidget& widget);

}  // namespace draftscope::gui
