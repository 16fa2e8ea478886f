// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_cells.h"

#include <QCoreApplication>
#include <QHeaderView>
#include <QTableView>
#include <algorithm>
#include <cmath>
#include <limits>

#include "charts/table_file.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

QString cell_tr(const char* words) {
  return QCoreApplication::translate("DeviceView", words);
}

DeviceCell time_cell(std::int64_t ns) {
  return {duration_text(ns), static_cast<double>(ns)};
}

DeviceCell number_cell(const std::optional<double>& number, QString (*text)(double)) {
  return number ? DeviceCell{text(*number), *number} : DeviceCell{QStringLiteral("–"), {}};
}

QString share_text(double share) {
  return percent_text(share);
}

DeviceCell text_cell(const std::string& text) {
  const QString words = QString::fromStdString(text).simplified();
  return {words, words};
}

std::optional<double> ratio_of(std::int64_t part, std::int64_t whole) {
  if (whole <= 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

bool has_occupancy(const DeviceAnswer& answer) {
  return std::ranges::any_of(answer.table.rows,
                             [](const simulator::DeviceRow& row) { return row.occupancy.has_value(); });
}

DeviceCell token_cell(const std::optional<simulator::TokenTime>& time) {
  return time ? time_cell(std::llround(time->ns)) : number_cell({}, number_text);
}

/// Adds the times of a token here and in the other run; dashes where there is no such name, or no device.
void add_beside(std::vector<DeviceCell>& cells, const simulator::ComparedTime& times) {
  cells.push_back(token_cell(times.first));
  cells.push_back(token_cell(times.other));
  if (times.difference_ns)
    cells.push_back({signed_duration_text(-*times.difference_ns), -*times.difference_ns});
  else
    cells.push_back(number_cell({}, number_text));
  const bool has_ratio = times.first && times.other && times.first->median_ns && times.other->median_ns;
  cells.push_back(number_cell(
      has_ratio ? ratio_of(*times.first->median_ns, *times.other->median_ns) : std::nullopt, speedup_text));
}

/// The columns that a run has without another beside it, but for the name.
std::vector<DeviceColumn> columns_of_one(const DeviceAnswer& answer) {
  std::vector<DeviceColumn> columns{
      {cell_tr("own time"),
       cell_tr("Time that it has to itself: an instant belongs to what began first, so that the sum is the "
               "device's busy time")},
      {cell_tr("share"), cell_tr("Own time over the busy time")},
      {cell_tr("count"), cell_tr("Kernels, copies or operations that the range holds or cuts")},
      {cell_tr("open"), cell_tr("Time from begin to end, other work at the same time or not")},
      {cell_tr("median"), cell_tr("Median of the open times")},
      {cell_tr("p99"), cell_tr("99th percentile of the open times")},
      {cell_tr("GB/s"), cell_tr("Bytes that it must read over its own time")},
      {cell_tr("of read"), cell_tr("That rate over the one that reading alone reaches on this GPU")}};
  if (has_occupancy(answer))
    columns.push_back({cell_tr("occupancy"),
                       cell_tr("Share of a multiprocessor's warps that fit of the kernel, by its threads, "
                               "registers and shared memory; a mean by open time")});
  return columns;
}

}  // namespace

QString signed_duration_text(double ns) {
  const std::int64_t whole_ns = std::llround(ns);
  if (whole_ns == 0) return QStringLiteral("±0 ns");
  return (whole_ns > 0 ? QStringLiteral("+") : QStringLiteral("−")) + duration_text(std::abs(whole_ns));
}

void DeviceCells::set_cells(std::vector<DeviceColumn> columns, std::vector<std::vector<DeviceCell>> rows) {
  beginResetModel();
  set_columns({columns.begin(), columns.end()});
  set_row_count(rows.size());
  columns_ = std::move(columns);
  rows_ = std::move(rows);
  endResetModel();
}

QVariant DeviceCells::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const auto column = static_cast<std::size_t>(index.column());
  const DeviceCell& cell = rows_[static_cast<std::size_t>(index.row())][column];
  if (role == Qt::DisplayRole) return cell.text;
  if (role == value_role) return cell.value;
  if (role == sort_role)
    return cell.value.isValid() ? cell.value : QVariant(-std::numeric_limits<double>::infinity());
  if (role == Qt::TextAlignmentRole) return cell_alignment(columns_[column].is_text);
  if (role == Qt::ToolTipRole && columns_[column].is_text) return cell.text;
  return {};
}

