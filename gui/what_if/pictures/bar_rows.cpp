// SPDX-License-Identifier: GPL-3.0-or-later
#include "bar_rows.h"

#include <QPainter>
#include <algorithm>

#include "widgets/plot_style.h"
#include "widgets/theme.h"

namespace draftscope::gui {

namespace {

constexpr int bars_top_margin = 48;  // of the title and the columns' heads
constexpr int title_height = 28;
constexpr int column_gap = 14;
constexpr int side_margin = 10;
constexpr int line_height = 18;

}  // namespace

void BarRows::set_rows(const QString& title, const QStringList& columns, std::vector<BarRow> rows,
                       const QStringList& footnotes) {
  title_ = title;
  columns_ = columns;
  rows_ = std::move(rows);
  footnotes_ = footnotes;
  QStringList spoken{title};
  for (const BarRow& row : rows_) spoken << QStringLiteral("%1: %2").arg(row.name, row.numbers.join(u' '));
  setAccessibleDescription(spoken.join(u"; "));
  set_message({});
}

int BarRows::room_below() const {
  return static_cast<int>(footnotes_.size() + 1) * line_height + 8;
}

int BarRows::row_height() const {
  const int rows = std::max(1, static_cast<int>(rows_.size()));
  return std::clamp((height() - bars_top_margin - room_below()) / rows, line_height, 46);
}

QSize BarRows::min_picture_size() const {
  constexpr int min_bars_width = 160;
  int numbers = 0;
  for (const int width : column_widths()) numbers += width + column_gap;
  int names = 0;
  for (const BarRow& row : rows_)
    names = std::max(names, QFontMetrics(bold_font()).horizontalAdvance(row.name));
  return {std::min(names, 320) + min_bars_width + numbers + 4 * side_margin,
          bars_top_margin + static_cast<int>(rows_.size()) * line_height + room_below()};
}

std::vector<int> BarRows::column_widths() const {
  const QFontMetrics bold(bold_font());
  std::vector<int> widths;
  for (int column = 0; column < columns_.size(); ++column) {
    int width = fontMetrics().horizontalAdvance(columns_[column]);
    for (const BarRow& row : rows_)
      width = std::max(width, bold.horizontalAdvance(row.numbers.value(column)));
    widths.push_back(width);
  }
  return widths;
}

void BarRows::paint_numbers(QPainter& painter, const QStringList& numbers, const std::vector<int>& widths,
                            int top, int height) const {
  int right = width() - side_margin;
  for (std::size_t column = widths.size(); column-- > 0;) {
    painter.drawText(QRect(right - widths[column], top, widths[column], height),
                     Qt::AlignRight | Qt::AlignVCenter, numbers.value(static_cast<qsizetype>(column)));
    right -= widths[column] + column_gap;
  }
}

BarRows::Scale BarRows::scale(const std::vector<int>& widths) const {
  int number_width = 0;
  for (const int column : widths) number_width += column + column_gap;
  const QFontMetrics bold(bold_font());
  int name_width = 0;
  double max = 1.0;
  double far = 0.0;
  for (const BarRow& row : rows_) {
    name_width = std::max(
        {name_width, bold.horizontalAdvance(row.name), fontMetrics().horizontalAdvance(row.meaning)});
    double& end = row.may_leave ? far : max;
    end = std::max({end, row.value, row.high.value_or(0.0)});
  }
  // Up to a third of the width is for what would dwarf the rest.
  constexpr double room_for_far = 1.5;
  max = std::min(std::max(max, far), room_for_far * max);
  name_width = std::min(name_width + 12, width() / 2);
  const int left = side_margin + name_width;
  const int room = std::max(20, width() - left - number_width - 3 * side_margin);
  return {.left = left, .pixels_per_unit = room / (1.05 * max), .max = max};
}

QFont BarRows::bold_font() const {
  QFont bold = font();
  bold.setBold(true);
  return bold;
}

QColor BarRows::faint_color() const {
  QColor faint = palette().color(QPalette::WindowText);
  faint.setAlpha(170);
  return faint;
}

void BarRows::paint(QPainter& painter) {
  const std::vector<int> widths = column_widths();
  const Scale scale = this->scale(widths);
  paint_heads(painter, widths);
  int top = bars_top_margin;
  for (const BarRow& row : rows_) {
    paint_names(painter, row, top, scale.left - side_margin, widths);
    paint_bar(painter, row, top, scale);
    top += row_height();
  }
  paint_vanilla(painter, top, scale);
  paint_footnotes(painter, top + line_height + 4);
}

void BarRows::paint_heads(QPainter& painter, const std::vector<int>& widths) const {
  painter.setPen(palette().color(QPalette::WindowText));
  const QRect title(side_margin, 0, width() - 2 * side_margin, title_height);
  painter.drawText(title, Qt::AlignLeft | Qt::AlignVCenter,
                   painter.fontMetrics().elidedText(title_, Qt::ElideRight, title.width()));
  painter.setPen(faint_color());
  paint_numbers(painter, columns_, widths, title_height, bars_top_margin - title_height);
}

void BarRows::paint_names(QPainter& painter, const BarRow& row, int top, int name_width,
                          const std::vector<int>& widths) const {
  const int height = row_height();
  const bool has_meaning = height >= 2 * line_height - 4;
  painter.setFont(row.is_marked ? bold_font() : font());
  painter.setPen(palette().color(QPalette::WindowText));
  const QRect name(side_margin, top, name_width - 8, has_meaning ? height / 2 : height);
  painter.drawText(name, Qt::AlignLeft | (has_meaning ? Qt::AlignBottom : Qt::AlignVCenter),
                   painter.fontMetrics().elidedText(row.name, Qt::ElideRight, name.width()));
  paint_numbers(painter, row.numbers, widths, top, height);
  painter.setFont(font());
  if (!has_meaning) return;
  painter.setPen(faint_color());
  const QRect meaning(side_margin, top + height / 2, name_width - 8, height / 2);
  painter.drawText(meaning, Qt::AlignLeft | Qt::AlignTop,
                   painter.fontMetrics().elidedText(row.meaning, Qt::ElideRight, meaning.width()));
}

void BarRows::paint_bar(QPainter& painter, const BarRow& row, int top, const Scale& scale) const {
  const QRectF bar(scale.x(0.0), top + 0.2 * row_height(),
                   std::min(row.value, 1.02 * scale.max) * scale.pixels_per_unit, 0.6 * row_height());
  const QColor color = series_color(row.is_marked ? 2 : 1, is_dark(palette()));
  painter.fillRect(bar, color);
  const bool leaves = row.value > scale.max;
  if (leaves) paint_break(painter, bar);
  if (row.before) paint_change(painter, row, bar, color, scale);
  if (row.low && row.high && !leaves) paint_interval(painter, *row.low, *row.high, bar, scale);
}

void BarRows::paint_break(QPainter& painter, const QRectF& bar) const {
  // Broken off: it goes on beyond the picture.
  painter.setPen(QPen(palette().color(QPalette::Base), 3.0));
  const double end = bar.x() + bar.width();
  const double bottom = bar.y() + bar.height();
  for (const double gap : {14.0, 22.0})
    painter.drawLine(QPointF(end - gap - 4, bottom + 1), QPointF(end - gap + 4, bar.y() - 1));
}

void BarRows::paint_change(QPainter& painter, const BarRow& row, const QRectF& bar, const QColor& color,
                           const Scale& scale) const {
  const double from = std::min(*row.before, row.value);
  const double to = std::max(*row.before, row.value);
  const QRectF change(scale.x(from), bar.y(), (to - from) * scale.pixels_per_unit, bar.height());
  // What was lost stands beyond the bar's end, what was won at its end.
  const bool is_loss = row.value < *row.before;
  painter.fillRect(change, QBrush(is_loss ? color : palette().color(QPalette::Base), Qt::BDiagPattern));
  if (!is_loss) return;
  painter.setPen(QPen(color, 1.0));
  painter.drawRect(change);
}

void BarRows::paint_interval(QPainter& painter, double low, double high, const QRectF& bar,
                             const Scale& scale) const {
  painter.setPen(QPen(palette().color(QPalette::WindowText), 1.5));
  const double middle = bar.y() + bar.height() / 2;
  const double cap = std::min(5.0, bar.height() / 3);
  painter.drawLine(QPointF(scale.x(low), middle), QPointF(scale.x(high), middle));
  for (const double end : {low, high})
    painter.drawLine(QPointF(scale.x(end), middle - cap), QPointF(scale.x(end), middle + cap));
}

void BarRows::paint_vanilla(QPainter& painter, int bottom, const Scale& scale) const {
  const QColor text = palette().color(QPalette::WindowText);
  const double x = scale.x(1.0);
  painter.setPen(QPen(text, 1.0, Qt::DashLine));
  painter.drawLine(QPointF(x, bars_top_margin - 2), QPointF(x, bottom + 2));
  painter.setPen(text);
  painter.drawText(QRectF(x - 80, bottom + 2, 160, line_height), Qt::AlignCenter, tr("vanilla 1×"));
}

void BarRows::paint_footnotes(QPainter& painter, int top) const {
  for (const QString& footnote : footnotes_) {
    const QRect line(side_margin, top, width() - 2 * side_margin, line_height);
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(footnote, Qt::ElideRight, line.width()));
    top += line_height;
  }
}

QString BarRows::tooltip_at(const QPoint& point) const {
  if (point.y() < title_height) return title_;
  const int place = (point.y() - bars_top_margin) / row_height();
  if (point.y() < bars_top_margin || place >= static_cast<int>(rows_.size())) return footnotes_.join(u'\n');
  const BarRow& row = rows_[static_cast<std::size_t>(place)];
  return QStringLiteral("%1: %2\n%3").arg(row.name, row.numbers.join(u' '), row.meaning);
}

}  // namespace draftscope::gui
