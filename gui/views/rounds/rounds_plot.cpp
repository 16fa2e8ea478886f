// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds_plot.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>

#include "widgets/habits.h"
#include "widgets/theme.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

constexpr int left_margin = 64;
constexpr int top_margin = 26;
constexpr int bottom_margin = 26;
constexpr int min_tick_pixels = 70;
constexpr int choice_width = 170;

}  // namespace

RoundsPlot::RoundsPlot(ViewState& state, QWidget* parent)
    : QWidget(parent), state_(state), navigation_(state, *this, *this, [this] { return axis_ranges(); }) {
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  connect(&state_, &ViewState::recording_changed, this, &RoundsPlot::forget);
  connect(&state_, &ViewState::run_changed, this, &RoundsPlot::forget);
  connect(&state_, &ViewState::filter_changed, this, &RoundsPlot::forget);
  connect(&state_, &ViewState::range_changed, this, qOverload<>(&QWidget::update));
  connect(&state_, &ViewState::cursor_changed, this, qOverload<>(&QWidget::update));
  connect(&navigation_, &RangeNavigation::clicked, this, [this](const QPoint& point) {
    const RoundAxis axis = this->axis();
    if (axis.count() > 0) state_.go_to_round(state_.shown_rounds()->rounds[axis.place(point.x())]);
  });
}

void RoundsPlot::forget() {
  job_.cancel();
  forget_run();
  is_stale_ = true;
  update();
}

void RoundsPlot::read() {
  is_stale_ = false;
  const RunRounds* run = state_.shown_rounds();
  if (run == nullptr || run->rounds.empty()) return;
  const BackgroundJob::Job job = reading_job(state_.filtered(), state_.run());
  if (run->rounds.size() <= max_read_at_once) {
    job([] { return true; })();
    return;
  }
  job_.start([this, job](const BackgroundJob::ShouldContinue& should_continue) -> BackgroundJob::Apply {
    return [this, apply = job(should_continue)] {
      apply();
      update();
    };
  });
}

bool RoundsPlot::is_ready() const {
  const RunRounds* run = state_.shown_rounds();
  return run != nullptr && !run->rounds.empty() && !is_stale_ && !job_.is_running();
}

Chart RoundsPlot::figure() const {
  if (!is_ready()) return {};
  const RoundAxis axis = this->axis();
  return axis.count() == 0 ? Chart() : figure_of(axis);
}

QComboBox& RoundsPlot::add_choice(const QString& name, const QStringList& choices) {
  choice_ = new QComboBox(this);
  choice_->setAccessibleName(name);
  choice_->setToolTip(tr("%1 (M: the next)").arg(name));
  choice_->addItems(choices);
  connect(choice_, &QComboBox::currentIndexChanged, this, qOverload<>(&QWidget::update));
  return *choice_;
}

void RoundsPlot::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  if (choice_ == nullptr) return;
  const QRect area = plot_area();
  choice_->setGeometry(area.right() + 9, 2, choice_width, area.top() - 4);
}

void RoundsPlot::paint_notice(QPainter& painter, const QString& words) {
  setAccessibleDescription(words);
  painter.setPen(palette().color(QPalette::WindowText));
  // In a small window the words may also use the room beside the plot.
  const QRect area = plot_area().width() < 300 ? rect() : plot_area();
  painter.drawText(area, Qt::AlignCenter | Qt::TextWordWrap, words);
}

QSize RoundsPlot::minimumSizeHint() const {
  constexpr int min_area_width = 160;
  return {left_margin + min_area_width + right_margin(), top_margin + min_area_height() + bottom_margin};
}

std::uint32_t RoundsPlot::round_number(std::size_t place) const {
  return state_.recording()->number_in_run(state_.shown_rounds()->rounds[place]);
}

QRect RoundsPlot::plot_area() const {
  return rect().adjusted(left_margin, top_margin, -right_margin(), -bottom_margin);
}

RoundAxis RoundsPlot::axis() const {
  const QRect area = plot_area();
  return visible_rounds(state_, area.left(), area.width());
}

