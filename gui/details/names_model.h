// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The time of a range by name, one row per name. The role `value_role` has the raw value. Tooltips of rows
// have what the columns leave out.

#include <vector>

#include "data/details/range_profile.h"
#include "models/column_text.h"

namespace draftscope::gui {

class NamesModel : public ColumnsModel {
  Q_OBJECT

 public:
  static constexpr int value_role = Qt::UserRole;
  enum Column : std::uint8_t { attributed, share, open, count, name };

  NamesModel();
  /// The rows' indices refer to `names`; `duration_ns` is the length of the range.
  void set_rows(std::vector<NameTotal> rows, const std::vector<std::string>& names, std::int64_t duration_ns);

  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;

 private:
  std::vector<NameTotal> rows_;
  std::vector<QString> names_;  ///< Name of each row.
  std::int64_t duration_ns_ = 0;
};

}  // namespace draftscope::gui
