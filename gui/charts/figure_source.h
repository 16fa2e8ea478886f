// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A widget that gives a chart of what it shows to whoever writes files of it.

#include <QWidget>
#include <vector>

#include "charts/chart.h"

namespace draftscope::gui {

class FigureSource {
 public:
  FigureSource() = default;
  virtual ~FigureSource() = default;
  FigureSource(const FigureSource&) = delete;
  FigureSource& operator=(const FigureSource&) = delete;

  /// The chart as it is now; empty while there is none.
  [[nodiscard]] virtual Chart figure() const = 0;
};

/// A source, and the widget that it is.
struct PlacedFigure {
  const QWidget* widget = nullptr;
  const FigureSource* source = nullptr;
};

/// Sources that a widget is or has within it, from the top and the left.
[[nodiscard]] std::vector<PlacedFigure> figure_sources(const QWidget& widget);

}  // namespace draftscope::gui
