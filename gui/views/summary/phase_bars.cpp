// SPDX-License-Identifier: GPL-3.0-or-later
#include "phase_bars.h"

#include <QHelpEvent>
#include <QPainter>
#include <algorithm>

#include "views/theme.h"
#include "views/time_text.h"
#include "views/tool_tip.h"

namespace draftscope::gui {

namespace {

constexpr int row_height = 24;
constexpr int title_width = 260;
constexpr int time_width = 90;
constexpr int legend_height = 26;

QString name_of(traces::Phase phase) {
  return QString::fromStdString(std::string(traces::phase_name(phase)));
}

QString part_text(traces::Phase phase, std::int64_t ns, std::int64_t wall_ns) {
  const double share = static_cast<double>(ns) / static_cast<double>(std::max<std::int64_t>(wall_ns, 1));
  return PhaseBars::tr("%1: %2, %3 of the wall time")
      .arg(name_of(phase), duration_text(ns), percent_text(share));
}

}  // namespace

PhaseBars::PhaseBars(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Breakdown of the wall time by phase"));
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void PhaseBars::set_recording(RecordingPointer recording) {
  recording_ = std::move(recording);
  QStringList lines;
  if (recording_)
    for (const simulator::RunFigures& run : recording_->measured().figures.runs) {
      const std::int64_t wall = run.all.throughput.wall_ns;
      QStringList shares;
      for (int phase = 0; phase < traces::phase_count; ++phase)
        if (const std::int64_t ns = run.all.breakdown.by_phase[static_cast<std::size_t>(phase)];
            ns > 0 && wall > 0)
          shares << QStringLiteral("%1 %2").arg(
              name_of(static_cast<traces::Phase>(phase)),
              percent_text(static_cast<double>(ns) / static_cast<double>(wall)));
      lines << QStringLiteral("%1: %2").arg(QString::fromStdString(run.all.run->specification),
                                            shares.join(u", "));
    }
  setAccessibleDescription(lines.join(u'\n'));
  updateGeometry();
  update();
}

QSize PhaseBars::sizeHint() const {
  const std::size_t runs = recording_ ? recording_->measured().figures.runs.size() : 0;
  return {title_width + time_width + 200, static_cast<int>(runs) * row_height + legend_height};
}

void PhaseBars::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  parts_.clear();
  if (!recording_) return;
  paint_legend(painter);
  const std::vector<simulator::RunFigures>& runs = recording_->measured().figures.runs;
  std::int64_t longest_ns = 1;
  for (const simulator::RunFigures& run : runs) longest_ns = std::max(longest_ns, run.all.throughput.wall_ns);
  int top = legend_height;
  for (const simulator::RunFigures& run : runs) {
    paint_run(painter, run.all, top, longest_ns);
    top += row_height;
  }
}

void PhaseBars::paint_legend(QPainter& painter) const {
  int left = title_width;
  for (int i = 0; i < traces::phase_count; ++i) {
    const auto phase = static_cast<traces::Phase>(i);
    const QString name = name_of(phase);
    painter.fillRect(left, 7, 12, 12, phase_color(phase, is_dark(palette())));
    painter.setPen(palette().color(QPalette::WindowText));
    painter.drawText(left + 16, 18, name);
    left += 30 + painter.fontMetrics().horizontalAdvance(name);
  }
}

void PhaseBars::paint_run(QPainter& painter, const simulator::Figures& run, int top,
                          std::int64_t longest_ns) {
  painter.setPen(palette().color(QPalette::WindowText));
  const QString name = QString::fromStdString(run.run->specification);
  painter.drawText(QRect(0, top, title_width - 10, row_height), Qt::AlignVCenter | Qt::AlignRight,
                   painter.fontMetrics().elidedText(name, Qt::ElideMiddle, title_width - 10));
  const int width = this->width() - title_width - time_width;
  std::int64_t before_ns = 0;
  const auto x_of = [&](std::int64_t ns) {
    return title_width + static_cast<int>(static_cast<double>(ns) / static_cast<double>(longest_ns) * width);
  };
  for (int i = 0; i < traces::phase_count; ++i) {
    const std::int64_t ns = run.breakdown.by_phase[static_cast<std::size_t>(i)];
    if (ns <= 0) continue;
    const int left = x_of(before_ns);
    const QRect box(left, top + 3, std::max(1, x_of(before_ns + ns) - left), row_height - 6);
    const auto phase = static_cast<traces::Phase>(i);
    painter.fillRect(box, phase_color(phase, is_dark(palette())));
    parts_.push_back({box, part_text(phase, ns, run.throughput.wall_ns)});
    before_ns += ns;
  }
  painter.drawText(QRect(x_of(before_ns) + 6, top, time_width, row_height), Qt::AlignVCenter | Qt::AlignLeft,
                   before_ns > 0 ? duration_text(run.throughput.wall_ns) : tr("not recorded"));
}

bool PhaseBars::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const auto part = std::find_if(parts_.begin(), parts_.end(), [&](const Part& candidate) {
      return candidate.box.contains(help->pos());
    });
    show_tip(*help, *this, part == parts_.end() ? QString() : part->tooltip);
    return true;
  }
  return QWidget::event(event);
}

}  // namespace draftscope::gui
