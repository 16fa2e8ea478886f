// SPDX-License-Identifier: GPL-3.0-or-later
#include "theme.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace draftscope::gui {

namespace {

struct Pair {
  QRgb light;
  QRgb dark;
};

QColor of(const Pair& pair, bool dark) {
  return QColor::fromRgb(dark ? pair.dark : pair.light);
}

constexpr std::array<Pair, traces::phase_count> phases{{
    {0xff8c9bab, 0xff6f8093},  // prefill
    {0xffe69f00, 0xfff0b429},  // draft
    {0xff0072b2, 0xff4c9fd6},  // verify
    {0xff009e73, 0xff2fbf95},  // accept
    {0xffcc79a7, 0xffd98bb8},  // optimise
    {0xff8a8a3c, 0xffb5b55a},  // control
    {0xff5f5f5f, 0xff9a9a9a},  // sync
    {0xffe4e4e4, 0xff3a3d41},  // idle
}};

/// Relative luminance of WCAG 2.
double luminance(const QColor& color) {
  const auto linear = [](double channel) {
    return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
}

}  // namespace

bool is_dark(const QPalette& palette) {
  return palette.color(QPalette::Window).lightness() < palette.color(QPalette::WindowText).lightness();
}

QColor phase_color(traces::Phase phase, bool dark) {
  return of(phases[std::min<std::size_t>(static_cast<std::size_t>(phase), phases.size() - 1)], dark);
}

QColor origin_color(TokenOrigin origin, bool dark) {
  switch (origin) {
    case TokenOrigin::accepted:
      return of({0xffbfe8d9, 0xff14543f}, dark);
    case TokenOrigin::bonus:
      return of({0xffcfe3f5, 0xff1d4566}, dark);
    case TokenOrigin::prefill:
      break;
  }
  return of({0xffe6e6e6, 0xff44474b}, dark);
}

QColor rejected_color(bool dark) {
  return of({0xffb04d00, 0xffff8c42}, dark);
}

QColor untested_color(bool dark) {
  return of({0xff8b8b9c, 0xff84848f}, dark);
}

QColor scale_color(double share, bool dark) {
  // Lightness changes evenly from the background to the strongest colour, through one hue (like Cividis: blue
  // to yellow).
  static constexpr std::array<Pair, 6> stops{{{0xfff1efe7, 0xff2a2d31},
                                              {0xffd9d7b0, 0xff2f4a63},
                                              {0xffa9bf96, 0xff456d83},
                                              {0xff6f9d8f, 0xff73947f},
                                              {0xff3d7384, 0xffb8b35d},
                                              {0xff1d4568, 0xfff5e04b}}};
  const double place = std::clamp(std::isnan(share) ? 0.0 : share, 0.0, 1.0) * (stops.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(place), stops.size() - 2);
  return blended(of(stops[below], dark), of(stops[below + 1], dark), place - static_cast<double>(below));
}

QColor blended(const QColor& from, const QColor& to, double share) {
  const auto mix = [&](int a, int b) { return static_cast<int>(std::lround(a + (b - a) * share)); };
  return {mix(from.red(), to.red()), mix(from.green(), to.green()), mix(from.blue(), to.blue())};
}

double contrast_of(const QColor& a, const QColor& b) {
  const double brighter = std::max(luminance(a), luminance(b));
  const double darker = std::min(luminance(a), luminance(b));
  return (brighter + 0.05) / (darker + 0.05);
}

QColor ink_on(const QColor& back) {
  // At 0.18 black and white have equal contrast.
  return luminance(back) > 0.18 ? Qt::black : Qt::white;
}

QColor grid_color(const QPalette& palette) {
  QColor color = palette.color(QPalette::WindowText);
  color.setAlpha(40);
  return color;
}

QColor cursor_color(bool dark) {
  return of({0xffb3003b, 0xffff6f91}, dark);
}

QColor selection_color(bool dark) {
  QColor color = of({0xff3a76c4, 0xff7fb2f0}, dark);
  color.setAlpha(60);
  return color;
}

}  // namespace draftscope::gui
