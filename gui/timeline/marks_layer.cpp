// SPDX-License-Identifier: GPL-3.0-or-later
#include "marks_layer.h"

#include <QInputDialog>
#include <QPainter>
#include <QUndoCommand>
#include <algorithm>
#include <utility>

#include "widgets/theme.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

constexpr int flag_width = 9;
constexpr int flag_height = 10;
constexpr int text_gap = 3;

}  // namespace

/// One undo step between two states of the marks.
class MarksChange : public QUndoCommand {
 public:
  MarksChange(MarksLayer& layer, std::vector<Mark> after)
      : QUndoCommand(MarksLayer::tr("marks")),
        layer_(layer),
        recording_(layer.recording_),
        before_(layer.marks_),
        after_(std::move(after)) {}

  void undo() override { layer_.apply(recording_, before_); }
  void redo() override { layer_.apply(recording_, after_); }

 private:
  MarksLayer& layer_;
  std::filesystem::path recording_;
  std::vector<Mark> before_;
  std::vector<Mark> after_;
};

MarksLayer::MarksLayer(ViewState& state, QObject* parent) : QObject(parent), state_(state) {
  connect(&state_, &ViewState::recording_changed, this, &MarksLayer::follow_recording);
  follow_recording();
}

void MarksLayer::follow_recording() {
  const std::filesystem::path path =
      state_.recording() ? state_.recording()->recording().path : std::filesystem::path();
  if (path == recording_) return;
  recording_ = path;
  job_.cancel();
  marks_.clear();
  chosen_.reset();
  refusal_.clear();
  emit changed();
  if (path.empty()) return;
  refusal_ = tr("The marks of this recording are still being read.");
  job_.start(
      read_and_take([file = marks_file(path)](const auto& /*should_continue*/) { return read_marks(file); },
                    [this](Result<std::vector<Mark>> read) {
                      // A file that can't be read is left as it is.
                      refusal_ = read ? QString() : QString::fromStdString(read.error().message);
                      if (read)
                        marks_ = *std::move(read);
                      else
                        emit said(refusal_);
                      emit changed();
                    }));
}

void MarksLayer::apply(const std::filesystem::path& recording, const std::vector<Mark>& marks) {
  if (recording != recording_) return;
  marks_ = marks;
  if (chosen_ && *chosen_ >= marks_.size()) chosen_.reset();
  emit changed();
  if (const Result<void> written = write_marks(marks_file(recording_), marks_); !written)
    emit said(tr("%1; the marks last while this recording is open")
                  .arg(QString::fromStdString(written.error().message)));
}

void MarksLayer::replace(std::vector<Mark> marks) {
  if (!refusal_.isEmpty()) return emit said(refusal_);
  // A change of the range that follows is a step of its own.
  state_.end_range_change();
  state_.range_history().push(new MarksChange(*this, std::move(marks)));
}

void MarksLayer::choose(std::optional<std::size_t> index) {
  if (chosen_ == index) return;
  chosen_ = index;
  emit changed();
}

void MarksLayer::add(Mark mark) {
  if (marks_.size() == max_marks)
    return emit said(tr("This recording has %1 marks, expected at most that many.").arg(max_marks));
  chosen_.reset();
  replace(with_mark(marks_, std::move(mark)));
}

void MarksLayer::set_text(std::size_t index, const std::string& text) {
  std::vector<Mark> after = marks_;
  if (text.empty())
    after.erase(after.begin() + static_cast<std::ptrdiff_t>(index));
  else
    after[index].text = text;
  if (text.empty()) chosen_.reset();
  if (after != marks_) replace(std::move(after));
}

void MarksLayer::edit(QWidget& parent, TimeRange time) {
  if (!refusal_.isEmpty()) return emit said(refusal_);
  const std::optional<std::size_t> index = chosen_;
  const QString before = index ? QString::fromStdString(marks_[*index].text) : QString();
  bool is_accepted = false;
  const QString label = index ? tr("Text (none removes the mark):") : tr("Text of the new mark:");
  QString text = QInputDialog::getText(&parent, tr("Mark"), label, QLineEdit::Normal, before, &is_accepted);
  if (!is_accepted) return;
  text = text.simplified();
  while (text.toUtf8().size() > static_cast<qsizetype>(max_mark_text_bytes)) text.chop(1);
  if (index && *index < marks_.size())
    set_text(*index, text.toStdString());
  else if (!text.isEmpty())
    add({time, text.toStdString()});
}

