// SPDX-License-Identifier: GPL-3.0-or-later
// The boxes of a lane leave the same pixels as a QPainter, whatever their colours and places.
#include "timeline/lane_canvas.h"

#include <gtest/gtest.h>

#include <QImage>
#include <QPainter>
#include <random>
#include <utility>
#include <vector>

namespace draftscope::gui {
namespace {

TEST(LaneCanvases, LeaveThePixelsOfThePainter) {
  std::mt19937 random(7);
  const auto below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
  const auto any_color = [&](bool is_opaque) {
    const auto channel = [&] { return static_cast<quint16>(below(65536)); };
    return QColor::fromRgba64(channel(), channel(), channel(), is_opaque ? quint16{0xffff} : channel());
  };
  for (int trial = 0; trial < 200; ++trial) {
    const int scale = 1 + trial % 3;
    const QRect area(below(20), below(10), 1 + below(60), 1 + below(20));
    const QColor back(below(256), below(256), below(256));
    std::vector<std::pair<QRect, QColor>> boxes;
    for (int box = below(40); box > 0; --box)
      boxes.emplace_back(
          QRect(below(80) - 5, below(30) - 5, 1 + below(trial % 2 == 0 ? 3 : 30), 1 + below(20)) & area,
          any_color(below(4) != 0));
    const auto drawn = [&](const QColor& behind) {
      QImage image(QSize(90, 40) * scale, QImage::Format_ARGB32_Premultiplied);
      image.setDevicePixelRatio(scale);
      image.fill(back);
      QPainter painter(&image);
      {
        LaneCanvas canvas(painter, area, behind);
        for (const auto& [box, color] : boxes) canvas.fill(box, color);
      }
      painter.end();
      return image;
    };
    ASSERT_EQ(drawn(back), drawn({})) << "trial " << trial;
  }
}

}  // namespace
}  // namespace draftscope::gui
