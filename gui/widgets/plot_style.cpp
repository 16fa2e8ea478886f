// SPDX-License-Identifier: GPL-3.0-or-later
#include "plot_style.h"

#include <array>

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

}  // namespace draftscope::gui
