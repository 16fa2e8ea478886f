// SPDX-License-Identifier: GPL-3.0-or-later
#include "answer_bars.h"

#include <QPainter>
#include <algorithm>
#include <vector>

#include "views/plot_style.h"
#include "views/theme.h"
#include "views/time_text.h"

namespace draftscope::gui {

namespace {

using simulator::Interval;

struct Gauge {
  QString name;
  std::vector<double> values;  ///< both bounds of a bounded answer
  std::optional<Interval> of_80, of_95;
  double vanilla = 1.0;
  QString words;
};

QString range_text(const std::optional<Interval>& interval) {
  return interval ? QStringLiteral("%1–%2").arg(number_text(interval->low), number_text(interval->high))
                  : QStringLiteral("–");
}

QString values_text(const std::vector<double>& values, const QString& unit) {
  if (values.size() < 2 || values.front() == values.back()) return number_text(values.front()) + unit;
  const auto [least, most] = std::minmax(values.front(), values.back());
  return QStringLiteral("%1–%2%3").arg(number_text(least), number_text(most), unit);
}

QString intervals_text(const Gauge& gauge) {
  return gauge.of_95
             ? AnswerBars::tr("80 %  %1   95 %  %2").arg(range_text(gauge.of_80), range_text(gauge.of_95))
             : AnswerBars::tr("no interval (see the notes)");
}

Gauge rate_gauge(const WhatIfAnswer& answer) {
  Gauge gauge{AnswerBars::tr("tokens/s"),
              {answer.rate.min_drafted.value},
              answer.rate.interval_80(),
              answer.rate.interval_95(),
              answer.prediction.vanilla_tokens_per_second,
              {}};
  if (answer.rate.max_drafted) gauge.values.push_back(answer.rate.max_drafted->value);
  gauge.words = values_text(gauge.values, {});
  return gauge;
}

Gauge speedup_gauge(const WhatIfAnswer& answer) {
  const simulator::PredictedSpeedup& speedup = answer.prediction.speedup;
  Gauge gauge{AnswerBars::tr("speedup"),
              {speedup.min_drafted.total.value},
              outermost_interval_80(speedup),
              outermost_interval_95(speedup),
              1.0,
              {}};
  if (speedup.max_drafted) gauge.values.push_back(speedup.max_drafted->total.value);
  gauge.words = values_text(gauge.values, QStringLiteral("×"));
  return gauge;
}

}  // namespace

void AnswerBars::set_answer(std::shared_ptr<const WhatIfAnswer> answer) {
  answer_ = std::move(answer);
  QStringList spoken;
  for (const Gauge& gauge : {rate_gauge(*answer_), speedup_gauge(*answer_)})
    spoken << tr("%1 %2, 80 % %3, 95 % %4")
                  .arg(gauge.name, gauge.words, range_text(gauge.of_80), range_text(gauge.of_95));
  setAccessibleDescription(spoken.join(u"; "));
  set_message({});
}

void AnswerBars::paint(QPainter& painter) {
  if (answer_ == nullptr) return;
  const bool dark = is_dark(palette());
  const QColor text = palette().color(QPalette::WindowText);
  const QColor color = series_color(1, dark);
  QFont large = font();
  large.setBold(true);
  large.setPointSizeF(1.5 * font().pointSizeF());
  constexpr int margin = 10;
  const std::array<Gauge, 2> gauges{rate_gauge(*answer_), speedup_gauge(*answer_)};
  int text_width = 200;
  for (const Gauge& gauge : gauges)
    text_width = std::max(text_width, fontMetrics().horizontalAdvance(intervals_text(gauge)) + 16);
  const int left = margin + text_width;
  const int room = std::max(40, width() - left - 2 * margin);
  const int step = (height() - 20) / 2;
  int top = 4;
  for (std::size_t i = 0; i < gauges.size(); ++i) {
    const Gauge& gauge = gauges[i];
    double most = gauge.vanilla;
    for (const double value : gauge.values) most = std::max(most, value);
    if (gauge.of_95) most = std::max(most, gauge.of_95->high);
    constexpr double headroom = 1.12;
    constexpr double too_far = 2.5;
    if (ends_[i] < most || ends_[i] > too_far * most) ends_[i] = headroom * most;
    const auto x = [&](double value) { return left + value / ends_[i] * room; };
    const double middle = top + 0.42 * step;
    painter.setPen(text);
    painter.setFont(large);
    painter.drawText(
        QRect(margin, top, text_width - 8, 3 * step / 5), Qt::AlignLeft | Qt::AlignVCenter,
        gauge.words + (gauge.name == tr("speedup") ? QString() : QStringLiteral(" ") + gauge.name));
    painter.setFont(font());
    painter.drawText(QRect(margin, top + 3 * step / 5, text_width - 8, 2 * step / 5),
                     Qt::AlignLeft | Qt::AlignVCenter, intervals_text(gauge));
    painter.setPen(grid_color(palette()));
    painter.drawLine(QPointF(left, middle), QPointF(left + room, middle));
    painter.setPen(QPen(text, 1.0, Qt::DashLine));
    painter.drawLine(QPointF(x(gauge.vanilla), top + 4), QPointF(x(gauge.vanilla), top + step - 14));
    painter.setPen(text);
    painter.drawText(QRectF(x(gauge.vanilla) - 80, top + step - 15, 160, 15), Qt::AlignCenter,
                     tr("vanilla %1").arg(number_text(gauge.vanilla)));
    const auto span = [&](const std::optional<Interval>& interval, double thickness) {
      if (!interval) return;
      painter.setPen(QPen(color, thickness, Qt::SolidLine, Qt::FlatCap));
      painter.drawLine(QPointF(x(interval->low), middle), QPointF(x(interval->high), middle));
    };
    span(gauge.of_95, 2.5);
    if (gauge.of_95) {
      painter.setPen(QPen(color, 2.0));
      for (const double end : {gauge.of_95->low, gauge.of_95->high})
        painter.drawLine(QPointF(x(end), middle - 6), QPointF(x(end), middle + 6));
    }
    span(gauge.of_80, 8.0);
    painter.setPen(QPen(palette().color(QPalette::Base), 2.0));
    painter.setBrush(text);
    for (const double value : gauge.values) painter.drawEllipse(QPointF(x(value), middle), 6.0, 6.0);
    painter.setBrush(Qt::NoBrush);
    top += step + 10;
  }
}

}  // namespace draftscope::gui
