// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The marks of the shown recording: flags on the time axis. Changes can be undone with those of the range,
// and are written beside the recording at once.

#include <QObject>
#include <optional>

#include "data/marks/marks.h"
#include "state/view_state.h"
#include "timeline/time_axis.h"
#include "widgets/background_job.h"

class QPainter;
class QPalette;
class QPoint;
class QWidget;

namespace draftscope::gui {

class MarksLayer : public QObject {
  Q_OBJECT

 public:
  /// `state` must outlive the layer.
  explicit MarksLayer(ViewState& state, QObject* parent = nullptr);

  /// Marks in the order of their times.
  [[nodiscard]] const std::vector<Mark>& marks() const { return marks_; }
  /// The chosen mark, as an index into marks().
  [[nodiscard]] std::optional<std::size_t> chosen() const { return chosen_; }
  void choose(std::optional<std::size_t> index);

  void add(Mark mark);
  /// Replaces the text of a mark; an empty text removes the mark.
  void set_text(std::size_t index, const std::string& text);
  void remove_chosen() {
    if (chosen_) set_text(*chosen_, {});
  }
  /// Asks for the text of the chosen mark, or of a new one at `time`.
  void edit(QWidget& parent, TimeRange time);

  /// Chooses a mark and shows its time.
  void go_to(std::size_t index);
  /// Goes to the mark after or before the chosen one, or after or before the middle of what is shown.
  void step(bool forward);

  /// Paints the flags on the axis, and their lines down to `bottom`.
  void paint(QPainter& painter, const TimeAxis& axis, int bottom, const QPalette& colors) const;
  /// Mark whose flag is at a point of the axis.
  [[nodiscard]] std::optional<std::size_t> mark_at(const TimeAxis& axis, const QPoint& point) const;
  /// Text and times of a mark, as HTML.
  [[nodiscard]] QString describe(std::size_t index) const;

 signals:
  void changed();
  /// Emitted with one line for the user.
  void said(const QString& words);

 private:
  friend class MarksChange;
  void follow_recording();
  void replace(std::vector<Mark> marks);
  void apply(const std::filesystem::path& recording, const std::vector<Mark>& marks);

  ViewState& state_;
  BackgroundJob job_;
  std::filesystem::path recording_;  ///< Path of the recording; empty = none.
  std::vector<Mark> marks_;
  std::optional<std::size_t> chosen_;
  QString refusal_;  ///< Why marks can't be changed now; empty = they can.
};

}  // namespace draftscope::gui
