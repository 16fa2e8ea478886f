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

constexpr int margin = 10;
constexpr int min_gauge_width = 60;

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

/// The axis' end stays while it can.
void fit_end(double& end, const Gauge& gauge) {
  double max = gauge.vanilla;
  for (const double value : gauge.values) max = std::max(max, value);
  if (gauge.of_95) max = std::max(max, gauge.of_95->high);
  constexpr double headroom = 1.12;
  constexpr double too_far = 2.5;
  if (end < max || end > too_far * max) end = headroom * max;
}

QFont large_font(const QFont& font) {
  QFont large = font;
  large.setBold(true);
  large.setPointSizeF(1.5 * font.pointSizeF());
  return large;
}

QString headline(const Gauge& gauge) {
  return gauge.words +
         (gauge.name == AnswerBars::tr("speedup") ? QString() : QStringLiteral(" ") + gauge.name);
}

/// Room for the words beside a gauge.
int words_width(const Gauge& gauge, const QFont& font) {
  return std::max(QFontMetrics(large_font(font)).horizontalAdvance(headline(gauge)),
                  QFontMetrics(font).horizontalAdvance(intervals_text(gauge)));
}

void paint_text(QPainter& painter, const Gauge& gauge, const QRect& box, const QFont& font,
                const QPalette& palette) {
  const int above = 3 * box.height() / 5;
  painter.setPen(palette.color(QPalette::WindowText));
  painter.setFont(large_font(font));
  painter.drawText(QRect(box.left(), box.top(), box.width(), above), Qt::AlignLeft | Qt::AlignVCenter,
                   headline(gauge));
  painter.setFont(font);
  painter.drawText(QRect(box.left(), box.top() + above, box.width(), 2 * box.height() / 5),
                   Qt::AlignLeft | Qt::AlignVCenter, intervals_text(gauge));
}

void paint_vanilla(QPainter& painter, double x, double vanilla, const QRect& box, const QColor& text) {
  const int bottom = box.top() + box.height();
  painter.setPen(QPen(text, 1.0, Qt::DashLine));
  painter.drawLine(QPointF(x, box.top() + 4), QPointF(x, bottom - 14));
  painter.setPen(text);
  painter.drawText(QRectF(x - 80, bottom - 15, 160, 15), Qt::AlignCenter,
                   AnswerBars::tr("vanilla %1").arg(number_text(vanilla)));
}

/// An axis from 0 to `end` with vanilla decoding, intervals and points.
void paint_gauge(QPainter& painter, const Gauge& gauge, const QRect& box, double end,
                 const QPalette& palette) {
  const QColor text = palette.color(QPalette::WindowText);
  const QColor color = series_color(1, is_dark(palette));
  const double middle = box.top() + 0.42 * box.height();
  const auto x = [&](double value) { return box.left() + value / end * box.width(); };
  const auto span = [&](const std::optional<Interval>& interval, double thickness) {
    if (!interval) return;
    painter.setPen(QPen(color, thickness, Qt::SolidLine, Qt::FlatCap));
    painter.drawLine(QPointF(x(interval->low), middle), QPointF(x(interval->high), middle));
  };
  painter.setPen(grid_color(palette));
  painter.drawLine(QPointF(box.left(), middle), QPointF(box.left() + box.width(), middle));
  paint_vanilla(painter, x(gauge.vanilla), gauge.vanilla, box, text);
  span(gauge.of_95, 2.5);
  if (gauge.of_95) {
    painter.setPen(QPen(color, 2.0));
    for (const double bound : {gauge.of_95->low, gauge.of_95->high})
      painter.drawLine(QPointF(x(bound), middle - 6), QPointF(x(bound), middle + 6));
  }
  span(gauge.of_80, 8.0);
  painter.setPen(QPen(palette.color(QPalette::Base), 2.0));
  painter.setBrush(text);
  for (const double value : gauge.values) painter.drawEllipse(QPointF(x(value), middle), 6.0, 6.0);
  painter.setBrush(Qt::NoBrush);
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

int AnswerBars::text_width() const {
  int width = 200;
  if (answer_ != nullptr)
    for (const Gauge& gauge : {rate_gauge(*answer_), speedup_gauge(*answer_)})
      width = std::max(width, words_width(gauge, font()) + 16);
  return width;
}

QSize AnswerBars::min_picture_size() const {
  constexpr int height = 116;
  return {margin + text_width() + min_gauge_width + 2 * margin, height};
}

void AnswerBars::paint(QPainter& painter) {
  if (answer_ == nullptr) return;
  const std::array<Gauge, 2> gauges{rate_gauge(*answer_), speedup_gauge(*answer_)};
  const int text_width = this->text_width();
  const int left = margin + text_width;
  const int room = std::max(min_gauge_width, width() - left - 2 * margin);
  const int height = (this->height() - 20) / 2;
  int top = 4;
  for (std::size_t i = 0; i < gauges.size(); ++i) {
    fit_end(ends_[i], gauges[i]);
    paint_text(painter, gauges[i], QRect(margin, top, text_width - 8, height), font(), palette());
    paint_gauge(painter, gauges[i], QRect(left, top, room, height), ends_[i], palette());
    top += height + 10;
  }
}

}  // namespace draftscope::gui
