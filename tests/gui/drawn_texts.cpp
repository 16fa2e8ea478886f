// SPDX-License-Identifier: GPL-3.0-or-later
#include "drawn_texts.h"

#include <qcustomplot.h>

#include <QImage>
#include <QPaintDevice>
#include <QPaintEngine>
#include <QPainter>
#include <algorithm>
#include <map>

namespace draftscope::gui {
namespace {

QColor blended(const QColor& over, const QColor& under, double opacity) {
  const auto part = [&](float a, float b) {
    return b + (a - b) * static_cast<float>(over.alphaF() * opacity);
  };
  return QColor::fromRgbF(part(over.redF(), under.redF()), part(over.greenF(), under.greenF()),
                          part(over.blueF(), under.blueF()));
}

/// Paints everything except texts into an image, and records the texts.
class NotingEngine : public QPaintEngine {
 public:
  NotingEngine(QImage& image, std::vector<DrawnText>& texts)
      : QPaintEngine(AllFeatures), image_(image), texts_(texts) {}

  bool begin(QPaintDevice* /*device*/) override {
    setActive(true);
    return painter_.begin(&image_);
  }
  bool end() override {
    setActive(false);
    return painter_.end();
  }
  [[nodiscard]] Type type() const override { return User; }

  void updateState(const QPaintEngineState& state) override {
    const DirtyFlags dirty = state.state();
    if (dirty.testFlag(DirtyTransform)) painter_.setTransform(state.transform());
    if (dirty.testFlag(DirtyPen)) painter_.setPen(state.pen());
    if (dirty.testFlag(DirtyBrush)) painter_.setBrush(state.brush());
    if (dirty.testFlag(DirtyBrushOrigin)) painter_.setBrushOrigin(state.brushOrigin());
    if (dirty.testFlag(DirtyFont)) painter_.setFont(state.font());
    if (dirty.testFlag(DirtyBackground)) painter_.setBackground(state.backgroundBrush());
    if (dirty.testFlag(DirtyBackgroundMode)) painter_.setBackgroundMode(state.backgroundMode());
    if (dirty.testFlag(DirtyHints)) {
      painter_.setRenderHints(painter_.renderHints(), false);
      painter_.setRenderHints(state.renderHints());
    }
    if (dirty.testFlag(DirtyCompositionMode)) painter_.setCompositionMode(state.compositionMode());
    if (dirty.testFlag(DirtyOpacity)) painter_.setOpacity(state.opacity());
    if (dirty.testFlag(DirtyClipPath)) painter_.setClipPath(state.clipPath(), state.clipOperation());
    if (dirty.testFlag(DirtyClipRegion)) painter_.setClipRegion(state.clipRegion(), state.clipOperation());
    if (dirty.testFlag(DirtyClipEnabled)) painter_.setClipping(state.isClipEnabled());
  }

  void drawPath(const QPainterPath& path) override { painter_.drawPath(path); }
  void drawPolygon(const QPointF* points, int count, PolygonDrawMode mode) override {
    if (mode == PolylineMode)
      painter_.drawPolyline(points, count);
    else
      painter_.drawPolygon(points, count, mode == WindingMode ? Qt::WindingFill : Qt::OddEvenFill);
  }
  void drawPixmap(const QRectF& target, const QPixmap& pixmap, const QRectF& source) override {
    painter_.drawPixmap(target, pixmap, source);
  }
  void drawImage(const QRectF& target, const QImage& image, const QRectF& source,
                 Qt::ImageConversionFlags flags) override {
    painter_.drawImage(target, image, source, flags);
  }
  void drawTiledPixmap(const QRectF& target, const QPixmap& pixmap, const QPointF& offset) override {
    painter_.drawTiledPixmap(target, pixmap, offset);
  }

