// SPDX-License-Identifier: GPL-3.0-or-later
#include "waterfall_bars.h"

#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "widgets/theme.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

constexpr int step_height = 24;
constexpr int title_height = 24;
constexpr int gap = 8;
constexpr int min_bars_width = 140;

QColor color_of(TokenTime what, bool dark) {
  switch (what) {
    case TokenTime::fewer_steps:
    case TokenTime::verification:
      return phase_color(traces::Phase::verify, dark);
    case TokenTime::draft:
      return phase_color(traces::Phase::draft, dark);
    case TokenTime::decide:
      return phase_color(traces::Phase::optimise, dark);
    case TokenTime::accept:
      return phase_color(traces::Phase::accept, dark);
    case TokenTime::outside:
      return phase_color(traces::Phase::sync, dark);
    case TokenTime::vanilla:
    case TokenTime::run:
      break;
  }
  return phase_color(traces::Phase::prefill, dark);
}

QString time_of(const TokenTimeStep& step) {
  QString time = duration_text(std::llround(std::abs(step.ns)));
  if (step.is_end()) return time;
  return (step.ns < 0.0 ? QStringLiteral("−%1") : QStringLiteral("+%1")).arg(time);
}

}  // namespace

WaterfallBars::WaterfallBars(QWidget* parent)
    : KeyboardPlot(tr("From vanilla to this run, time per token"), parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
}

QString WaterfallBars::name_of(TokenTime what) const {
  switch (what) {
    case TokenTime::vanilla:
      return tr("vanilla");
    case TokenTime::fewer_steps:
      return tr("%1 tokens per target step").arg(number_text(tokens_per_round_));
    case TokenTime::verification:
      return tr("verification beyond a step");
    case TokenTime::draft:
      return tr("drafting");
    case TokenTime::decide:
      return tr("deciding");
    case TokenTime::accept:
      return tr("accepting");
    case TokenTime::outside:
      return tr("outside the phases");
    case TokenTime::run:
      break;
  }
  return tr("this run");
}

QString WaterfallBars::words_of(std::size_t place) const {
  const TokenTimeStep& step = steps_[place];
  return tr("%1: %2 per token").arg(name_of(step.what), time_of(step));
}

void WaterfallBars::set_steps(std::vector<TokenTimeStep> steps, double tokens_per_round) {
  // Less than a five-hundredth of the longest bar can't be seen.
  constexpr double visible = 0.002;
  double longest = 0.0;
  for (const TokenTimeStep& step : steps) longest = std::max(longest, step.after_ns());
  std::erase_if(steps, [&](const TokenTimeStep& step) {
    return !step.is_end() && std::abs(step.ns) < visible * longest;
  });
  steps_ = std::move(steps);
  tokens_per_round_ = tokens_per_round;
  message_.clear();
  forget_place();
  QStringList spoken;
  for (std::size_t place = 0; place < steps_.size(); ++place) spoken << words_of(place);
  setAccessibleDescription(spoken.join(u"; "));
  updateGeometry();
  update();
}

void WaterfallBars::set_message(const QString& words) {
  steps_.clear();
  message_ = words;
  setAccessibleDescription(words);
  updateGeometry();
  update();
}

QSize WaterfallBars::minimumSizeHint() const {
  if (steps_.empty()) return {min_bars_width, 2 * step_height};
  return {names_width() + min_bars_width + numbers_width() + 2 * gap,
          title_height + static_cast<int>(steps_.size()) * step_height};
}

QSize WaterfallBars::sizeHint() const {
  constexpr int wanted = 360;
  return minimumSizeHint().expandedTo(QSize(wanted, 0));
}

int WaterfallBars::names_width() const {
  int width = 0;
  for (const TokenTimeStep& step : steps_)
    width = std::max(width, fontMetrics().horizontalAdvance(name_of(step.what)));
  return width + gap;
}

int WaterfallBars::numbers_width() const {
  int width = 0;
  for (const TokenTimeStep& step : steps_)
    width = std::max(width, fontMetrics().horizontalAdvance(time_of(step)));
  return width + gap;
}

void WaterfallBars::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.setPen(palette().color(QPalette::WindowText));
  if (steps_.empty()) {
    painter.drawText(rect(), Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, message_);
    return;
  }
  painter.drawText(QRect(0, 0, width(), title_height), Qt::AlignLeft | Qt::AlignVCenter, accessibleName());
  double longest = 1.0;
  for (const TokenTimeStep& step : steps_) longest = std::max({longest, step.before_ns, step.after_ns()});
  Columns columns{names_width(), numbers_width()};
  columns.ns_per_pixel = longest / std::max(1, width() - columns.names - columns.numbers - 2 * gap);
  for (std::size_t place = 0; place < steps_.size(); ++place) paint_step(painter, place, columns);
}

void WaterfallBars::paint_step(QPainter& painter, std::size_t place, const Columns& columns) const {
  const TokenTimeStep& step = steps_[place];
  const int top = title_height + static_cast<int>(place) * step_height;
  const int left = columns.names + gap;
  const auto x = [&](double ns) { return left + static_cast<int>(std::lround(ns / columns.ns_per_pixel)); };
  const QColor text = palette().color(QPalette::WindowText);
  painter.setPen(text);
  painter.drawText(QRect(0, top, columns.names, step_height), Qt::AlignRight | Qt::AlignVCenter,
                   name_of(step.what));
  const int from = x(std::min(step.before_ns, step.after_ns()));
  const int to = std::max(x(std::max(step.before_ns, step.after_ns())), from + 1);
  const QRect bar(from, top + 4, to - from, step_height - 8);
  const QColor color = color_of(step.what, is_dark(palette()));
  // Savings are hatched, since the bar is time that is gone.
  if (step.ns < 0.0) {
    painter.fillRect(bar, QBrush(color, Qt::BDiagPattern));
    painter.setPen(color);
    painter.drawRect(bar.adjusted(0, 0, -1, -1));
  } else {
    painter.fillRect(bar, color);
  }
  if (place + 1 < steps_.size()) {
    const int end = x(step.after_ns());
    painter.setPen(grid_color(palette()));
    painter.drawLine(end, top + step_height - 4, end, top + step_height + 4);
  }
  painter.setPen(text);
  painter.drawText(QRect(width() - columns.numbers, top, columns.numbers, step_height),
                   Qt::AlignRight | Qt::AlignVCenter, time_of(step));
  if (hasFocus() && place == current()) {
    painter.setPen(QPen(text, 1, Qt::DotLine));
    painter.drawRect(0, top, width() - 1, step_height - 1);
  }
}

std::optional<std::size_t> WaterfallBars::place_at(const QPoint& point) const {
  const int place = (point.y() - title_height) / step_height;
  if (point.y() < title_height || place >= static_cast<int>(steps_.size())) return std::nullopt;
  return static_cast<std::size_t>(place);
}

void WaterfallBars::mouseMoveEvent(QMouseEvent* event) {
  setCursor(place_at(event->pos()) ? Qt::PointingHandCursor : Qt::ArrowCursor);
  QWidget::mouseMoveEvent(event);
}

std::optional<std::size_t> WaterfallBars::next_place(std::size_t from, int key) const {
  if (key == Qt::Key_Up && from > 0) return from - 1;
  if (key == Qt::Key_Down && from + 1 < steps_.size()) return from + 1;
  return std::nullopt;
}

QString WaterfallBars::tooltip_of(std::size_t place) const {
  return tr("%1\nClick for the rounds behind it").arg(words_of(place));
}

}  // namespace draftscope::gui
