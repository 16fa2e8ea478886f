// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The rows of a query. The role `value_role` has the raw value; of NULL it is an empty text.

#include <draftscope/traces/query.h>
#include <QAbstractTableModel>

namespace draftscope::gui {

class QueryModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  static constexpr int value_role = Qt::UserRole;

  explicit QueryModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}
  void set_result(traces::QueryResult result);

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  traces::QueryResult result_;
};

}  // namespace draftscope::gui
