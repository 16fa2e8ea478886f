// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Tables of the page of the device: a model of cells with a text and a number to sort by, and its columns.

#include <utility>
#include <vector>

#include "data/device/device_answer.h"
#include "models/column_text.h"

class QTableView;

namespace draftscope::gui {

struct DeviceCell {
  QString text;
  QVariant value;  ///< Number (double) or text; invalid where a number is missing.
};

struct DeviceColumn : ColumnText {
  DeviceColumn(QString name, QString meaning, bool of_texts = false)
      : ColumnText{std::move(name), std::move(meaning)}, is_text(of_texts) {}
  bool is_text;
};

class DeviceCells : public ColumnsModel {
  Q_OBJECT

 public:
  static constexpr int value_role = Qt::UserRole;
  static constexpr int sort_role = Qt::UserRole + 1;  ///< The value; missing numbers below all others.

  /// Every row has a cell per column.
  void set_cells(std::vector<DeviceColumn> columns, std::vector<std::vector<DeviceCell>> rows);

  [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;

 private:
  std::vector<DeviceColumn> columns_;
  std::vector<std::vector<DeviceCell>> rows_;
};

/// "+1.3 ms", "−40 µs", "±0 ns".
[[nodiscard]] QString signed_duration_text(double ns);

/// Column of the share among those of device_columns().
inline constexpr int share_column = 1;

[[nodiscard]] std::vector<DeviceColumn> device_columns(const DeviceAnswer& answer);
/// One row per name, with the numbers first; the last cell is the name. Names that only the other run has
/// come last.
[[nodiscard]] std::vector<std::vector<DeviceCell>> device_rows(const simulator::DeviceTimeline& timeline,
                                                               const DeviceAnswer& answer);

[[nodiscard]] std::vector<DeviceColumn> gap_columns();
/// One row per listed gap.
[[nodiscard]] std::vector<std::vector<DeviceCell>> gap_rows(const simulator::DeviceTimeline& timeline,
                                                            const DeviceAnswer& answer);

/// Sets up a table that has its model.
void set_up_device_table(QTableView& table, const QString& name);

}  // namespace draftscope::gui
