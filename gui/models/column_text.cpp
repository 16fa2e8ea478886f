// SPDX-License-Identifier: GPL-3.0-or-later
#include "column_text.h"

#include <draftscope/base/number_text.h>

#include <QCoreApplication>
#include <cmath>
#include <string>

#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

using simulator::FigureFormat;

QString translated(std::string_view text) {
  return QCoreApplication::translate("Figures", std::string(text).c_str());
}

QString number_cell(FigureFormat format, double value) {
  switch (format) {
    case FigureFormat::count:
      return QString::number(std::llround(value));
    case FigureFormat::percent:
      return percent_text(value);
    case FigureFormat::factor:
    case FigureFormat::speedup:
      return speedup_text(value);
    case FigureFormat::ratio:
      return ratio_text(value);
    case FigureFormat::p_value:
      return QString::fromStdString(p_value_text(value));
    case FigureFormat::bytes:
      return QString::fromStdString(bytes_text(value));
    case FigureFormat::duration_if_any:
      return value == 0.0 ? QStringLiteral("–") : duration_text(std::llround(value));
    case FigureFormat::duration:
      return duration_text(std::llround(value));
    default:
      return number_text(value);
  }
}

/// Formats a value, by its kind.
struct CellWriter {
  FigureFormat format;

  QString operator()(std::monostate) const { return QStringLiteral("–"); }
  QString operator()(std::int64_t value) const { return number_cell(format, static_cast<double>(value)); }
  QString operator()(double value) const { return number_cell(format, value); }
  QString operator()(const std::string& value) const { return visible_text(value); }
  QString operator()(const simulator::Interval& value) const { return range_text(value.low, value.high); }
  QString operator()(const simulator::RepeatValues& value) const {
    if (value.values.size() < 2) return QStringLiteral("–");
    return QStringLiteral("%1 (%2)").arg(value.median, 0, 'f', 2).arg(range_text(value.min, value.max));
  }
  QString operator()(const simulator::PromptMatch& value) const {
    return value.differing == 0 ? translated("yes")
                                : translated("no (%1 of %2)").arg(value.differing).arg(value.compared);
  }
  template <typename List>
  QString operator()(const List& list) const {
    return QString::number(list.size());
  }
};

}  // namespace

ColumnText column_text(std::string_view title, std::string_view explanation) {
  QString tooltip = translated(explanation);
  tooltip.remove(u'`');  // Remove the marks of code in Markdown.
  return {translated(title), tooltip};
}

int ColumnsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : row_count_;
}

int ColumnsModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(columns_.size());
}

QVariant ColumnsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
  const ColumnText& column = columns_[static_cast<std::size_t>(section)];
  if (role == Qt::DisplayRole) return column.title;
  return role == Qt::ToolTipRole ? QVariant(column.tooltip) : QVariant();
}

int cell_alignment(bool is_text) {
  return static_cast<int>((is_text ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
}

QString figure_text(FigureFormat format, const simulator::FigureValue& value) {
  return std::visit(CellWriter{format}, value);
}

}  // namespace draftscope::gui
