// SPDX-License-Identifier: GPL-3.0-or-later
#include "phase_legend.h"

#include <QPainter>
#include <QStringList>

#include "widgets/legend_row.h"
#include "widgets/theme.h"

namespace draftscope::gui {

namespace {

QString name_in_legend(traces::Phase phase) {
  const std::string_view name = traces::phase_name(phase);
  return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
}

}  // namespace

PhaseLegend::PhaseLegend(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Colours of the phases"));
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  std::vector<traces::Phase> all;
  all.reserve(traces::phase_count);
  for (int i = 0; i < traces::phase_count; ++i) all.push_back(static_cast<traces::Phase>(i));
  set_phases(std::move(all));
}

void PhaseLegend::set_phases(std::vector<traces::Phase> phases) {
  phases_ = std::move(phases);
  QStringList names;
  QString tip;
  for (const traces::Phase phase : phases_) {
    names << name_in_legend(phase);
    tip += QStringLiteral("<div><span style='background:%1'>&nbsp;&nbsp;&nbsp;&nbsp;</span> %2</div>")
               .arg(phase_color(phase, is_dark(palette())).name(), names.back());
  }
  setToolTip(tip);
  setAccessibleDescription(names.join(QStringLiteral(", ")));
  update();
}

QSize PhaseLegend::sizeHint() const {
  return {560, fontMetrics().height() + 6};
}

void PhaseLegend::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  LegendRow legend(painter, palette(), rect());
  for (const traces::Phase phase : phases_)
    legend.add(phase_color(phase, is_dark(palette())), name_in_legend(phase));
}

}  // namespace draftscope::gui
