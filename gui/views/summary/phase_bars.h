// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Parts of the wall time of each run: a bar a run, split by phase, with its legend. The parts add up to the
// wall time, what no phase covers included.

#include <QWidget>

#include "data/opened_recording.h"

namespace draftscope::gui {

class PhaseBars : public QWidget {
  Q_OBJECT

 public:
  explicit PhaseBars(QWidget* parent = nullptr);
  void set_recording(RecordingPointer recording);
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  struct Part {
    QRect box;
    QString tooltip;
  };

  void paint_legend(QPainter& painter) const;
  /// One run's bar with its names; the longest run's wall time fills the width.
  void paint_run(QPainter& painter, const simulator::Figures& run, int top, std::int64_t longest_ns);

  RecordingPointer recording_;
  std::vector<Part> parts_;
};

}  // namespace draftscope::gui
