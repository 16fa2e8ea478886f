// SPDX-License-Identifier: GPL-3.0-or-later
#include "figure_source.h"

#include <algorithm>
#include <utility>

namespace draftscope::gui {

std::vector<PlacedFigure> figure_sources(const QWidget& widget) {
  std::vector<PlacedFigure> all;
  const auto add = [&](const QWidget* candidate) {
    if (const auto* source = dynamic_cast<const FigureSource*>(candidate); source != nullptr)
      all.push_back({candidate, source});
  };
  add(&widget);
  for (const QWidget* child : widget.findChildren<QWidget*>()) add(child);
  std::ranges::stable_sort(all, {}, [&](const PlacedFigure& figure) {
    const QPoint at = figure.widget == &widget ? QPoint() : figure.widget->mapTo(&widget, QPoint(0, 0));
    return std::pair(at.y(), at.x());
  });
  return all;
}

}  // namespace draftscope::gui
