// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Fast cells for a table that is drawn often, or shows a thousand of them: each text is laid out only once.

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

}  // namespace draftscope::gui
