// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A row a run while it is being recorded: tokens a second, speedup against vanilla with its 95 % interval,
// acceptance. What the interval was before stands above it, paler, oldest first, so that one sees it shrink.

#include <QWidget>
#include <vector>

#include "record/live_reader.h"

class QPainter;

namespace draftscope::gui {

class LiveGauges : public QWidget {
  Q_OBJECT

 public:
  explicit LiveGauges(QWidget* parent = nullptr);

  void clear();
  /// The next reading of the same recording.
  void add(const LiveFigures& figures);
  [[nodiscard]] const std::vector<LiveRun>& runs() const { return runs_; }

  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  /// A speedup as it was once.
  struct Past {
    double value = 1.0;
    double low = 1.0;
    double high = 1.0;
  };
  struct Columns {
    QRect name, rate, speedup, axis, acceptance;
  };

  [[nodiscard]] Columns columns(int top, int height) const;
  /// Ends of the speedups' axis, which has 1 on it.
  [[nodiscard]] std::pair<double, double> ends() const;
  void paint_header(QPainter& painter) const;
  void paint_row(QPainter& painter, std::size_t run, int top) const;
  void paint_speedup(QPainter& painter, std::size_t run, const QRect& box) const;
  void describe();

  std::vector<LiveRun> runs_;
  std::vector<std::vector<Past>> past_;  ///< [run]
};

}  // namespace draftscope::gui
