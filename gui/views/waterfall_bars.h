// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Steps from vanilla decoding to a run, in time per token: one bar per step, each beginning where the one
// above ended. A click on a bar, or Return on the selected one, asks for the rounds of that step.

#include <vector>

#include "data/details/recording_diagnosis.h"
#include "widgets/keyboard_plot.h"

namespace draftscope::gui {

class WaterfallBars : public KeyboardPlot {
  Q_OBJECT

 public:
  explicit WaterfallBars(QWidget* parent = nullptr);

  /// Sets the steps of a run that emits this many tokens per round; steps too small to see are left out.
  void set_steps(std::vector<TokenTimeStep> steps, double tokens_per_round);
  /// Shows words in place of bars.
  void set_message(const QString& words);

  [[nodiscard]] const std::vector<TokenTimeStep>& steps() const { return steps_; }
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 signals:
  void chosen(TokenTime what);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  [[nodiscard]] std::size_t places() const override { return steps_.size(); }
  [[nodiscard]] std::optional<std::size_t> place_at(const QPoint& point) const override;
  [[nodiscard]] QString words_of(std::size_t place) const override;
  [[nodiscard]] QString tooltip_of(std::size_t place) const override;
  [[nodiscard]] std::optional<std::size_t> next_place(std::size_t from, int key) const override;
  void choose(std::size_t place) override { emit chosen(steps_[place].what); }

 private:
  [[nodiscard]] QString name_of(TokenTime what) const;
  /// Width of the names left of the bars.
  [[nodiscard]] int names_width() const;
  [[nodiscard]] int numbers_width() const;
  /// Widths that all steps share.
  struct Columns {
    int names = 0;
    int numbers = 0;
    double ns_per_pixel = 1.0;
  };
  void paint_step(QPainter& painter, std::size_t place, const Columns& columns) const;

  std::vector<TokenTimeStep> steps_;
  double tokens_per_round_ = 0.0;
  QString message_;
};

}  // namespace draftscope::gui
