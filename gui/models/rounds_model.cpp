// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace draftscope::gui {

namespace {

using simulator::RequestLabel;
using simulator::RoundColumn;
using simulator::RoundValue;

const RoundColumn& column_at(int column) {
  return simulator::round_columns()[static_cast<std::size_t>(column)];
}

/// NaN for texts and for missing values.
double number_of(const RoundValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* request = std::get_if<RequestLabel>(&value))
    return static_cast<double>(request->question) * 0x1p20 + request->repeat;
  return std::numeric_limits<double>::quiet_NaN();
}

std::string_view text_of_value(const RoundValue& value) {
  const auto* text = std::get_if<std::string_view>(&value);
  return text == nullptr ? std::string_view() : *text;
}

/// False for requests, which sort by their numbers although they are shown as a text.
bool sorts_by_text(const RoundColumn& column) {
  return column.format == simulator::FigureFormat::text && column.key != "request";
}

QString label_text(const RequestLabel& request) {
  return QStringLiteral("%1 · %2").arg(request.question).arg(request.repeat);
}

}  // namespace

RoundsModel::RoundsModel() {
  std::vector<ColumnText> columns;
  for (const RoundColumn& column : simulator::round_columns())
    columns.push_back(column_text(column.title, column.explanation));
  set_columns(std::move(columns));
}

void RoundsModel::set_run(RecordingPointer recording, std::size_t run_index) {
  beginResetModel();
  recording_ = std::move(recording);
  run_ = run_index;
  rebuild();
  set_row_count(rows_.size());
  endResetModel();
}

void RoundsModel::set_filter(const QString& text) {
  if (text == filter_) return;
  beginResetModel();
  filter_ = text;
  rebuild();
  set_row_count(rows_.size());
  endResetModel();
}

int RoundsModel::column_of(std::string_view key) {
  return static_cast<int>(simulator::round_column_index(key));
}

simulator::RoundRow RoundsModel::row_of(std::uint32_t round_index) const {
  const traces::Request& request = recording_->request_of(round_index);
  return {&recording_->round(round_index), &request, recording_->prompt_of(request),
          recording_->layer_set(round_index), recording_->number_in_run(round_index)};
}

std::vector<bool> RoundsModel::matching_requests() const {
  std::vector<bool> matches;
  for (const traces::Request& request : recording_->recording().requests) {
    const traces::Prompt* prompt = recording_->prompt_of(request);
    const QString label = label_text({prompt == nullptr ? 0 : prompt->question_id, request.repeat});
    const QString category = prompt == nullptr ? QString() : QString::fromStdString(prompt->category);
    matches.push_back(label.contains(filter_, Qt::CaseInsensitive) ||
                      category.contains(filter_, Qt::CaseInsensitive));
  }
  return matches;
}

std::function<double(std::uint32_t)> RoundsModel::sort_key() const {
  const RoundColumn& column = column_at(sort_column_);
  if (!sorts_by_text(column))
    return [this, &column](std::uint32_t round_index) {
      const double key = number_of(column.get(row_of(round_index)));
      return std::isnan(key) ? -std::numeric_limits<double>::infinity() : key;
    };
  // Distinct texts are few compared with rounds, so they are sorted once.
  std::map<std::string_view, double> places;
  for (const std::uint32_t round_index : rows_) places[text_of_value(column.get(row_of(round_index)))];
  double next = 0.0;
  for (auto& [name, at] : places) at = next++;
  return [this, &column, places = std::move(places)](std::uint32_t round_index) {
    return places.at(text_of_value(column.get(row_of(round_index))));
  };
}

