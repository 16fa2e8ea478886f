// SPDX-License-Identifier: GPL-3.0-or-later
#include "live_gauges.h"

#include <QPainter>
#include <QPolygonF>
#include <algorithm>
#include <cmath>
#include <utility>

#include "widgets/plot_style.h"
#include "widgets/theme.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

constexpr int row_height = 46;
constexpr int header_height = 24;
constexpr std::size_t max_past = 120;

QString live_speedup_text(const LiveRun& run) {
  if (run.is_baseline) return LiveGauges::tr("baseline");
  if (!run.speedup) return QStringLiteral("–");
  const simulator::Speedup& speedup = *run.speedup;
  QString text = speedup_text(speedup.value);
  if (speedup.interval)
    text += QStringLiteral("  ") + range_text(speedup.interval->low, speedup.interval->high);
  return text;
}

QString speedup_note(const LiveRun& run) {
  if (run.is_baseline || !run.speedup) return {};
  if (run.speedup->interval) return LiveGauges::tr("%1 prompts").arg(run.speedup->prompts);
  return LiveGauges::tr("%1 of %2 prompts for an interval")
      .arg(run.speedup->prompts)
      .arg(simulator::min_prompts_for_interval);
}

QString rate_text(const LiveRun& run) {
  return run.tokens_per_second ? number_text(*run.tokens_per_second) : QStringLiteral("–");
}

void paint_two_lines(QPainter& painter, const QRect& box, const QString& above, const QString& below,
                     const QPalette& palette) {
  const QFontMetrics metrics = painter.fontMetrics();
  const int half = box.height() / 2;
  QFont bold = painter.font();
  bold.setBold(true);
  const QFont plain = painter.font();
  painter.setPen(palette.color(QPalette::WindowText));
  painter.setFont(bold);
  painter.drawText(QRect(box.left(), box.top(), box.width(), half), Qt::AlignLeft | Qt::AlignBottom,
                   QFontMetrics(bold).elidedText(above, Qt::ElideMiddle, box.width()));
  painter.setFont(plain);
  QColor quiet = palette.color(QPalette::WindowText);
  quiet.setAlphaF(0.7F);
  painter.setPen(quiet);
  painter.drawText(QRect(box.left(), box.top() + half, box.width(), half), Qt::AlignLeft | Qt::AlignTop,
                   metrics.elidedText(below, Qt::ElideRight, box.width()));
}

void paint_share(QPainter& painter, const QRect& box, double share, const QColor& color,
                 const QPalette& palette) {
  painter.fillRect(box, grid_color(palette));
  const int width = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * box.width()));
  painter.fillRect(QRect(box.left(), box.top(), width, box.height()), color);
}

}  // namespace

LiveGauges::LiveGauges(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Runs so far"));
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Minimum);
}

void LiveGauges::clear() {
  runs_.clear();
  past_.clear();
  describe();
  updateGeometry();
  update();
}

void LiveGauges::add(const LiveFigures& figures) {
  const std::vector<LiveRun> before = std::exchange(runs_, figures.runs);
  past_.resize(runs_.size());
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    const auto& speedup = runs_[run].speedup;
    const bool is_new = run >= before.size() || before[run].requests != runs_[run].requests;
    if (!speedup || !is_new) continue;
    std::vector<Past>& past = past_[run];
    const simulator::Interval interval =
        speedup->interval.value_or(simulator::Interval{speedup->value, speedup->value});
    past.push_back({speedup->value, interval.low, interval.high});
    // Every second one tells the same story.
    if (past.size() > max_past)
      for (std::size_t i = 0; i < past.size(); ++i) past.erase(past.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (before.size() != runs_.size()) updateGeometry();
  describe();
  update();
}

void LiveGauges::describe() {
  QStringList lines;
  for (const LiveRun& run : runs_)
    lines << tr("%1: %2 tokens/s, speedup %3, acceptance %4")
                 .arg(QString::fromStdString(run.specification), rate_text(run), live_speedup_text(run),
                      run.acceptance_rate ? percent_text(*run.acceptance_rate) : QStringLiteral("–"));
  setAccessibleDescription(lines.join(u'\n'));
}

QSize LiveGauges::sizeHint() const {
  return {760, header_height + row_height * std::max(1, static_cast<int>(runs_.size()))};
}

QSize LiveGauges::minimumSizeHint() const {
  return {480, sizeHint().height()};
}

LiveGauges::Columns LiveGauges::columns(int top, int height) const {
  const int gap = 12;
  const int text = std::clamp(width() / 6, 100, 190);
  const int rate = 78;
  const int share = std::clamp(width() / 7, 80, 150);
  const int axis = std::max(60, width() - 2 * text - rate - share - 5 * gap);
  int left = gap / 2;
  const auto next = [&](int wide) {
    const QRect box(left, top, wide, height);
    left += wide + gap;
    return box;
  };
  Columns result;
  result.name = next(text);
  result.rate = next(rate);
  result.speedup = next(text);
  result.axis = next(axis);
  result.acceptance = next(share);
  return result;
}

std::pair<double, double> LiveGauges::ends() const {
  double low = 1.0;
  double high = 1.0;
  for (const LiveRun& run : runs_) {
    if (!run.speedup) continue;
    const simulator::Interval interval =
        run.speedup->interval.value_or(simulator::Interval{run.speedup->value, run.speedup->value});
    low = std::min(low, interval.low);
    high = std::max(high, interval.high);
  }
  // In quarters, so that it rests while the marks move.
  low = std::max(0.0, std::floor(4.0 * (low - 0.05)) / 4.0);
  high = std::ceil(4.0 * (high + 0.05)) / 4.0;
  return {low, high};
}

void LiveGauges::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  paint_header(painter);
  for (std::size_t run = 0; run < runs_.size(); ++run)
    paint_row(painter, run, header_height + static_cast<int>(run) * row_height);
}

