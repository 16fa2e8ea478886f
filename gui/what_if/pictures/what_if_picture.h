// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Base of the pictures of the what-if page: a message in place of numbers that can't be given,
// and a mark while they are still of an older question, over a picture that is drawn once.

#include <QPixmap>
#include <QWidget>

class QPainter;

namespace draftscope::gui {

class WhatIfPicture : public QWidget {
  Q_OBJECT

 public:
  explicit WhatIfPicture(QWidget* parent = nullptr);

  /// Shows a message in place of the picture; empty shows the picture, drawn anew.
  void set_message(const QString& words);
  [[nodiscard]] const QString& message() const { return message_; }
  void set_stale(bool is_stale);
  [[nodiscard]] bool is_stale() const { return is_stale_; }
  [[nodiscard]] QSize sizeHint() const override { return {720, 380}; }
  /// Room that the picture needs to be read as a whole; around it there is a scroll area.
  [[nodiscard]] QSize minimumSizeHint() const override;

 protected:
  /// Paints all that stays until set_message(), another size or other colours: texts above all.
  virtual void paint(QPainter& painter) = 0;
  /// Paints over it what moves by itself.
  virtual void paint_marks(QPainter& /*painter*/) {}
  /// minimumSizeHint() while there is a picture.
  [[nodiscard]] virtual QSize min_picture_size() const { return {320, 160}; }
  /// Tool tip of a place in the picture; empty shows none.
  [[nodiscard]] virtual QString tooltip_at(const QPoint& /*point*/) const { return {}; }

  /// Paints the title above a plot's area, and the names of its axes below and beside it.
  void paint_names(QPainter& painter, const QRectF& area, const QString& title, const QString& x,
                   const QString& y) const;

  void paintEvent(QPaintEvent* event) override;
  void changeEvent(QEvent* event) override;
  bool event(QEvent* event) override;

 private:
  /// Pixels of paint(), as sharp as the device is.
  [[nodiscard]] const QPixmap& picture(double pixel_ratio);

  QPixmap picture_;  ///< null: to be drawn anew
  QString message_;
  bool is_stale_ = false;
};

}  // namespace draftscope::gui
