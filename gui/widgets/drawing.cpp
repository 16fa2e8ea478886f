// SPDX-License-Identifier: GPL-3.0-or-later
#include "drawing.h"

#include <QPaintEngine>
#include <QStringList>
#include <algorithm>
#include <cmath>
#include <utility>

#include "widgets/theme.h"

namespace draftscope::gui {

namespace {

constexpr int sign_size = 12;
constexpr int sign_gap = 6;
constexpr int entry_gap = 18;

}  // namespace

LegendRow::LegendRow(QPainter& painter, const QPalette& palette, const QRect& box)
    : painter_(painter), palette_(palette), box_(box) {}

QRect LegendRow::place(const QString& words) {
  const int width = painter_.fontMetrics().horizontalAdvance(words);
  if (sign_size + sign_gap + width > box_.width()) {
    box_.setWidth(0);
    return {};
  }
  const QRect sign(box_.left(), box_.center().y() - sign_size / 2, sign_size, sign_size);
  painter_.setPen(palette_.color(QPalette::WindowText));
  painter_.drawText(QRect(sign.right() + 1 + sign_gap, box_.top(), width + 2, box_.height()),
                    Qt::AlignLeft | Qt::AlignVCenter, words);
  box_.setLeft(box_.left() + sign_size + sign_gap + width + entry_gap);
  return sign;
}

void LegendRow::add(const QBrush& fill, const QString& words) {
  add_sign(words, [&](const QRect& sign) {
    painter_.setPen(palette_.color(QPalette::WindowText));
    painter_.setBrush(fill);
    painter_.drawRect(sign);
  });
}

void LegendRow::add_scale(const QString& words) {
  const bool dark = is_dark(palette_);
  add_sign(words, [&](const QRect& sign) {
    for (int i = 0; i < sign.width(); ++i)
      painter_.fillRect(sign.left() + i, sign.top(), 1, sign.height(),
                        scale_color(static_cast<double>(i) / (sign.width() - 1), dark));
  });
}

void LegendRow::add_exit(const QString& words) {
  add_sign(words, [&](const QRect& sign) {
    painter_.fillRect(sign.left() - 1, sign.center().y(), sign.width() + 2, 2,
                      cursor_color(is_dark(palette_)));
  });
}

void paint_upwards(QPainter& painter, const QPoint& middle, const QString& words) {
  constexpr int max_length = 400;
  painter.save();
  painter.translate(middle);
  painter.rotate(-90);
  painter.drawText(QRect(-max_length / 2, -10, max_length, 20), Qt::AlignCenter, words);
  painter.restore();
}

PhaseLegend::PhaseLegend(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Colours of the phases"));
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  std::vector<traces::Phase> all;
  all.reserve(traces::phase_count);
  for (int i = 0; i < traces::phase_count; ++i) all.push_back(static_cast<traces::Phase>(i));
  set_phases(std::move(all));
}

void PhaseLegend::set_phases(std::vector<traces::Phase> phases) {
  phases_ = std::move(phases);
  QStringList names;
  QString tip;
  for (const traces::Phase phase : phases_) {
    names << QString::fromUtf8(traces::phase_name(phase));
    tip += QStringLiteral("<div><span style='background:%1'>&nbsp;&nbsp;&nbsp;&nbsp;</span> %2</div>")
               .arg(phase_color(phase, is_dark(palette())).name(), names.back());
  }
  setToolTip(tip);
  setAccessibleDescription(names.join(QStringLiteral(", ")));
  update();
}

void PhaseLegend::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  LegendRow legend(painter, palette(), rect());
  for (const traces::Phase phase : phases_)
    legend.add(phase_color(phase, is_dark(palette())), QString::fromUtf8(traces::phase_name(phase)));
}

namespace {

constexpr int thickness = 2;

}  // namespace

void StepLine::add(int left, int right, int y) {
  painter_.fillRect(left, y - 1, right - left, thickness, color_);
  if (last_y_ && std::abs(*last_y_ - y) > 1)
    painter_.fillRect(left - 1, std::min(*last_y_, y) - 1, thickness, std::abs(*last_y_ - y) + thickness,
                      color_);
  last_y_ = y;
}

void paint_dashes(QPainter& painter, int left, int right, int y, int on, int off, const QColor& color) {
  const int period = on + off;
  for (int dash = left - left % period; dash < right; dash += period) {
    const int from = std::max(dash, left);
    const int to = std::min(dash + on, right);
    if (to > from) painter.fillRect(from, y - 1, to - from, thickness, color);
  }
}

MarkPictures::MarkPictures(QPainter& painter, std::size_t kinds, double radius, Draw draw)
    : painter_(painter), draw_(std::move(draw)), ratio_(painter.device()->devicePixelRatioF()) {
  if (painter.paintEngine()->type() != QPaintEngine::Raster) return;
  const int side = 2 * (static_cast<int>(std::ceil(radius * ratio_)) + 2) + 1;
  for (std::size_t kind = 0; kind < kinds; ++kind) {
    QPixmap& picture = pictures_.emplace_back(side, side);
    picture.setDevicePixelRatio(ratio_);
    picture.fill(Qt::transparent);
    QPainter into(&picture);
    into.setRenderHint(QPainter::Antialiasing);
    draw_(into, kind, QPointF(side, side) / (2.0 * ratio_));
  }
}

void MarkPictures::paint(std::size_t kind, const QPointF& at) const {
  if (pictures_.empty()) return draw_(painter_, kind, at);
  const QPixmap& picture = pictures_[kind];
  const int half = picture.width() / 2;
  const auto corner = [&](double of) { return (std::floor(of * ratio_) - half) / ratio_; };
  painter_.drawPixmap(QPointF(corner(at.x()), corner(at.y())), picture);
}

int whole_pixels(const QPainter& painter, const QPointF& at) {
  if (painter.paintEngine() == nullptr || painter.paintEngine()->type() != QPaintEngine::Raster) return 0;
  const QTransform transform = painter.deviceTransform();
  const double scale = transform.m11();
  const QPointF corner = transform.map(at);
  const bool is_square =
      transform.type() <= QTransform::TxScale && scale == transform.m22() && scale == std::round(scale);
  const bool is_corner = corner.x() == std::round(corner.x()) && corner.y() == std::round(corner.y());
  return is_square && is_corner ? std::max(0, static_cast<int>(scale)) : 0;
}

}  // namespace draftscope::gui
