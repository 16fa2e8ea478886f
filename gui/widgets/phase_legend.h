// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The colours of phases with their names, side by side. The tool tip has those that do not fit, too.

#include <draftscope/traces/records.h>
#include <QWidget>
#include <vector>

namespace draftscope::gui {

class PhaseLegend : public QWidget {
  Q_OBJECT

 public:
  /// All phases.
  explicit PhaseLegend(QWidget* parent = nullptr);
  void set_phases(std::vector<traces::Phase> phases);

  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override { return {120, sizeHint().height()}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  std::vector<traces::Phase> phases_;
};

}  // namespace draftscope::gui
