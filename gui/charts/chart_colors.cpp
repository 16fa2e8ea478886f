// SPDX-License-Identifier: GPL-3.0-or-later
#include "chart_colors.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace draftscope::gui {

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
  const QColor from = QColor::fromRgb(ends.middle);
  const QColor to = QColor::fromRgb(place < 0.0 ? ends.slow : ends.fast);
  const double part = std::isnan(place) ? 0.0 : std::abs(place);
  const auto mix = [&](int a, int b) { return static_cast<int>(std::lround(a + (b - a) * part)); };
  return {mix(from.red(), to.red()), mix(from.green(), to.green()), mix(from.blue(), to.blue())};
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