std::vector<DeviceColumn> device_columns(const DeviceAnswer& answer) {
  std::vector<DeviceColumn> columns = columns_of_one(answer);
  if (answer.beside) {
    columns.push_back({cell_tr("a token"), cell_tr("Own time in the rounds over their output tokens")});
    columns.push_back({cell_tr("other's"), cell_tr("The same in the run that it is compared with")});
    columns.push_back({cell_tr("difference"), cell_tr("Time of a token here less that of the other run")});
    columns.push_back({cell_tr("median ratio"), cell_tr("Median here over that of the other run")});
  }
  columns.push_back({cell_tr("name"), {}, true});
  return columns;
}

std::vector<std::vector<DeviceCell>> device_rows(const simulator::DeviceTimeline& timeline,
                                                 const DeviceAnswer& answer) {
  std::vector<std::vector<DeviceCell>> rows;
  rows.reserve(answer.table.rows.size());
  for (const simulator::DeviceRow& row : answer.table.rows) {
    std::optional<double> of_read = row.gb_s();
    if (of_read && timeline.rate)
      *of_read /= timeline.rate->gb_s;
    else
      of_read.reset();
    std::vector<DeviceCell> cells{time_cell(row.own_ns),
                                  number_cell(ratio_of(row.own_ns, answer.table.busy_ns), share_text),
                                  {QString::number(row.count), static_cast<double>(row.count)},
                                  time_cell(row.open_ns),
                                  time_cell(row.median_ns),
                                  time_cell(row.p99_ns),
                                  number_cell(row.gb_s(), number_text),
                                  number_cell(of_read, share_text)};
    if (has_occupancy(answer)) cells.push_back(number_cell(row.occupancy, share_text));
    if (answer.beside) {
      const auto& names = answer.beside->names;
      const auto name = std::ranges::find(names, timeline.names[row.name], &simulator::ComparedTime::name);
      add_beside(cells, name == names.end() ? simulator::ComparedTime{} : *name);
    }
    cells.push_back(text_cell(timeline.names[row.name]));
    rows.push_back(std::move(cells));
  }
  if (!answer.beside) return rows;
  // Names that only the other run has stand below, without figures of this one.
  for (const simulator::ComparedTime& name : answer.beside->names) {
    if (name.first || std::ranges::any_of(answer.table.rows, [&](const simulator::DeviceRow& row) {
          return timeline.names[row.name] == name.name;
        }))
      continue;
    std::vector<DeviceCell> cells(columns_of_one(answer).size(), number_cell({}, number_text));
    add_beside(cells, name);
    cells.push_back(text_cell(name.name));
    rows.push_back(std::move(cells));
  }
  return rows;
}

std::vector<DeviceColumn> gap_columns() {
  return {
      {cell_tr("gap"), cell_tr("How long the device did nothing")},
      {cell_tr("begins at"), cell_tr("From the begin of what is shown")},
      {cell_tr("kind"),
       cell_tr(
           "launch: the begin of a launch ended it (of a graph, a kernel or a copy); host: between rounds"),
       true},
      {cell_tr("after"), cell_tr("What ended at its begin"), true},
      {cell_tr("before"), cell_tr("What began at its end"), true}};
}

std::vector<std::vector<DeviceCell>> gap_rows(const simulator::DeviceTimeline& timeline,
                                              const DeviceAnswer& answer) {
  const auto name = [&](std::uint32_t work) {
    return work == simulator::no_work ? DeviceCell{QStringLiteral("–"), QString()}
                                      : text_cell(timeline.names[timeline.work[work].kernel]);
  };
  std::vector<std::vector<DeviceCell>> rows;
  rows.reserve(answer.longest.size());
  for (const std::size_t index : answer.longest) {
    const simulator::DeviceGap& gap = answer.gaps[index];
    rows.push_back({time_cell(gap.ns()), time_cell(gap.start_ns - answer.whole.start_ns),
                    text_cell(std::string(simulator::gap_kind_names[static_cast<std::size_t>(gap.kind)])),
                    name(gap.before), name(gap.after)});
  }
  return rows;
}

void set_up_device_table(QTableView& table, const QString& name) {
  table.setAccessibleName(name);
  table.setSelectionBehavior(QAbstractItemView::SelectRows);
  table.setSelectionMode(QAbstractItemView::SingleSelection);
  table.setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  table.verticalHeader()->hide();
  table.verticalHeader()->setDefaultSectionSize(table.fontMetrics().height() + 8);
  table.setAlternatingRowColors(true);
  table.setSortingEnabled(true);
  table.sortByColumn(0, Qt::DescendingOrder);
  offer_copying(table);
}

}  // namespace draftscope::gui
