// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Cells of tables that are drawn often, or show a thousand of them: texts that are laid out only once, and
// bars.

#include <QCache>
#include <QStaticText>
#include <QStyledItemDelegate>

namespace draftscope::gui {

/// A cell with one line of plain text, drawn like the style draws it, but from cached text layouts. The style
/// draws cells with a selection, the focus, or less width than their text needs.
class TextCell : public QStyledItemDelegate {
  Q_OBJECT

 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  /// The style's size hint.
  [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 private:
  /// The result is owned by the cache, and valid until the next call.
  [[nodiscard]] const QStaticText& laid_out(const QString& text, const QFont& font,
                                            const QTransform& transform) const;

  static constexpr int max_texts = 8192;  ///< A few screens full.
  mutable QCache<QString, QStaticText> texts_{max_texts};
  mutable QFont font_;  ///< Font of all texts in the cache.
};

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
