// SPDX-License-Identifier: GPL-3.0-or-later
#include "answer_bars.h"

#include <draftscope/base/round_step.h>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <vector>

#include "what_if/pictures/picture_pane.h"
#include "widgets/plot_style.h"
#include "widgets/theme.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

using simulator::Interval;

constexpr int margin = 10;
constexpr int min_gauge_width = 60;

struct Gauge {
  QString name;
  std::vector<double> values;  ///< Both bounds of a bounded answer.
  std::optional<Interval> of_80, of_95;
  double vanilla = 1.0;
  QString words;
  std::optional<double> measured;
  std::optional<Interval> measured_95;
  QString (*text_of)(double) = number_text;  ///< Writes a value as text.
};

/// Speedups have two decimals in sentences and bars alike.
QString speedup_digits(double speedup) {
  return QString::number(speedup, 'f', 2);
}

QString interval_text(const Gauge& gauge, const std::optional<Interval>& interval) {
  return interval ? QStringLiteral("%1–%2").arg(gauge.text_of(interval->low), gauge.text_of(interval->high))
                  : QStringLiteral("–");
}

QString values_text(const Gauge& gauge, const QString& unit) {
  const auto [min, max] = std::minmax(gauge.values.front(), gauge.values.back());
  if (min == max) return gauge.text_of(min) + unit;
  return QStringLiteral("%1–%2%3").arg(gauge.text_of(min), gauge.text_of(max), unit);
}

QString intervals_text(const Gauge& gauge) {
  return gauge.of_95 ? AnswerBars::tr("80 %  %1   95 %  %2")
                           .arg(interval_text(gauge, gauge.of_80), interval_text(gauge, gauge.of_95))
                     : AnswerBars::tr("no interval (see the notes)");
}

/// Text about the measurement, below the interval; empty without a measurement.
QString measured_text(const Gauge& gauge) {
  return gauge.measured
             ? AnswerBars::tr("◇ measured %1, decode, without prefill").arg(gauge.text_of(*gauge.measured))
             : AnswerBars::tr("decode, without prefill");
}

Gauge rate_gauge(const WhatIfAnswer& answer) {
  Gauge gauge{AnswerBars::tr("tokens/s"),
              {answer.prediction.rate.min_drafted.value},
              answer.prediction.rate.interval_80(),
              answer.prediction.rate.interval_95(),
              answer.prediction.vanilla_tokens_per_second,
              {}};
  if (answer.prediction.rate.max_drafted) gauge.values.push_back(answer.prediction.rate.max_drafted->value);
  gauge.words = values_text(gauge, {});
  if (answer.beside) gauge.measured = answer.beside->run.tokens_per_second;
  return gauge;
}

Gauge speedup_gauge(const WhatIfAnswer& answer) {
  const simulator::PredictedRatio& speedup = answer.prediction.speedup;
  Gauge gauge{AnswerBars::tr("speedup"),
              {speedup.min_drafted.value},
              speedup.interval_80(),
              speedup.interval_95(),
              1.0,
              {}};
  if (speedup.max_drafted) gauge.values.push_back(speedup.max_drafted->value);
  gauge.text_of = speedup_digits;
  gauge.words = values_text(gauge, QStringLiteral("×"));
  if (answer.beside) {
    gauge.measured = answer.beside->run.speedup;
    gauge.measured_95 = answer.beside->run.interval_95;
  }
  return gauge;
}

double tick_step(double end) {
  constexpr double parts = 6.0;
  return round_step(end / parts);
}

