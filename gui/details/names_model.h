// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The time of a range by name, one row per name. The role `value_role` has the raw value. Tooltips of rows
// have what the columns leave out.

#include <QAbstractTableModel>
#include <vector>

#include "data/details/range_profile.h"

namespace draftscope::gui {

class NamesModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  static constexpr int value_role = Qt::UserRole;
  enum Column : std::uint8_t { attributed, share, open, count, name };

  explicit NamesModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}
  /// The rows' indices refer to `names`; `duration_ns` is the length of the range.
  void set_rows(std::vector<NameTotal> rows, const std::vector<std::string>& names, std::int64_t duration_ns);

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  std::vector<NameTotal> rows_;
  std::vector<QString> names_;  ///< Name of each row.
  std::int64_t duration_ns_ = 0;
};

}  // namespace draftscope::gui
