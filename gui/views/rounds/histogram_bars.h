// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Small bars of how the run's rounds spread over a field: those that the filter leaves filled, the others
// pale and hatched.

#include <QWidget>

#include "data/rounds/filter_histogram.h"

namespace draftscope::gui {

class HistogramBars : public QWidget {
  Q_OBJECT

 public:
  explicit HistogramBars(QWidget* parent = nullptr);
  void show_histogram(FilterHistogram histogram);
  [[nodiscard]] const FilterHistogram& histogram() const { return histogram_; }
  [[nodiscard]] QSize sizeHint() const override { return {220, 34}; }
  [[nodiscard]] QSize minimumSizeHint() const override { return {120, 34}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  [[nodiscard]] QString value_text(double value) const;
  [[nodiscard]] QString bin_text(std::size_t bin) const;

  FilterHistogram histogram_;
};

}  // namespace draftscope::gui