/// Moves the axis' end only if needed; it is a whole number of steps.
void fit_end(double& end, const Gauge& gauge) {
  double max = std::max(gauge.vanilla, gauge.measured.value_or(0.0));
  for (const double value : gauge.values) max = std::max(max, value);
  for (const auto& interval : {gauge.of_95, gauge.measured_95})
    if (interval) max = std::max(max, interval->high);
  constexpr double headroom = 1.1;
  constexpr double too_far = 6.0;
  if (!(max > 0.0) || (end >= max && end <= too_far * max)) return;
  const double step = tick_step(headroom * max);
  end = step * std::ceil(headroom * max / step);
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

/// Width of the words beside a gauge.
int words_width(const Gauge& gauge, const QFont& font) {
  return std::max({QFontMetrics(large_font(font)).horizontalAdvance(headline(gauge)),
                   QFontMetrics(font).horizontalAdvance(intervals_text(gauge)),
                   QFontMetrics(font).horizontalAdvance(measured_text(gauge))});
}

void paint_text(QPainter& painter, const Gauge& gauge, const QRect& box, const QFont& font,
                const QPalette& palette) {
  const int line = box.height() / 4;
  painter.setPen(palette.color(QPalette::WindowText));
  painter.setFont(large_font(font));
  painter.drawText(QRect(box.left(), box.top(), box.width(), 2 * line), Qt::AlignLeft | Qt::AlignVCenter,
                   headline(gauge));
  painter.setFont(font);
  painter.drawText(QRect(box.left(), box.top() + 2 * line, box.width(), line),
                   Qt::AlignLeft | Qt::AlignVCenter, intervals_text(gauge));
  painter.drawText(QRect(box.left(), box.top() + 3 * line, box.width(), line),
                   Qt::AlignLeft | Qt::AlignVCenter, measured_text(gauge));
}

constexpr int gauge_line = 15;  // Height of a line of words in a gauge.

void paint_vanilla(QPainter& painter, double x, double vanilla, const QRect& box, const QColor& text) {
  painter.setPen(QPen(text, 1.0, Qt::DashLine));
  painter.drawLine(QPointF(x, box.top() + gauge_line), QPointF(x, box.top() + box.height() - gauge_line - 4));
  painter.setPen(text);
  const double left = std::clamp(x - 80.0, box.left() - 40.0, box.left() + box.width() - 120.0);
  painter.drawText(QRectF(left, box.top(), 160, gauge_line), Qt::AlignCenter,
                   AnswerBars::tr("vanilla %1").arg(number_text(vanilla)));
}

void paint_axis(QPainter& painter, const QRect& box, double end, const QPalette& palette) {
  const double bottom = box.top() + box.height() - gauge_line - 4;
  const double step = tick_step(end);
  painter.setPen(palette.color(QPalette::WindowText));
  painter.drawLine(QPointF(box.left(), bottom), QPointF(box.left() + box.width(), bottom));
  const int ticks = static_cast<int>(std::lround(end / step));
  for (int tick = 0; tick <= ticks; ++tick) {
    const double x = box.left() + static_cast<double>(tick) / ticks * box.width();
    painter.drawLine(QPointF(x, bottom), QPointF(x, bottom + 3));
    painter.drawText(QRectF(x - 40, bottom + 3, 80, gauge_line), Qt::AlignCenter,
                     QString::number(tick * step, 'g', 6));
  }
}

/// Paints a hollow diamond with its interval below the predicted point.
void paint_measured(QPainter& painter, const Gauge& gauge, double middle, const auto& x,
                    const QPalette& palette) {
  if (!gauge.measured) return;
  const double below = middle + 10.0;
  painter.setPen(QPen(palette.color(QPalette::WindowText), 1.5));
  if (gauge.measured_95)
    painter.drawLine(QPointF(x(gauge.measured_95->low), below), QPointF(x(gauge.measured_95->high), below));
  const QPointF at(x(*gauge.measured), below);
  constexpr double size = 6.0;
  painter.setPen(QPen(palette.color(QPalette::WindowText), 2.0));
  painter.setBrush(palette.color(QPalette::Base));
  painter.drawPolygon(QPolygonF(
      {at + QPointF(0, -size), at + QPointF(size, 0), at + QPointF(0, size), at + QPointF(-size, 0)}));
  painter.setBrush(Qt::NoBrush);
}

/// Paints an axis from 0 to `end` with vanilla decoding, intervals, points, and the measurement.
void paint_gauge(QPainter& painter, const Gauge& gauge, const QRect& box, double end,
                 const QPalette& palette) {
  const QColor text = palette.color(QPalette::WindowText);
  const QColor color = series_color(1, is_dark(palette));
  const double middle = box.top() + gauge_line + 0.3 * (box.height() - 2.0 * gauge_line);
  const auto x = [&](double value) { return box.left() + value / end * box.width(); };
  const auto span = [&](const std::optional<Interval>& interval, double thickness) {
    if (!interval) return;
    painter.setPen(QPen(color, thickness, Qt::SolidLine, Qt::FlatCap));
    painter.drawLine(QPointF(x(interval->low), middle), QPointF(x(interval->high), middle));
  };
  paint_axis(painter, box, end, palette);
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
  paint_measured(painter, gauge, middle, x, palette);
}

}  // namespace

AnswerBars::AnswerBars(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::StrongFocus);
}

void AnswerBars::set_message(const QString& words) {
  message_ = words;
  if (!words.isEmpty()) setAccessibleDescription(words);
  updateGeometry();
  update();
}

void AnswerBars::set_stale(bool is_stale) {
  is_stale_ = is_stale;
  update();
}

void AnswerBars::set_answer(std::shared_ptr<const WhatIfAnswer> answer) {
  answer_ = std::move(answer);
  QStringList spoken;
  for (const Gauge& gauge : {rate_gauge(*answer_), speedup_gauge(*answer_)})
    spoken << tr("%1 %2, 80 % %3, 95 % %4")
                      .arg(gauge.name, gauge.words, interval_text(gauge, gauge.of_80),
                           interval_text(gauge, gauge.of_95)) +
                  (gauge.measured ? tr(", measured %1").arg(gauge.text_of(*gauge.measured)) : QString());
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

QSize AnswerBars::minimumSizeHint() const {
  if (!message_.isEmpty()) return {160, 80};
  constexpr int height = 150;
  return {margin + text_width() + min_gauge_width + 2 * margin, height};
}

void AnswerBars::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillRect(rect(), palette().color(QPalette::Base));
  painter.setPen(palette().color(QPalette::WindowText));
  constexpr int around = 24;
  if (!message_.isEmpty()) {
    painter.drawText(rect().adjusted(around, around, -around, -around), Qt::AlignCenter | Qt::TextWordWrap,
                     message_);
    return;
  }
  paint(painter);
  if (is_stale_) paint_age(painter);
}

void AnswerBars::paint_age(QPainter& painter) const {
  QColor veil = palette().color(QPalette::Base);
  veil.setAlpha(140);
  painter.fillRect(rect(), veil);
  const QString words = words_of_older_question();
  const QRect text = fontMetrics().boundingRect(words).adjusted(-8, -4, 8, 4);
  const QRect badge(width() - text.width() - 6, 6, text.width(), text.height());
  painter.fillRect(badge, palette().color(QPalette::ToolTipBase));
  painter.setFont(font());
  painter.setPen(palette().color(QPalette::ToolTipText));
  painter.drawRect(badge);
  painter.drawText(badge, Qt::AlignCenter, words);
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
