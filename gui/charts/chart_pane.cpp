// SPDX-License-Identifier: GPL-3.0-or-later
#include "chart_pane.h"

#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "charts/chart_plot.h"
#include "charts/export_dialog.h"

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

ExportButton::ExportButton(const QString& of, std::function<Chart()> chart, QWidget* parent)
    : QToolButton(parent), chart_(std::move(chart)) {
  setText(tr("Export figure…"));
  setAccessibleName(tr("Export figure: %1").arg(of));
  setToolTip(tr("Write this picture for a paper, its data, or a table of them"));
  setFocusPolicy(Qt::StrongFocus);
  setAutoRaise(true);
  setEnabled(false);
  connect(this, &QToolButton::clicked, this, [this] { ask_and_export({exportable(figure())}, *window()); });
}

ChartPane::ChartPane(const QString& name, QWidget* parent)
    : QWidget(parent),
      plot_(new ChartPlot(name)),
      button_(new ExportButton(name, [this] { return plot_->chart(); })) {
  setAccessibleName(tr("Pane: %1").arg(name));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(2);
  row_->addStretch(1);
  row_->addWidget(button_);
  column->addLayout(row_);
  column->addWidget(plot_, 1);
  why_empty_->setWordWrap(true);
  why_empty_->setAlignment(Qt::AlignCenter);
  why_empty_->hide();
  column->addWidget(why_empty_, 1);
}

void ChartPane::set_chart(Chart chart, const QString& why_empty) {
  const bool is_said = chart.empty() && !why_empty.isEmpty();
  why_empty_->setText(why_empty);
  why_empty_->setVisible(is_said);
  plot_->setVisible(!is_said);
  button_->setEnabled(!chart.empty());
  plot_->set_chart(std::move(chart));
}

}  // namespace draftscope::gui
