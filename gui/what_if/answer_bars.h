// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Tokens a second and speedup, of decoding without the prefill, as points with their 80 % (thick) and 95 %
// (thin) intervals on an axis that stays; of a bounded answer the points are both bounds. The dashed lines
// are vanilla decoding, hollow marks what was measured.

#include <array>
#include <memory>

#include "what_if/pictures/what_if_picture.h"
#include "what_if/questions/what_if_answer.h"

namespace draftscope::gui {

class AnswerBars : public WhatIfPicture {
  Q_OBJECT

 public:
  explicit AnswerBars(QWidget* parent = nullptr) : WhatIfPicture(parent) {}

  /// Expects an answer without a refusal.
  void set_answer(std::shared_ptr<const WhatIfAnswer> answer);
  [[nodiscard]] QSize sizeHint() const override { return {720, 156}; }
  /// The axes fit the next answer anew.
  void forget_axes() { ends_ = {}; }
  /// Ends of the axes, of tokens a second and of speedup; 0 before the first answer.
  [[nodiscard]] const std::array<double, 2>& ends() const { return ends_; }

 protected:
  void paint(QPainter& painter) override;
  [[nodiscard]] QSize min_picture_size() const override;

 private:
  /// Room for the words at the left.
  [[nodiscard]] int text_width() const;

  std::shared_ptr<const WhatIfAnswer> answer_;
  /// They stay while they can, so that it is the points that move.
  std::array<double, 2> ends_{};
};

}  // namespace draftscope::gui
