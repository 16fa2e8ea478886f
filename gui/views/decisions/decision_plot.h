// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Decisions over the rounds of the run: lines with one mark per decision (filled if it took effect, its shape
// by its word), one coloured row per exit, or shares of words. Bands show the strategy's phases. All views of
// rounds share the axis; Page Up and Page Down step through the decisions.

#include <memory>
#include <span>

#include "data/decisions/rounds_picture.h"
#include "views/rounds/rounds_plot.h"

namespace draftscope::gui {

class DecisionPlot : public RoundsPlot {
  Q_OBJECT

 public:
  explicit DecisionPlot(ViewState& state, QWidget* parent = nullptr);

  /// Shows a picture; null shows a notice instead. The picture was made of `history`, which gives the words
  /// about its decisions.
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
  /// Summary of a line in a column that has values of the line.
  struct ColumnValue {
    RoundColumn column;
    ValueSummary summary;
    bool begins = false;  ///< True if it is not connected with the value before.
  };
  /// Paints a line. `beginnings` are the places at which the strategy starts anew, ascending.
  void paint_line(QPainter& painter, const RoundAxis& axis, std::size_t line,
                  std::span<const std::size_t> beginnings) const;
  /// Paints a band from the min to the max value of each column that has more than one.
  void paint_bands(QPainter& painter, std::span<const ColumnValue> values, const QColor& color) const;
  void paint_steps(QPainter& painter, std::span<const ColumnValue> values, const QColor& color,
                   bool is_dashed) const;
  /// Paints the marks of a line's decisions at these places.
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

}  // namespace draftscope::gui
