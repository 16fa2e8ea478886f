// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Cells of the table of runs that are pictures: the speedup as a mark on an axis that all rows share, and the
// wall time as a bar of phases.

#include <QStyledItemDelegate>
#include <optional>
#include <vector>

#include "models/runs_model.h"

namespace draftscope::gui {

/// Whether the prefill counts.
enum class RunSpan : std::uint8_t { whole, decoding };

/// Range of the axis for all rows' marks, including the line of vanilla decoding.
struct SpeedupScale {
  double low = 0.9;
  double high = 1.1;

  /// Position on the axis: 0 at `low`, 1 at `high`.
  [[nodiscard]] double share(double speedup) const { return (speedup - low) / (high - low); }
};
[[nodiscard]] SpeedupScale speedup_scale(const RunsModel& runs, RunSpan span);

/// Speedup of a row; absent for the baseline, and where there is none.
[[nodiscard]] std::optional<double> speedup_of(const RunsModel& runs, int row, RunSpan span);

/// Draws a dot with its 95 % interval as a whisker, on an axis with a line at 1×.
class SpeedupCell : public QStyledItemDelegate {
  Q_OBJECT

 public:
  SpeedupCell(const RunsModel& runs, RunSpan span, QObject* parent)
      : QStyledItemDelegate(parent), runs_(runs), span_(span) {}

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  bool helpEvent(QHelpEvent* event, QAbstractItemView* view, const QStyleOptionViewItem& option,
                 const QModelIndex& index) override;

 private:
  const RunsModel& runs_;
  RunSpan span_;
};

/// Draws the wall time split by phase; for RunSpan::decoding, without the prefill.
class PhasesCell : public QStyledItemDelegate {
  Q_OBJECT

 public:
  PhasesCell(const RunsModel& runs, QObject* parent) : QStyledItemDelegate(parent), runs_(runs) {}
  void set_span(RunSpan span) { span_ = span; }

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  bool helpEvent(QHelpEvent* event, QAbstractItemView* view, const QStyleOptionViewItem& option,
                 const QModelIndex& index) override;

 private:
  struct Part {
    QRect box;
    traces::Phase phase = traces::Phase::prefill;
    std::int64_t ns = 0;
  };
  /// Pieces of a row's bar in its cell, from the left.
  [[nodiscard]] std::vector<Part> parts(int row, const QRect& cell) const;
  [[nodiscard]] std::int64_t shown_ns(const simulator::Figures& figures) const;

  const RunsModel& runs_;
  RunSpan span_ = RunSpan::whole;
};

}  // namespace draftscope::gui
