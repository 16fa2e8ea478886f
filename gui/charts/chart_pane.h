// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A widget that can export what it shows as a chart: a button that does, a plot with this button above its
// corner.

#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>
#include <QWidget>
#include <functional>
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

class ChartPlot;

/// The button "Export figure…" of one chart, enabled while there is a chart.
class ExportButton : public QToolButton, public FigureSource {
  Q_OBJECT

 public:
  /// `chart` returns the current chart.
  explicit ExportButton(const QString& of, std::function<Chart()> chart, QWidget* parent = nullptr);
  [[nodiscard]] Chart figure() const override { return isEnabled() ? chart_() : Chart(); }

 private:
  std::function<Chart()> chart_;
};

class ChartPane : public QWidget {
  Q_OBJECT

 public:
  explicit ChartPane(const QString& name, QWidget* parent = nullptr);
  /// Shows a chart; `why_empty` is shown instead of an empty one.
  void set_chart(Chart chart, const QString& why_empty = {});
  [[nodiscard]] ChartPlot& plot() const { return *plot_; }
  /// Adds a widget beside the button, above the plot.
  void add_control(QWidget* control) { row_->insertWidget(row_->count() - 2, control); }

 private:
  ChartPlot* plot_;
  QLabel* why_empty_ = new QLabel;
  ExportButton* button_;
  QHBoxLayout* row_ = new QHBoxLayout;
};

}  // namespace draftscope::gui
