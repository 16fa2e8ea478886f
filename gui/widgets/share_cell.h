// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStyledItemDelegate>

namespace draftscope::gui {

/// A cell with a share between 0 and 1 as text over a bar of this length.
class ShareCell : public QStyledItemDelegate {
  Q_OBJECT

 public:
  /// `value_role` is the role of the share as a number; the bar has room for `min_letters` digits at least.
  ShareCell(int value_role, QObject* parent, int min_letters = 0)
      : QStyledItemDelegate(parent), value_role_(value_role), min_letters_(min_letters) {}

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  /// Room for the text and a bar whose length can be read.
  [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 private:
  int value_role_;
  int min_letters_;
};

}  // namespace draftscope::gui
