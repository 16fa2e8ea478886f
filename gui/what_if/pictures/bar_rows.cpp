// SPDX-License-Identifier: GPL-3.0-or-later
#include "bar_rows.h"

#include <QPainter>
#include <algorithm>

#include "views/plot_style.h"
#include "views/theme.h"

namespace draftscope::gui {

namespace {

constexpr int top_margin = 48;  // of the title and the columns' heads
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

int BarRows::row_height() const {
  const int below = static_cast<int>(footnotes_.size() + 1) * line_height + 8;
  const int rows = std::max(1, static_cast<int>(rows_.size()));
  return std::clamp((height() - top_margin - below) / rows, 12, 46);
}

std::vector<int> BarRows::column_widths() const {
  QFont bold = font();
  bold.setBold(true);
  std::vector<int> widths;
  for (int column = 0; column < columns_.size(); ++column) {
    int width = fontMetrics().horizontalAdvance(columns_[column]);
    for (const BarRow& row : rows_)
      width = std::max(width, QFontMetrics(bold).horizontalAdvance(row.numbers.value(column)));
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

void BarRows::paint(QPainter& painter) {
  const bool dark = is_dark(palette());
  const QColor text = palette().color(QPalette::WindowText);
  QFont bold = font();
  bold.setBold(true);
  painter.setPen(text);
  const QRect title(side_margin, 0, width() - 2 * side_margin, title_height);
  painter.drawText(title, Qt::AlignLeft | Qt::AlignVCenter,
                   painter.fontMetrics().elidedText(title_, Qt::ElideRight, title.width()));
  const std::vector<int> widths = column_widths();
  int number_width = 0;
  for (const int column : widths) number_width += column + column_gap;
  QColor faint = text;
  faint.setAlpha(170);
  painter.setPen(faint);
  paint_numbers(painter, columns_, widths, title_height, top_margin - title_height);
  int name_width = 0;
  double most = 1.0;
  double far = 0.0;
  for (const BarRow& row : rows_) {
    name_width = std::max({name_width, QFontMetrics(bold).horizontalAdvance(row.name),
                           fontMetrics().horizontalAdvance(row.meaning)});
    (row.may_leave ? far : most) = std::max({row.may_leave ? far : most, row.value, row.high.value_or(0.0)});
  }
  // Up to a third of the width is for what would dwarf the rest.
  constexpr double room_for_far = 1.5;
  most = std::min(std::max(most, far), room_for_far * most);
  name_width = std::min(name_width + 12, width() / 2);
  const int left = side_margin + name_width;
  const int room = std::max(20, width() - left - number_width - 3 * side_margin);
  const double scale = room / (1.05 * most);
  const auto x = [&](double value) { return left + value * scale; };
  const int step = row_height();
  const bool has_meanings = step >= 2 * line_height - 4;
  int top = top_margin;
  for (const BarRow& row : rows_) {
    painter.setFont(row.is_marked ? bold : font());
    painter.setPen(text);
    const QRect name(side_margin, top, name_width - 8, has_meanings ? step / 2 : step);
    painter.drawText(name, Qt::AlignLeft | (has_meanings ? Qt::AlignBottom : Qt::AlignVCenter),
                     painter.fontMetrics().elidedText(row.name, Qt::ElideRight, name.width()));
    paint_numbers(painter, row.numbers, widths, top, step);
    painter.setFont(font());
    if (has_meanings) {
      painter.setPen(faint);
      const QRect meaning(side_margin, top + step / 2, name_width - 8, step / 2);
      painter.drawText(meaning, Qt::AlignLeft | Qt::AlignTop,
                       painter.fontMetrics().elidedText(row.meaning, Qt::ElideRight, meaning.width()));
    }
    const double bar_top = top + 0.2 * step;
    const double bar_height = 0.6 * step;
    const QColor color = series_color(row.is_marked ? 2 : 1, dark);
    const bool leaves = row.value > most;
    const double shown = std::min(row.value, 1.02 * most);
    painter.fillRect(QRectF(x(0.0), bar_top, shown * scale, bar_height), color);
    if (leaves) {
      // Broken off: it goes on beyond the picture.
      painter.setPen(QPen(palette().color(QPalette::Base), 3.0));
      for (const double gap : {14.0, 22.0})
        painter.drawLine(QPointF(x(shown) - gap - 4, bar_top + bar_height + 1),
                         QPointF(x(shown) - gap + 4, bar_top - 1));
    }
    if (row.before) {
      const double from = std::min(*row.before, row.value);
      const double to = std::max(*row.before, row.value);
      // What was lost stands beyond the bar's end, what was won at its end.
      const bool is_loss = row.value < *row.before;
      QColor change = is_loss ? color : palette().color(QPalette::Base);
      painter.fillRect(QRectF(x(from), bar_top, (to - from) * scale, bar_height),
                       QBrush(change, Qt::BDiagPattern));
      if (is_loss) {
        painter.setPen(QPen(color, 1.0));
        painter.drawRect(QRectF(x(from), bar_top, (to - from) * scale, bar_height));
      }
    }
    if (row.low && row.high && !leaves) {
      painter.setPen(QPen(text, 1.5));
      const double middle = bar_top + bar_height / 2;
      const double cap = std::min(5.0, bar_height / 3);
      painter.drawLine(QPointF(x(*row.low), middle), QPointF(x(*row.high), middle));
      for (const double end : {*row.low, *row.high})
        painter.drawLine(QPointF(x(end), middle - cap), QPointF(x(end), middle + cap));
    }
    top += step;
  }
  painter.setPen(QPen(text, 1.0, Qt::DashLine));
  painter.drawLine(QPointF(x(1.0), top_margin - 2), QPointF(x(1.0), top + 2));
  painter.setPen(text);
  painter.drawText(QRectF(x(1.0) - 80, top + 2, 160, line_height), Qt::AlignCenter, tr("vanilla 1×"));
  top += line_height + 4;
  for (const QString& footnote : footnotes_) {
    const QRect line(side_margin, top, width() - 2 * side_margin, line_height);
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(footnote, Qt::ElideRight, line.width()));
    top += line_height;
  }
}

QString BarRows::tooltip_at(const QPoint& point) const {
  if (point.y() < title_height) return title_;
  const int place = (point.y() - top_margin) / row_height();
  if (point.y() < top_margin || place >= static_cast<int>(rows_.size())) return footnotes_.join(u'\n');
  const BarRow& row = rows_[static_cast<std::size_t>(place)];
  return QStringLiteral("%1: %2\n%3").arg(row.name, row.numbers.join(u' '), row.meaning);
}

}  // namespace draftscope::gui
