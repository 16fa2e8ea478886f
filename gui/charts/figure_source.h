// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A widget that can export what it shows as a chart.

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

  /// The current chart; empty while there is none.
  [[nodiscard]] virtual Chart figure() const = 0;
};

/// A source, and the widget that implements it.
struct PlacedFigure {
  const QWidget* widget = nullptr;
  const FigureSource* source = nullptr;
};

/// Sources that the widget is or contains, from the top and the left.
[[nodiscard]] std::vector<PlacedFigure> figure_sources(const QWidget& widget);

}  // namespace draftscope::gui