void RoundsPlot::paint_round_ticks(QPainter& painter, const RoundAxis& axis) const {
  const QRect area = plot_area();
  const auto least = static_cast<std::int64_t>(std::ceil(axis.rounds_per_pixel() * min_tick_pixels));
  const auto step = static_cast<std::size_t>(tick_step_ns(std::max<std::int64_t>(least, 1)));
  painter.setPen(palette().color(QPalette::WindowText));
  // The axis' name ends where the axis does, and the numbers stay clear of it.
  const QString name = tr("round of the run");
  const int baseline = area.bottom() + 5 + painter.fontMetrics().ascent();
  const int name_left = area.right() - painter.fontMetrics().horizontalAdvance(name);
  for (std::size_t tick = (axis.first + step - 1) / step * step; tick < axis.last; tick += step) {
    const int x = static_cast<int>(axis.x(static_cast<double>(tick) + 0.5));
    painter.drawLine(x, area.bottom() + 1, x, area.bottom() + 4);
    const QString words = QString::number(round_number(tick));
    const int half = painter.fontMetrics().horizontalAdvance(words) / 2 + 1;
    if (constexpr int gap = 8; x + half + gap < name_left) painter.drawText(x - half, baseline, words);
  }
  painter.drawText(name_left, baseline, name);
}

void RoundsPlot::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.fillRect(rect(), palette().color(QPalette::Base));
  if (is_stale_) read();
  const RoundAxis axis = this->axis();
  if (axis.count() == 0 || plot_area().width() < 10) {
    const RunRounds* run = state_.shown_rounds();
    paint_notice(painter,
                 run == nullptr || run->rounds.empty()
                     ? (state_.is_filtered() ? tr("the filter leaves no round of this run") : tr("no rounds"))
                     : tr("no round of this run lies in the %1 that are shown: zoom out, or show the whole "
                          "recording (Home)")
                           .arg(duration_text(state_.range().duration_ns())));
    return;
  }
  if (!is_ready()) {
    paint_notice(painter, tr("reading the rounds …"));
    return;
  }
  paint(painter, axis);
  paint_round_ticks(painter, axis);
  paint_cursor(painter, axis);
}

void RoundsPlot::paint_cursor(QPainter& painter, const RoundAxis& axis) const {
  const std::uint32_t round_index = state_.cursor().round_index;
  if (round_index == no_index || state_.recording()->run_of(round_index) != state_.run()) return;
  const std::uint32_t shown_at = state_.filtered()->place_in_run(round_index);
  if (shown_at == no_index) return;
  const auto place = static_cast<double>(shown_at);
  const double from = axis.x(place);
  const double to = std::max(axis.x(place + 1), from + 1.0);
  const QRect area = plot_area();
  if (to < area.left() || from > area.right() + 1) return;
  painter.setPen(QPen(cursor_color(is_dark(palette())), 1.5));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(QRectF(from, area.top() - 1, to - from, area.height() + 1));
}

std::optional<AxisRanges> RoundsPlot::axis_ranges() const {
  const RunRounds* run = state_.shown_rounds();
  if (run == nullptr || run->rounds.empty()) return std::nullopt;
  const RoundAxis axis = this->axis();
  return AxisRanges{
      .left = static_cast<double>(axis.left),
      .width = static_cast<double>(axis.width),
      .zoomed = [this, axis](double factor,
                             double pixel) { return zoomed_rounds(state_, axis, factor, pixel); },
      .moved = [this, axis](double pixels) { return moved_rounds(state_, axis, pixels); }};
}

void RoundsPlot::keyPressEvent(QKeyEvent* event) {
  if (event->key() != Qt::Key_M) return QWidget::keyPressEvent(event);
  if (choice_ != nullptr) choice_->setCurrentIndex((choice_->currentIndex() + 1) % choice_->count());
  event->accept();
}

bool RoundsPlot::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    QString words;
    if (is_ready() && axis().count() > 0)
      words = plot_area().contains(help->pos()) ? tooltip_at(axis(), help->pos())
                                                : tooltip_beside(axis(), help->pos());
    show_tip(*help, *this, words);
    return true;
  }
  return QWidget::event(event);
}

}  // namespace draftscope::gui
