// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A button that gives a chart to whoever writes files of it, and a plot with that button above its corner.

#include <QToolButton>
#include <QWidget>
#include <functional>

#include "charts/figure_source.h"

class QHBoxLayout;
class QLabel;

namespace draftscope::gui {

class ChartPlot;

/// "Export figure…" of one chart. Enabled while there is one.
class ExportButton : public QToolButton, public FigureSource {
  Q_OBJECT

 public:
  /// `chart` gives the chart as it is now.
  explicit ExportButton(const QString& of, std::function<Chart()> chart, QWidget* parent = nullptr);
  [[nodiscard]] Chart figure() const override { return isEnabled() ? chart_() : Chart(); }

 private:
  std::function<Chart()> chart_;
};

class ChartPane : public QWidget {
  Q_OBJECT

 public:
  explicit ChartPane(const QString& name, QWidget* parent = nullptr);
  /// The words stand in the place of an empty chart.
  void set_chart(Chart chart, const QString& why_empty = {});
  [[nodiscard]] ChartPlot& plot() const { return *plot_; }
  /// A widget beside the button, above the plot.
  void add_control(QWidget* control);

 private:
  ChartPlot* plot_;
  QLabel* why_empty_;
  ExportButton* button_;
  QHBoxLayout* row_;
};

}  // namespace draftscope::gui
