// SPDX-License-Identifier: GPL-3.0-or-later
#include "phase_bars.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

#include "views/theme.h"
#include "views/time_text.h"

namespace draftscope::gui {

namespace {

constexpr int row_height = 24;
constexpr int title_width = 260;
constexpr int time_width = 90;
constexpr int legend_height = 26;

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
              QString::fromStdString(std::string(traces::phase_name(static_cast<traces::Phase>(phase)))),
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
  const bool dark = is_dark(palette());
  std::int64_t longest = 1;
  for (const simulator::RunFigures& run : recording_->measured().figures.runs)
    longest = std::max(longest, run.all.throughput.wall_ns);
  int legend_x = title_width;
  for (int i = 0; i < traces::phase_count; ++i) {
    const auto phase = static_cast<traces::Phase>(i);
    const QString name = QString::fromStdString(std::string(traces::phase_name(phase)));
    painter.fillRect(legend_x, 7, 12, 12, phase_color(phase, dark));
    painter.setPen(palette().color(QPalette::WindowText));
    painter.drawText(legend_x + 16, 18, name);
    legend_x += 30 + painter.fontMetrics().horizontalAdvance(name);
  }
  int top = legend_height;
  const int width = this->width() - title_width - time_width;
  for (const simulator::RunFigures& run : recording_->measured().figures.runs) {
    const std::int64_t wall = run.all.throughput.wall_ns;
    painter.setPen(palette().color(QPalette::WindowText));
    const QString name = QString::fromStdString(run.all.run->specification);
    painter.drawText(QRect(0, top, title_width - 10, row_height), Qt::AlignVCenter | Qt::AlignRight,
                     painter.fontMetrics().elidedText(name, Qt::ElideMiddle, title_width - 10));
    std::int64_t before = 0;
    const auto x_of = [&](std::int64_t ns) {
      return title_width + static_cast<int>(static_cast<double>(ns) / static_cast<double>(longest) * width);
    };
    for (int i = 0; i < traces::phase_count; ++i) {
      const std::int64_t ns = run.all.breakdown.by_phase[static_cast<std::size_t>(i)];
      if (ns <= 0) continue;
      const auto phase = static_cast<traces::Phase>(i);
      const QRect box(x_of(before), top + 3, std::max(1, x_of(before + ns) - x_of(before)), row_height - 6);
      painter.fillRect(box, phase_color(phase, dark));
      parts_.push_back(
          {box, tr("%1: %2, %3 of the wall time")
                    .arg(QString::fromStdString(std::string(traces::phase_name(phase))), duration_text(ns),
                         percent_text(static_cast<double>(ns) /
                                      static_cast<double>(std::max<std::int64_t>(wall, 1))))});
      before += ns;
    }
    painter.drawText(QRect(x_of(before) + 6, top, time_width, row_height), Qt::AlignVCenter | Qt::AlignLeft,
                     before > 0 ? duration_text(wall) : tr("not recorded"));
    top += row_height;
  }
}

bool PhaseBars::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const auto part = std::find_if(parts_.begin(), parts_.end(), [&](const Part& candidate) {
      return candidate.box.contains(help->pos());
    });
    QToolTip::showText(help->globalPos(), part == parts_.end() ? QString() : part->words, this);
    return true;
  }
  return QWidget::event(event);
}

}  // namespace draftscope::gui
