// SPDX-License-Identifier: GPL-3.0-or-later
#include "query_model.h"

#include <QApplication>
#include <QFont>
#include <QPalette>
#include <algorithm>

namespace draftscope::gui {

namespace {

constexpr qsizetype max_shown = 500;  // Characters per cell: laying out a text of megabytes takes seconds.

QVariant variant(const traces::SqlValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return QVariant::fromValue<qlonglong>(*number);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* text = std::get_if<std::string>(&value)) return QString::fromStdString(*text);
  return {};
}

/// The text, or its beginning and a sign that there is more.
QString beginning(const std::string& text) {
  // No character takes more than four bytes.
  constexpr qsizetype max_bytes = 4 * max_shown;
  QString shown = QString::fromUtf8(text.data(), std::min(static_cast<qsizetype>(text.size()), max_bytes));
  const bool is_cut = shown.size() > max_shown || static_cast<qsizetype>(text.size()) > max_bytes;
  shown.truncate(max_shown);
  if (is_cut && shown.back().isHighSurrogate()) shown.chop(1);
  return is_cut ? shown + u'…' : shown;
}

QVariant shown(const traces::SqlValue& value) {
  if (std::holds_alternative<std::monostate>(value)) return QStringLiteral("NULL");
  if (const auto* text = std::get_if<std::string>(&value)) return beginning(*text);
  return variant(value);
}

}  // namespace

void QueryModel::set_result(traces::QueryResult result, std::vector<SqlLink> links) {
  beginResetModel();
  std::vector<ColumnText> columns;
  for (const std::string& name : result.columns) columns.push_back({beginning(name), {}});
  set_columns(std::move(columns));
  set_row_count(result.rows.size());
  result_ = std::move(result);
  links_ = std::move(links);
  endResetModel();
}

std::optional<std::pair<SqlLink, qint64>> QueryModel::link(const QModelIndex& index) const {
  const auto column = static_cast<std::size_t>(index.column());
  if (!index.isValid() || column >= links_.size() || links_[column] == SqlLink::none) return std::nullopt;
  const auto* id = std::get_if<std::int64_t>(&result_.rows[static_cast<std::size_t>(index.row())][column]);
  if (id == nullptr) return std::nullopt;
  return std::pair(links_[column], qint64{*id});
}

QVariant QueryModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const traces::SqlValue& value =
      result_.rows[static_cast<std::size_t>(index.row())][static_cast<std::size_t>(index.column())];
  const bool is_number = std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value);
  switch (role) {
    case Qt::DisplayRole:
      return shown(value);
    case Qt::EditRole:
      return std::holds_alternative<std::monostate>(value) ? shown(value) : variant(value);
    case value_role:
      return std::holds_alternative<std::monostate>(value) ? QVariant(QString()) : variant(value);
    case Qt::TextAlignmentRole:
      return cell_alignment(!is_number);
    case Qt::ForegroundRole:
      return link(index) ? QVariant(QApplication::palette().color(QPalette::Link)) : QVariant();
    case Qt::FontRole: {
      if (!link(index)) return {};
      QFont font;
      font.setUnderline(true);
      return font;
    }
    case Qt::ToolTipRole:
      return link(index) ? QVariant(tr("Double click, or Return: show it")) : QVariant();
    default:
      return {};
  }
}

}  // namespace draftscope::gui
