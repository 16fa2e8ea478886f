// SPDX-License-Identifier: GPL-3.0-or-later
#include "names_model.h"

#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

QString phase_text(const NameTotal& row) {
  if (row.lane_kind == LaneKind::requests || row.lane_kind == LaneKind::rounds) return {};
  const std::string_view name = traces::phase_name(row.phase);
  return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
}

double number_of(const NameTotal& row, int column, std::int64_t duration_ns) {
  const auto attributed = static_cast<double>(row.attributed_ns);
  switch (column) {
    case NamesModel::attributed:
      return attributed;
    case NamesModel::share:
      return duration_ns > 0 ? attributed / static_cast<double>(duration_ns) : 0.0;
    case NamesModel::open:
      return static_cast<double>(row.total_ns);
    default:
      return static_cast<double>(row.count);
  }
}

QString tip_of(const NameTotal& row, const QString& name) {
  QStringList lines{name};
  if (!row.track_kind.empty()) lines << NamesModel::tr("on: %1").arg(QString::fromStdString(row.track_kind));
  if (const QString phase = phase_text(row); !phase.isEmpty())
    lines << NamesModel::tr("phase that most of its time went to: %1").arg(phase);
  const auto slices = static_cast<std::int64_t>(std::max<std::size_t>(row.count, 1));
  lines << NamesModel::tr("open: mean %1, longest %2")
               .arg(duration_text(row.total_ns / slices), duration_text(row.max_ns));
  return lines.join(u'\n');
}

}  // namespace

NamesModel::NamesModel() {
  set_columns({{tr("attributed"),
                tr("Each instant once: the innermost span's, or on a device what began first has it")},
               {tr("share"), tr("Attributed, of the range")},
               {tr("open"), tr("From begin to end: what runs at the same time counts twice")},
               {tr("count"), tr("Slices that the range holds or cuts")},
               {tr("name"), tr("Name of the slices")}});
}

void NamesModel::set_rows(std::vector<NameTotal> rows, const std::vector<std::string>& names,
                          std::int64_t duration_ns) {
  beginResetModel();
  rows_ = std::move(rows);
  set_row_count(rows_.size());
  names_.clear();
  names_.reserve(rows_.size());
  for (const NameTotal& row : rows_) {
    names_.push_back(QString::fromStdString(names[row.name]));
    if (row.track_kind == "block") names_.back() += tr(" (one block)");
  }
  duration_ns_ = duration_ns;
  endResetModel();
}

QVariant NamesModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const int column = index.column();
  const auto place = static_cast<std::size_t>(index.row());
  const NameTotal& row = rows_[place];
  if (role == Qt::TextAlignmentRole) return cell_alignment(column == name);
  if (role == Qt::ToolTipRole) return tip_of(row, names_[place]);
  if (role != Qt::DisplayRole && role != value_role) return {};
  if (column == name) return names_[place];
  const double number = number_of(row, column, duration_ns_);
  if (role == value_role) return number;
  if (column == count) return QString::number(row.count);
  if (column == share) return percent_text(number);
  return duration_text(static_cast<std::int64_t>(number));
}

}  // namespace draftscope::gui
