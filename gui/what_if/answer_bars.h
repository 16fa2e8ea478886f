// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Tokens per second and speedup of decoding without the prefill: points with their 80 % (thick) and 95 %
// (thin) intervals on a stable axis. The points of a bounded answer are both bounds. Dashed lines mark
// vanilla decoding, and hollow marks show measurements.

#include <QWidget>
#include <array>
#include <memory>

#include "what_if/questions/what_if_answer.h"

namespace draftscope::gui {

class AnswerBars : public QWidget {
  Q_OBJECT

 public:
  explicit AnswerBars(QWidget* parent = nullptr);

  /// Shows an answer, which must not be a refusal.
  void set_answer(std::shared_ptr<const WhatIfAnswer> answer);
  /// Shows words in place of the answer.
  void set_message(const QString& words);
  [[nodiscard]] const QString& message() const { return message_; }
  /// Dims the answer while it belongs to an older question.
  void set_stale(bool is_stale);
  [[nodiscard]] QSize sizeHint() const override { return {720, 156}; }
  [[nodiscard]] QSize minimumSizeHint() const override;
  /// Makes the axes fit the next answer anew.
  void forget_axes() { ends_ = {}; }
  /// Ends of the axes of tokens per second and of speedup; 0 before the first answer.
  [[nodiscard]] const std::array<double, 2>& ends() const { return ends_; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void paint(QPainter& painter);
  void paint_age(QPainter& painter) const;
  /// Width of the words at the left.
  [[nodiscard]] int text_width() const;

  std::shared_ptr<const WhatIfAnswer> answer_;
  QString message_;
  bool is_stale_ = false;
  /// Axis ends stay while possible, so that the points move.
  std::array<double, 2> ends_{};
};

}  // namespace draftscope::gui
