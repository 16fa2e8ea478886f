// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Cells of a table that is drawn often, or has a thousand of them in sight: a text that is laid out once.

#include <QCache>
#include <QStaticText>
#include <QStyledItemDelegate>

namespace draftscope::gui {

/// A cell with one line of plain text, drawn as the style draws it, but from texts that are laid out once.
/// Cells with a selection, the focus, or less width than their text needs are left to the style.
class TextCell : public QStyledItemDelegate {
  Q_OBJECT

 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  /// The style's.
  [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 private:
  /// Owned by the cache, and valid until the next call.
  [[nodiscard]] const QStaticText& laid_out(const QString& text, const QFont& font,
                                            const QTransform& transform) const;

  static constexpr int max_texts = 8192;  ///< a few screens full
  mutable QCache<QString, QStaticText> texts_{max_texts};
  mutable QFont font_;  ///< of all texts in the cache
};

}  // namespace draftscope::gui