void LiveGauges::paint_header(QPainter& painter) const {
  const Columns at = columns(0, header_height);
  QColor quiet = palette().color(QPalette::WindowText);
  quiet.setAlphaF(0.7F);
  painter.setPen(quiet);
  const auto title = [&](const QRect& box, const QString& words) {
    painter.drawText(box, Qt::AlignLeft | Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(words, Qt::ElideRight, box.width()));
  };
  title(at.name, tr("run"));
  title(at.rate, tr("tokens/s"));
  title(at.speedup, tr("speedup, 95 %"));
  title(at.acceptance, tr("acceptance"));
  if (runs_.empty()) return;
  const auto [low, high] = ends();
  for (const double tick : {low, 1.0, high}) {
    const double x = at.axis.left() + (tick - low) / (high - low) * at.axis.width();
    const bool is_covered = tick != 1.0 && std::abs(tick - 1.0) / (high - low) * at.axis.width() < 44.0;
    // The last one stays off the next column's title.
    const double left = std::min(x - 40.0, at.axis.right() - 58.0);
    if (!is_covered)
      painter.drawText(QRectF(left, 0, 80, header_height), Qt::AlignCenter, QStringLiteral("%1×").arg(tick));
  }
}

void LiveGauges::paint_row(QPainter& painter, std::size_t run, int top) const {
  const LiveRun& row = runs_[run];
  const Columns at = columns(top + 3, row_height - 6);
  painter.setPen(grid_color(palette()));
  painter.drawLine(0, top, width(), top);
  paint_two_lines(painter, at.name, QString::fromStdString(row.specification),
                  counted(row.requests, tr("1 request"), tr("%1 requests")), palette());
  paint_two_lines(painter, at.rate, rate_text(row), {}, palette());
  paint_two_lines(painter, at.speedup, live_speedup_text(row), speedup_note(row), palette());
  paint_speedup(painter, run, at.axis);
  if (!row.acceptance_rate) return;
  const QRect bar(at.acceptance.left(), at.acceptance.bottom() - 8, at.acceptance.width(), 6);
  paint_two_lines(painter, at.acceptance, percent_text(*row.acceptance_rate), {}, palette());
  if (row.mean_accepted_length) {
    painter.setPen(palette().color(QPalette::WindowText));
    painter.drawText(
        QRect(at.acceptance.left(), at.acceptance.top(), at.acceptance.width(), row_height / 2 - 3),
        Qt::AlignRight | Qt::AlignBottom, tr("M %1").arg(number_text(*row.mean_accepted_length)));
  }
  paint_share(painter, bar, *row.acceptance_rate, origin_color(TokenOrigin::accepted, is_dark(palette())),
              palette());
}

void LiveGauges::paint_speedup(QPainter& painter, std::size_t run, const QRect& box) const {
  const auto [low, high] = ends();
  const auto x = [&, low = low, high = high](double value) {
    return box.left() + std::clamp((value - low) / (high - low), 0.0, 1.0) * box.width();
  };
  painter.setPen(QPen(palette().color(QPalette::WindowText), 1.0, Qt::DashLine));
  painter.drawLine(QPointF(x(1.0), box.top()), QPointF(x(1.0), box.bottom()));
  const std::vector<Past>& past = past_[run];
  if (past.empty()) return;
  const QColor color = series_color(run, is_dark(palette()));
  const double bottom = box.bottom() - 6.0;
  const auto y = [&](std::size_t i) {
    return past.size() == 1 ? bottom
                            : box.top() + static_cast<double>(i) / static_cast<double>(past.size() - 1) *
                                              (bottom - box.top());
  };
  QPolygonF band;
  for (std::size_t i = 0; i < past.size(); ++i) band << QPointF(x(past[i].low), y(i));
  for (std::size_t i = past.size(); i-- > 0;) band << QPointF(x(past[i].high), y(i));
  QColor pale = color;
  pale.setAlphaF(0.22F);
  painter.setPen(Qt::NoPen);
  painter.setBrush(pale);
  painter.drawPolygon(band);
  painter.setPen(QPen(color, 2.5, Qt::SolidLine, Qt::FlatCap));
  const Past& now = past.back();
  painter.drawLine(QPointF(x(now.low), bottom), QPointF(x(now.high), bottom));
  for (const double end : {now.low, now.high})
    painter.drawLine(QPointF(x(end), bottom - 4), QPointF(x(end), bottom + 4));
  painter.setPen(QPen(palette().color(QPalette::Window), 1.5));
  painter.setBrush(color);
  painter.drawEllipse(QPointF(x(now.value), bottom), 4.5, 4.5);
  painter.setBrush(Qt::NoBrush);
}

}  // namespace draftscope::gui
