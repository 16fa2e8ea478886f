// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Tokens a second and speedup, of decoding without the prefill, as points with their 80 % (thick) and 95 %
// (thin) intervals on an axis that stays; of a bounded answer the points are both bounds. The dashed lines
// are vanilla decoding, hollow marks what was measured.

#include <QWidget>
#include <array>
#include <memory>

#include "what_if/questions/what_if_answer.h"

namespace draftscope::gui {

class AnswerBars : public QWidget {
  Q_OBJECT

 public:
  explicit AnswerBars(QWidget* parent = nullptr);

  /// Expects an answer without a refusal.
  void set_answer(std::shared_ptr<const WhatIfAnswer> answer);
  /// Shows words in place of the answer.
  void set_message(const QString& words);
  [[nodiscard]] const QString& message() const { return message_; }
  /// Dims an answer that is of an older question.
  void set_stale(bool is_stale);
  [[nodiscard]] QSize sizeHint() const override { return {720, 156}; }
  [[nodiscard]] QSize minimumSizeHint() const override;
  /// The axes fit the next answer anew.
  void forget_axes() { ends_ = {}; }
  /// Ends of the axes, of tokens a second and of speedup; 0 before the first answer.
  [[nodiscard]] const std::array<double, 2>& ends() const { return ends_; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void paint(QPainter& painter);
  void paint_age(QPainter& painter) const;
  /// Room for the words at the left.
  [[nodiscard]] int text_width() const;

  std::shared_ptr<const WhatIfAnswer> answer_;
  QString message_;
  bool is_stale_ = false;
  /// They stay while they can, so that it is the points that move.
  std::array<double, 2> ends_{};
};

}  // namespace draftscope::gui