void MarksLayer::go_to(std::size_t index) {
  if (index >= marks_.size()) return;
  choose(index);
  const TimeRange time = marks_[index].time;
  const TimeRange shown = state_.range();
  if (time.start_ns >= shown.start_ns && time.end_ns <= shown.end_ns) return;
  const std::int64_t half = std::max(shown.duration_ns(), time.duration_ns() + time.duration_ns() / 5) / 2;
  const std::int64_t middle = time.start_ns + time.duration_ns() / 2;
  state_.end_range_change();
  state_.set_range({middle - half, middle + half});
  state_.end_range_change();
}

void MarksLayer::step(bool forward) {
  if (marks_.empty()) return emit said(refusal_.isEmpty() ? tr("There are no marks: M sets one.") : refusal_);
  // Marks may share a time, so that the next one is found by its place.
  if (chosen_) return go_to((*chosen_ + (forward ? 1 : marks_.size() - 1)) % marks_.size());
  const TimeRange shown = state_.range();
  go_to(*next_mark(marks_, shown.start_ns + shown.duration_ns() / 2, forward));
}

void MarksLayer::paint(QPainter& painter, const TimeAxis& axis, int bottom, const QPalette& colors) const {
  const int right = axis.left + axis.width;
  const QColor color = cursor_color(is_dark(colors));
  painter.save();
  painter.setClipRect(QRect(axis.left, 0, axis.width, bottom));
  int free_from = axis.left;
  for (std::size_t i = 0; i < marks_.size(); ++i) {
    const Mark& mark = marks_[i];
    if (mark.time.start_ns >= axis.range.end_ns) break;
    if (std::max(mark.time.end_ns, mark.time.start_ns + 1) <= axis.range.start_ns) continue;
    const int x = static_cast<int>(std::max<double>(axis.x(mark.time.start_ns), axis.left - flag_width));
    const int end = static_cast<int>(std::min<double>(axis.x(mark.time.end_ns), right));
    painter.setPen(QPen(color, chosen_ == i ? 2 : 1, Qt::DashLine));
    painter.drawLine(x, axis_height, x, bottom);
    if (end > x) {
      painter.drawLine(end, axis_height, end, bottom);
      painter.fillRect(x, axis_height - 3, end - x, 3, color);
    }
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    painter.drawPolygon(QPolygon({{x, 1}, {x + flag_width, 1 + flag_height / 2}, {x, 1 + flag_height}}));
    painter.fillRect(x, 1, 1, axis_height - 1, color);
    // The text covers the axis only where no earlier one stands.
    const int text_left = x + flag_width + text_gap;
    int limit = right;
    if (i + 1 < marks_.size())
      limit = std::min(limit, static_cast<int>(std::min<double>(axis.x(marks_[i + 1].time.start_ns), right)));
    const int room = std::min(axis.width / 2, limit - text_left - text_gap);
    const QString text = painter.fontMetrics().elidedText(QString::fromStdString(mark.text).simplified(),
                                                          Qt::ElideRight, room);
    if (text_left < free_from || room < 3 * flag_width) continue;
    const QRect box(text_left - 1, 1, painter.fontMetrics().horizontalAdvance(text) + 2, axis_height - 5);
    painter.fillRect(box, colors.color(QPalette::Window));
    painter.setPen(QPen(chosen_ == i ? color : colors.color(QPalette::WindowText)));
    painter.drawText(box, Qt::AlignLeft | Qt::AlignVCenter, text);
    free_from = box.right();
  }
  painter.restore();
}

std::optional<std::size_t> MarksLayer::mark_at(const TimeAxis& axis, const QPoint& point) const {
  if (point.y() >= axis_height || point.x() < axis.left) return std::nullopt;
  for (std::size_t i = marks_.size(); i-- > 0;) {
    const double x = axis.x(marks_[i].time.start_ns);
    if (point.x() >= x - 2 && point.x() <= x + flag_width + 2) return i;
  }
  return std::nullopt;
}

QString MarksLayer::describe(std::size_t index) const {
  const Mark& mark = marks_[index];
  const std::int64_t zero = state_.recording()->whole().start_ns;
  const QString at = duration_text(mark.time.start_ns - zero);
  return QStringLiteral("<b>%1</b><br>%2")
      .arg(QString::fromStdString(mark.text).toHtmlEscaped(),
           mark.time.duration_ns() == 0
               ? tr("mark at %1").arg(at)
               : tr("mark of %1, at %2").arg(duration_text(mark.time.duration_ns()), at));
}

}  // namespace draftscope::gui
