// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The rows of a query. The role `value_role` has the raw value; for NULL it is an empty text. A cell shows
// only the beginning of a long text; Qt::EditRole has the whole text. Ids of runs, requests and rounds are
// links.

#include <draftscope/traces/query.h>
#include <optional>
#include <utility>

#include "data/sql_schema.h"
#include "models/column_text.h"

namespace draftscope::gui {

class QueryModel : public ColumnsModel {
  Q_OBJECT

 public:
  static constexpr int value_role = Qt::UserRole;

  /// `links` has one element per column, or none at all.
  void set_result(traces::QueryResult result, std::vector<SqlLink> links = {});
  [[nodiscard]] const traces::QueryResult& result() const { return result_; }
  /// Kind and id of the row that a cell leads to.
  [[nodiscard]] std::optional<std::pair<SqlLink, qint64>> link(const QModelIndex& index) const;

  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;

 private:
  traces::QueryResult result_;
  std::vector<SqlLink> links_;
};

}  // namespace draftscope::gui
