// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds_strip.h"

#include <QMouseEvent>
#include <QPainter>
#include <algorithm>

#include "widgets/theme.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

constexpr int bar_top = 18;

}  // namespace

RoundsStrip::RoundsStrip(ViewState& state, QWidget* parent)
    : KeyboardPlot(tr("Rounds"), parent), state_(state) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  connect(&state_, &ViewState::recording_changed, this, &RoundsStrip::read_run);
  connect(&state_, &ViewState::run_changed, this, &RoundsStrip::read_run);
  connect(&state_, &ViewState::filter_changed, this, &RoundsStrip::read_run);
  connect(&state_, &ViewState::range_changed, this, qOverload<>(&QWidget::update));
  connect(&state_, &ViewState::cursor_changed, this, qOverload<>(&QWidget::update));
  read_run();
}

void RoundsStrip::read_run() {
  sums_.clear();
  max_ = 1;
  if (state_.shown_rounds() != nullptr) {
    RoundsOfRun run = state_.filtered()->rounds_of_run(state_.run());
    sums_ = std::move(run.emitted_before);
    max_ = run.max_emitted;
  }
  const double mean = rounds() > 0 ? static_cast<double>(sums_.back()) / static_cast<double>(rounds()) : 0.0;
  setAccessibleDescription(
      tr("%1 rounds, %2 tokens per round on average").arg(rounds()).arg(mean, 0, 'f', 2));
  update();
}

std::optional<std::size_t> RoundsStrip::place_at(const QPoint& point) const {
  const double share = std::clamp(static_cast<double>(point.x()) / std::max(width(), 1), 0.0, 1.0);
  return std::min(static_cast<std::size_t>(share * static_cast<double>(rounds())), rounds() - 1);
}

void RoundsStrip::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  const bool dark = is_dark(palette());
  if (rounds() == 0) {
    painter.drawText(rect(), Qt::AlignCenter,
                     state_.is_filtered() ? tr("the filter leaves no round of this run") : tr("no rounds"));
    return;
  }
  const int bar_height = height() - bar_top - 4;
  const double rounds_per_pixel = static_cast<double>(rounds()) / width();
  for (int x = 0; x < width(); ++x) {
    const auto first = static_cast<std::size_t>(x * rounds_per_pixel);
    const auto last =
        std::min(rounds(), std::max(first + 1, static_cast<std::size_t>((x + 1) * rounds_per_pixel)));
    const double mean = static_cast<double>(sums_[last] - sums_[first]) / static_cast<double>(last - first);
    painter.fillRect(x, bar_top, 1, bar_height, scale_color(mean / max_, dark));
  }
  if (has_rows()) paint_place(painter, rounds_per_pixel);
  painter.setPen(palette().color(QPalette::WindowText));
  painter.drawText(QRect(4, 0, width() - 8, bar_top - 2), Qt::AlignLeft | Qt::AlignVCenter, title());
}

QString RoundsStrip::title() const {
  QString words = counted(static_cast<std::int64_t>(rounds()), tr("1 round"), tr("%1 rounds")) +
                  tr(", coloured by tokens emitted (0 to %1)").arg(max_);
  if (state_.is_filtered()) words += tr(" · filtered, of %1").arg(state_.run_rounds()->rounds.size());
  if (const std::uint32_t round_index = state_.cursor().round_index;
      has_rows() && round_index != no_index && state_.recording()->run_of(round_index) == state_.run())
    words += tr(" · at round %1").arg(state_.recording()->number_in_run(round_index));
  return words;
}

void RoundsStrip::paint_place(QPainter& painter, double rounds_per_pixel) const {
  const bool dark = is_dark(palette());
  // Mark the part of the run that the timeline shows.
  const RunRounds& run = *state_.shown_rounds();
  const auto x_of_time = [&](std::int64_t ns) {
    const auto at = std::partition_point(
        run.rounds.begin(), run.rounds.end(),
        [&](std::uint32_t round_index) { return state_.recording()->round(round_index).start_ns < ns; });
    return static_cast<int>(static_cast<double>(at - run.rounds.begin()) / rounds_per_pixel);
  };
  const int from = x_of_time(state_.range().start_ns);
  const int to = std::max(x_of_time(state_.range().end_ns), from + 2);
  painter.setPen(QPen(palette().color(QPalette::WindowText), 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(from, bar_top - 2, std::min(to, width()) - from - 1, height() - bar_top - 1);

  const std::uint32_t round_index = state_.cursor().round_index;
  if (round_index != no_index && state_.recording()->run_of(round_index) == state_.run()) {
    const std::uint32_t place = state_.filtered()->place_in_run(round_index);
    if (place == no_index) return;
    const double x = (place + 0.5) / rounds_per_pixel;
    painter.setPen(QPen(cursor_color(dark), 2));
    painter.drawLine(QPointF(x, bar_top - 4), QPointF(x, height() - 1));
  }
}

void RoundsStrip::mouseMoveEvent(QMouseEvent* event) {
  if (has_rows() && event->buttons().testFlag(Qt::LeftButton)) go_to(*place_at(event->pos()));
}

std::optional<std::size_t> RoundsStrip::current() const {
  const std::uint32_t round_index = state_.cursor().round_index;
  if (!has_rows() || round_index == no_index) return std::nullopt;
  const std::uint32_t shown_at = state_.filtered()->place_in_run(round_index);
  return shown_at == no_index ? 0 : shown_at;
}

QString RoundsStrip::words_of(std::size_t place) const {
  const std::uint32_t round_index = state_.shown_rounds()->rounds[place];
  const traces::Round& round = state_.recording()->round(round_index);
  return tr("round %1: %2 drafted, %3 accepted, %4 emitted")
      .arg(state_.recording()->number_in_run(round_index))
      .arg(round.drafted)
      .arg(round.accepted)
      .arg(round.emitted);
}

}  // namespace draftscope::gui
