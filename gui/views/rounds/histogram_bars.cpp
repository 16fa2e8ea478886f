// SPDX-License-Identifier: GPL-3.0-or-later
#include "histogram_bars.h"

#include <QHelpEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "widgets/theme.h"
#include "widgets/time_text.h"
#include "widgets/tool_tip.h"

namespace draftscope::gui {

HistogramBars::HistogramBars(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Rounds that the filter leaves, among all of the run"));
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void HistogramBars::show_histogram(FilterHistogram histogram) {
  histogram_ = std::move(histogram);
  setAccessibleDescription(histogram_.all.empty() || histogram_.field == nullptr
                               ? QString()
                               : tr("%1 from %2 to %3")
                                     .arg(QString::fromUtf8(histogram_.field->name.data()),
                                          value_text(histogram_.low), value_text(histogram_.high)));
  update();
}

QString HistogramBars::value_text(double value) const {
  return histogram_.field != nullptr && histogram_.field->kind == FilterKind::time
             ? duration_text(std::llround(value))
             : number_text(value);
}

QString HistogramBars::bin_text(std::size_t bin) const {
  const auto bins = static_cast<double>(std::max<std::size_t>(histogram_.all.size() - 1, 1));
  const double value = histogram_.low + (histogram_.high - histogram_.low) * static_cast<double>(bin) / bins;
  return tr("%1 about %2: %3 of %4 rounds are left")
      .arg(QString::fromUtf8(histogram_.field->name.data()), value_text(value))
      .arg(histogram_.left[bin])
      .arg(histogram_.all[bin]);
}

void HistogramBars::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.fillRect(rect(), palette().color(QPalette::Base));
  if (histogram_.all.empty()) return;
  const auto bins = static_cast<int>(histogram_.all.size());
  const std::uint32_t most = std::max(1U, *std::max_element(histogram_.all.begin(), histogram_.all.end()));
  const int foot = height() - painter.fontMetrics().height() - 1;
  const auto bar = [&](int bin, std::uint32_t count) {
    const int left = bin * width() / bins;
    // Roots, so that few beside many can be seen.
    const int tall = static_cast<int>(std::ceil(std::sqrt(static_cast<double>(count) / most) * (foot - 1)));
    return QRect(left, foot - tall, std::max(1, (bin + 1) * width() / bins - left - 1), tall);
  };
  const QColor left_color = phase_color(traces::Phase::verify, is_dark(palette()));
  for (int bin = 0; bin < bins; ++bin) {
    const auto at = static_cast<std::size_t>(bin);
    painter.fillRect(bar(bin, histogram_.all[at]),
                     QBrush(palette().color(QPalette::WindowText), Qt::Dense6Pattern));
    painter.fillRect(bar(bin, histogram_.left[at]), left_color);
  }
  painter.setPen(palette().color(QPalette::WindowText));
  const QRect words(2, foot, width() - 4, height() - foot);
  painter.drawText(words, Qt::AlignLeft, value_text(histogram_.low));
  painter.drawText(words, Qt::AlignRight, value_text(histogram_.high));
  painter.drawText(words, Qt::AlignHCenter, QString::fromUtf8(histogram_.field->name.data()));
}

bool HistogramBars::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const auto bins = static_cast<int>(histogram_.all.size());
  show_tip(*help, *this,
           bins == 0 ? QString()
                     : bin_text(static_cast<std::size_t>(
                           std::clamp(help->pos().x() * bins / std::max(width(), 1), 0, bins - 1))));
  return true;
}

}  // namespace draftscope::gui
