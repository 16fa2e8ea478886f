// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPointF>

class QPainter;

namespace draftscope::gui {

/// Pixels of the device that one of the painter's is in each direction, if they are a square of whole ones
/// and `at` is a corner of one: there a picture that was drawn apart is the same to the pixel. 0 otherwise,
/// and where the painter writes no pixels.
[[nodiscard]] int whole_pixels(const QPainter& painter, const QPointF& at);

}  // namespace draftscope::gui