void RoundsModel::rebuild() {
  rows_.clear();
  row_of_round_.clear();
  if (!recording_ || run_ >= recording_->runs().size()) return;
  const std::vector<std::uint32_t>& all = recording_->runs()[run_].rounds;
  if (filter_.isEmpty()) {
    rows_ = all;
  } else {
    const std::vector<bool> requests = matching_requests();
    for (const std::uint32_t round_index : all) {
      const auto of = &recording_->request_of(round_index) - recording_->recording().requests.data();
      if (requests[static_cast<std::size_t>(of)] ||
          text(round_index, column_of("draft_stop")).contains(filter_, Qt::CaseInsensitive))
        rows_.push_back(round_index);
    }
  }
  if (sort_column_ != place || sort_order_ != Qt::AscendingOrder) {
    const std::function<double(std::uint32_t)> key_of = sort_key();
    std::vector<std::pair<double, std::uint32_t>> keyed;
    keyed.reserve(rows_.size());
    for (std::uint32_t row = 0; row < rows_.size(); ++row) keyed.emplace_back(key_of(rows_[row]), row);
    // Ties stay in the order of the run.
    if (sort_order_ == Qt::AscendingOrder)
      std::sort(keyed.begin(), keyed.end());
    else
      std::sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) {
        return b.first < a.first || (a.first == b.first && a.second < b.second);
      });
    std::vector<std::uint32_t> sorted;
    sorted.reserve(rows_.size());
    for (const auto& [key, row] : keyed) sorted.push_back(rows_[row]);
    rows_ = std::move(sorted);
  }
  row_of_round_.assign(all.size(), -1);
  for (std::size_t i = 0; i < rows_.size(); ++i)
    row_of_round_[recording_->place_in_run(rows_[i])] = static_cast<std::int32_t>(i);
}

RoundValue RoundsModel::value(std::uint32_t round_index, int column) const {
  return column_at(column).get(row_of(round_index));
}

QString RoundsModel::text(std::uint32_t round_index, int column) const {
  const RoundValue found = value(round_index, column);
  if (const auto* request = std::get_if<RequestLabel>(&found)) return label_text(*request);
  if (const auto* text = std::get_if<std::string_view>(&found)) return QString::fromUtf8(*text);
  const simulator::FigureFormat format = column_at(column).format;
  if (const auto* whole = std::get_if<std::int64_t>(&found)) return figure_text(format, *whole);
  if (const auto* number = std::get_if<double>(&found)) return figure_text(format, *number);
  return figure_text(format, {});
}

QVariant RoundsModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const std::uint32_t round_index = round_of_row(index.row());
  switch (role) {
    case Qt::DisplayRole:
      return text(round_index, index.column());
    case Qt::TextAlignmentRole:
      return cell_alignment(sorts_by_text(column_at(index.column())));
    case value_role: {
      const RoundValue found = value(round_index, index.column());
      // A request's number is its place among others, and no figure.
      const bool is_figure = !std::holds_alternative<RequestLabel>(found) && !std::isnan(number_of(found));
      return is_figure ? QVariant(number_of(found)) : QVariant();
    }
    case round_role:
      return round_index;
    default:
      return {};
  }
}

void RoundsModel::sort(int column, Qt::SortOrder order) {
  if (column < 0 || column >= columnCount()) return;
  emit layoutAboutToBeChanged({}, QAbstractItemModel::VerticalSortHint);
  const QModelIndexList before = persistentIndexList();
  std::vector<std::uint32_t> rounds;
  for (const QModelIndex& index : before) rounds.push_back(round_of_row(index.row()));
  sort_column_ = column;
  sort_order_ = order;
  rebuild();
  QModelIndexList after;
  for (qsizetype i = 0; i < before.size(); ++i)
    after.push_back(index(row_of_round(rounds[static_cast<std::size_t>(i)]), before[i].column()));
  changePersistentIndexList(before, after);
  emit layoutChanged({}, QAbstractItemModel::VerticalSortHint);
}

int RoundsModel::row_of_round(std::uint32_t round_index) const {
  if (!recording_ || round_index >= recording_->recording().rounds.size() ||
      recording_->run_of(round_index) != run_)
    return -1;
  const std::uint32_t in_run = recording_->place_in_run(round_index);
  return in_run < row_of_round_.size() ? row_of_round_[in_run] : -1;
}

}  // namespace draftscope::gui