  void drawTextItem(const QPointF& at, const QTextItem& item) override {
    if (item.text().trimmed().isEmpty()) return;
    const QRectF drawn(at.x(), at.y() - item.ascent(), item.width(), item.ascent() + item.descent());
    const QRect whole = painter_.transform().mapRect(drawn).toAlignedRect();
    QRect box = whole & image_.rect();
    if (painter_.hasClipping())
      box &= painter_.transform().mapRect(painter_.clipBoundingRect()).toAlignedRect();
    if (const QRegion within = systemClip(); !within.isEmpty()) box = (within & box).boundingRect();
    if (box.isEmpty()) return;
    std::map<QRgb, int> pixels;
    for (int y = box.top(); y <= box.bottom(); ++y)
      for (int x = box.left(); x <= box.right(); ++x) ++pixels[image_.pixel(x, y)];
    const QColor back = QColor::fromRgb(
        std::ranges::max_element(pixels, {}, [](const auto& counted) { return counted.second; })->first);
    texts_.push_back(
        {item.text(), box, whole, blended(painter_.pen().color(), back, painter_.opacity()), back});
  }

 private:
  QImage& image_;
  std::vector<DrawnText>& texts_;
  QPainter painter_;
};

class NotingDevice : public QPaintDevice {
 public:
  explicit NotingDevice(const QSize& size)
      : image_(size, QImage::Format_ARGB32_Premultiplied), engine_(image_, texts) {
    image_.fill(Qt::white);
  }
  [[nodiscard]] QPaintEngine* paintEngine() const override { return &engine_; }

  std::vector<DrawnText> texts;

 protected:
  [[nodiscard]] int metric(PaintDeviceMetric metric) const override {
    constexpr int dots_per_inch = 96;
    constexpr double mm_per_inch = 25.4;
    const auto mm = [](int pixels) { return static_cast<int>(pixels * mm_per_inch / dots_per_inch); };
    switch (metric) {
      case PdmWidth:
        return image_.width();
      case PdmHeight:
        return image_.height();
      case PdmWidthMM:
        return mm(image_.width());
      case PdmHeightMM:
        return mm(image_.height());
      case PdmDpiX:
      case PdmDpiY:
      case PdmPhysicalDpiX:
      case PdmPhysicalDpiY:
        return dots_per_inch;
      case PdmDepth:
        return image_.depth();
      case PdmNumColors:
        return image_.colorCount();
      case PdmDevicePixelRatio:
        return 1;
      default:
        return QPaintDevice::metric(metric);
    }
  }

 private:
  QImage image_;
  mutable NotingEngine engine_;
};

}  // namespace

std::vector<DrawnText> drawn_texts(QWidget& widget) {
  NotingDevice device(widget.size());
  {
    QPainter painter(&device);
    widget.render(&painter);
  }
  std::vector<DrawnText> all = std::move(device.texts);
  // A plot caches an image of itself, in which words are no longer text.
  QList<QCustomPlot*> plots = widget.findChildren<QCustomPlot*>();
  if (auto* itself = qobject_cast<QCustomPlot*>(&widget)) plots << itself;
  for (QCustomPlot* plot : plots) {
    if (plot->visibleRegion().isEmpty()) continue;
    NotingDevice of_plot(plot->size());
    QCPPainter painter(&of_plot);
    plot->toPainter(&painter, plot->width(), plot->height());
    painter.end();
    const QPoint offset = plot == &widget ? QPoint() : plot->mapTo(&widget, QPoint());
    const QRect seen = plot->visibleRegion().boundingRect();
    for (DrawnText& text : of_plot.texts) {
      text.box &= seen;
      if (text.box.isEmpty()) continue;
      text.box.translate(offset);
      text.whole.translate(offset);
      all.push_back(std::move(text));
    }
  }
  return all;
}

std::string words_on_screen(QWidget& widget) {
  QStringList words;
  // A clip that cuts only the margin around letters cuts no letter.
  constexpr int tolerance = 2;
  for (const DrawnText& text : drawn_texts(widget))
    if (text.box.adjusted(-tolerance, -tolerance, tolerance, tolerance).contains(text.whole))
      words << text.text;
  return words.join(u' ').simplified().toStdString();
}

}  // namespace draftscope::gui
