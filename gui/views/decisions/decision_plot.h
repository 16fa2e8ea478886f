// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Decisions over the rounds of the run: lines with a mark a decision (filled if it took effect, its shape by
// what it said), a row an exit by colour, or shares of words. Bands say what the strategy was doing. The axis
// is that of all views of rounds; Page Up and Page Down go from decision to decision.

#include <memory>
#include <span>

#include "data/decisions/rounds_picture.h"
#include "views/rounds/rounds_plot.h"

namespace draftscope::gui {

class DecisionPlot : public RoundsPlot {
  Q_OBJECT

 public:
  explicit DecisionPlot(ViewState& state, QWidget* parent = nullptr);

  /// Null shows a notice instead. `history` is what the picture was made of, for words about its decisions.
  void show_picture(std::shared_ptr<const RoundsPicture> picture,
                    std::shared_ptr<const DecisionHistory> history);
  void show_notice(const QString& words);
  [[nodiscard]] const RoundsPicture* picture() const { return picture_.get(); }

 protected:
  [[nodiscard]] BackgroundJob::Job reading_job(const RecordingPointer& recording,
                                               std::size_t run_index) override;
  void forget_run() override;
  void paint(QPainter& painter, const RoundAxis& axis) override;
  [[nodiscard]] QString tooltip_at(const RoundAxis& axis, const QPoint& point) const override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  [[nodiscard]] double y_of(double value) const;
  void paint_phases(QPainter& painter, const RoundAxis& axis) const;
  void paint_lines(QPainter& painter, const RoundAxis& axis) const;
  /// Summary of a line in a column that has values of it.
  struct ColumnValue {
    RoundColumn column;
    ValueSummary summary;
    bool begins = false;  ///< is not connected with the one before
  };
  /// `beginnings` are the places at which the strategy begins anew, ascending.
  void paint_line(QPainter& painter, const RoundAxis& axis, std::size_t line,
                  std::span<const std::size_t> beginnings) const;
  /// From the least to the greatest value of each column that has more than one.
  void paint_bands(QPainter& painter, std::span<const ColumnValue> values, const QColor& color) const;
  void paint_steps(QPainter& painter, std::span<const ColumnValue> values, const QColor& color,
                   bool is_dashed) const;
  /// Marks of a line's decisions at these places.
  void paint_marks(QPainter& painter, const RoundAxis& axis, std::size_t line,
                   std::span<const std::uint32_t> places) const;
  void paint_legend(QPainter& painter) const;
  void paint_exits(QPainter& painter, const RoundAxis& axis) const;
  void paint_shares(QPainter& painter, const RoundAxis& axis) const;
  void step(int by);

  std::shared_ptr<const RoundsPicture> picture_;
  std::shared_ptr<const DecisionHistory> history_;
  QString notice_;
};

/// Draws the mark of one of several words; shapes differ as colours do.
void paint_decision_mark(QPainter& painter, const QPointF& at, double radius, std::size_t word,
                         bool is_filled, const QColor& color);

}  // namespace draftscope::gui
