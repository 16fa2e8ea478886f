// SPDX-License-Identifier: GPL-3.0-or-later
#include "plot_style.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "widgets/theme.h"

namespace draftscope::gui {

void apply_look(QCustomPlot& plot, const QPalette& palette) {
  const QColor text = palette.color(QPalette::WindowText);
  plot.setBackground(palette.color(QPalette::Base));
  for (QCPAxisRect* area : plot.axisRects())
    for (QCPAxis* axis : area->axes()) {
      axis->setBasePen(text);
      axis->setTickPen(text);
      axis->setSubTickPen(text);
      axis->setTickLabelColor(text);
      axis->setLabelColor(text);
      axis->grid()->setPen(grid_color(palette));
      axis->grid()->setSubGridVisible(false);
      axis->grid()->setZeroLinePen(grid_color(palette));
    }
  if (plot.legend != nullptr) {
    plot.legend->setBrush(palette.color(QPalette::Base));
    plot.legend->setBorderPen(grid_color(palette));
    plot.legend->setTextColor(text);
  }
  plot.setNoAntialiasingOnDrag(true);
}

QColor series_color(std::size_t index, bool dark) {
  struct Pair {
    QRgb light;
    QRgb dark;
  };
  static constexpr std::array<Pair, 8> colors{{{0xff3b3b3b, 0xffd0d0d0},
                                               {0xff0072b2, 0xff4c9fd6},
                                               {0xffd55e00, 0xffff8c42},
                                               {0xff009e73, 0xff2fbf95},
                                               {0xffcc79a7, 0xffd98bb8},
                                               {0xff8a8a3c, 0xffb5b55a},
                                               {0xff56b4e9, 0xff8fd0f5},
                                               {0xffe69f00, 0xfff0b429}}};
  const Pair& pair = colors[index == 0 ? 0 : 1 + (index - 1) % (colors.size() - 1)];
  return QColor::fromRgb(dark ? pair.dark : pair.light);
}

QCPScatterStyle::ScatterShape series_shape(std::size_t index) {
  static constexpr std::array<QCPScatterStyle::ScatterShape, 6> shapes{
      QCPScatterStyle::ssCircle,  QCPScatterStyle::ssSquare, QCPScatterStyle::ssTriangle,
      QCPScatterStyle::ssDiamond, QCPScatterStyle::ssCross,  QCPScatterStyle::ssTriangleInverted};
  return shapes[index % shapes.size()];
}

namespace {

struct Ends {
  QRgb slow;
  QRgb middle;
  QRgb fast;
};

constexpr Ends light_ends{0xffb34700, 0xfff4f2ec, 0xff00569a};
constexpr Ends dark_ends{0xffff9145, 0xff2b2e33, 0xff62b4ee};

}  // namespace

QColor diverging_color(double speedup, double limit, bool dark) {
  const Ends& ends = dark ? dark_ends : light_ends;
  const double place = speedup > 0.0 ? std::clamp(std::log(speedup) / std::log(limit), -1.0, 1.0) : -1.0;
  return blended(QColor::fromRgb(ends.middle), QColor::fromRgb(place < 0.0 ? ends.slow : ends.fast),
                 std::isnan(place) ? 0.0 : std::abs(place));
}

double scale_limit_for(double speedup) {
  constexpr std::array<double, 9> limits{1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 16.0, 32.0};
  const double far = speedup > 0.0 ? std::max(speedup, 1.0 / speedup) : limits.back();
  const auto found = std::find_if(limits.begin(), limits.end(), [&](double limit) { return limit >= far; });
  return found == limits.end() ? limits.back() : *found;
}

QPalette paper_palette() {
  QPalette palette{QColor(Qt::white)};
  palette.setColor(QPalette::Base, Qt::white);
  for (const QPalette::ColorRole role : {QPalette::Text, QPalette::WindowText, QPalette::ButtonText})
    palette.setColor(role, Qt::black);
  return palette;
}

}  // namespace draftscope::gui
