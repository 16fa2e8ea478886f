// SPDX-License-Identifier: GPL-3.0-or-later
#include "lazy_text_layout.h"

#include <QFontMetricsF>
#include <QPainter>
#include <QStyle>
#include <QTextBlock>
#include <QTextDocument>
#include <QTextFrame>
#include <algorithm>
#include <cmath>
#include <utility>

#include "widgets/drawing.h"

namespace draftscope::gui {

namespace {

/// Max characters of a text that is laid out at once, without estimates.
constexpr int short_text = 8192;
/// Lines of a paragraph that share one picture.
constexpr int lines_per_strip = 2;
/// Max pixels over all pictures: a few windows full of text.
constexpr double max_pixels = 16e6;

}  // namespace

LazyTextLayout::LazyTextLayout(QTextDocument* document) : QAbstractTextDocumentLayout(document) {
  estimate();
}

double LazyTextLayout::text_width() const {
  return std::max(0.0, document()->pageSize().width() - 2.0 * document()->documentMargin());
}

double LazyTextLayout::line_distance() const {
  return std::round(0.3 * QFontMetricsF(document()->defaultFont(), paintDevice()).height());
}

QRectF LazyTextLayout::without_margins(QRectF box) const {
  const double margin = document()->documentMargin();
  return box & QRectF(margin, box.top(), text_width(), box.height());
}

void LazyTextLayout::set_formats(QList<QTextLayout::FormatRange> formats) {
  formats_ = std::move(formats);
}

QList<QTextLayout::FormatRange> LazyTextLayout::formats_in(const QTextBlock& block) const {
  const int begin = block.position();
  const int end = begin + block.length() - 1;  // The last position is the block's end.
  QList<QTextLayout::FormatRange> formats;
  for (auto format = std::ranges::partition_point(formats_,
                                                  [&](const QTextLayout::FormatRange& candidate) {
                                                    return candidate.start + candidate.length <= begin;
                                                  });
       format != formats_.end() && format->start < end; ++format) {
    const int first = std::max(format->start, begin);
    formats.push_back({first - begin, std::min(format->start + format->length, end) - first, format->format});
  }
  return formats;
}

double LazyTextLayout::break_lines(const QTextBlock& block, QTextLayout& layout) const {
  QTextOption option = document()->defaultTextOption();
  option.setTextDirection(block.textDirection());
  option.setAlignment(QStyle::visualAlignment(block.textDirection(), option.alignment()));
  layout.setTextOption(option);
  const double distance = line_distance();
  double height = 0.0;
  layout.beginLayout();
  for (QTextLine line = layout.createLine(); line.isValid(); line = layout.createLine()) {
    line.setLeadingIncluded(true);
    line.setLineWidth(text_width());
    line.setPosition(QPointF(0.0, height));
    height += line.height() + distance;
  }
  layout.endLayout();
  return height;
}

void LazyTextLayout::lay_out(const QTextBlock& block, Glyphs glyphs) const {
  const auto paragraph = static_cast<std::size_t>(block.blockNumber());
  if (is_laid_out_[paragraph]) return;
  block.layout()->setCacheEnabled(glyphs == Glyphs::kept);
  block.layout()->setFormats(formats_in(block));
  const double height = break_lines(block, *block.layout());
  is_laid_out_[paragraph] = true;
  --n_estimated_;
  if (height == heights_[paragraph]) return;
  heights_[paragraph] = height;
  n_tops_ = std::min(n_tops_, paragraph + 1);
}

void LazyTextLayout::find_tops() const {
  for (; n_tops_ < tops_.size(); ++n_tops_) tops_[n_tops_] = tops_[n_tops_ - 1] + heights_[n_tops_ - 1];
}

int LazyTextLayout::paragraph_at(double y) const {
  find_tops();
  const auto after = std::upper_bound(tops_.begin() + 1, tops_.end() - 1, y);
  return static_cast<int>(after - tops_.begin()) - 1;
}

LazyTextLayout::Anchor LazyTextLayout::anchor_at(double y) const {
  const int paragraph = paragraph_at(y);
  return {paragraph, y - tops_[static_cast<std::size_t>(paragraph)]};
}

double LazyTextLayout::y_of(const Anchor& anchor) const {
  find_tops();
  return tops_[static_cast<std::size_t>(anchor.paragraph)] + anchor.below_top;
}

void LazyTextLayout::estimate() {
  const QFontMetricsF metrics(document()->defaultFont(), paintDevice());
  const double characters_per_line = std::max(1.0, text_width() / metrics.averageCharWidth());
  const double line_height =
      std::ceil(metrics.lineSpacing()) + line_distance();  // Whole pixels, as for real lines.
  heights_.clear();
  for (QTextBlock block = document()->begin(); block.isValid(); block = block.next()) {
    block.clearLayout();
    heights_.push_back(line_height * std::ceil(block.length() / characters_per_line));
  }
  is_laid_out_.assign(heights_.size(), false);
  n_estimated_ = heights_.size();
  next_estimated_ = 0;
  tops_.assign(heights_.size() + 1, document()->documentMargin());
  n_tops_ = 1;
  drop_pictures();
}

void LazyTextLayout::drop_pictures() {
  pictures_.clear();
  n_pixels_ = 0.0;
}

void LazyTextLayout::documentChanged(int /*from*/, int /*removed*/, int /*added*/) {
  // The text is always written as a whole, so that all of it changes.
  estimate();
  if (document()->characterCount() <= short_text)
    for (QTextBlock block = document()->begin(); block.isValid(); block = block.next())
      lay_out(block, Glyphs::dropped);
  emit documentSizeChanged(documentSize());
  emit update();
}

void LazyTextLayout::lay_out_above(int position, double height) {
  const std::size_t before = n_estimated_;
  double laid_out = 0.0;
  for (QTextBlock block = document()->findBlock(position); block.isValid() && laid_out < height;
       block = block.previous())
    laid_out += blockBoundingRect(block).height();
  if (n_estimated_ != before) emit documentSizeChanged(documentSize());
}

bool LazyTextLayout::lay_out_between(double top, double bottom) {
  const std::size_t before = n_estimated_;
  for (QTextBlock block = document()->findBlockByNumber(paragraph_at(top)); block.isValid();
       block = block.next())
    if (blockBoundingRect(block).bottom() >= bottom) break;
  if (n_estimated_ == before) return false;
  emit documentSizeChanged(documentSize());
  return true;
}

void LazyTextLayout::lay_out_more(int characters) {
  QTextBlock block = document()->findBlockByNumber(static_cast<int>(next_estimated_));
  for (; block.isValid() && n_estimated_ > 0 && characters > 0; block = block.next(), ++next_estimated_) {
    if (is_laid_out_[next_estimated_]) continue;
    characters -= block.length();
    lay_out(block, Glyphs::dropped);
  }
  emit documentSizeChanged(documentSize());
}

void LazyTextLayout::set_place(const std::optional<ReadingPlace>& place) {
  if (place == place_) return;
  const std::optional<ReadingPlace> before = std::exchange(place_, place);
  if (!before || !place || before->later != place->later || before->here != place->here) {
    drop_pictures();
    emit update();
    return;
  }
  // The text between the old and the new place looks different now.
  const QRectF first = blockBoundingRect(document()->findBlock(std::min(before->begin, place->begin)));
  const QRectF last = blockBoundingRect(document()->findBlock(std::max(before->end, place->end)));
  emit update(first | last);
}

const QPixmap& LazyTextLayout::picture_of(const Strip& strip, const QTextBlock& block, double scale) {
  Picture& picture = pictures_[strip.key];
  if (!picture.pixels.isNull() && picture.is_later == strip.is_later) return picture.pixels;
  const QSizeF size = strip.box.size() * scale;
  if (picture.pixels.isNull()) n_pixels_ += size.width() * size.height();
  picture.is_later = strip.is_later;
  picture.pixels = QPixmap(size.toSize());
  picture.pixels.setDevicePixelRatio(scale);
  picture.pixels.fill(back_);
  QPainter painter(&picture.pixels);
  painter.setPen(ink_);
  painter.translate(-strip.box.topLeft());
  block.layout()->draw(&painter, {}, selections_in(block, {}), without_margins(strip.box));
  return picture.pixels;
}

QList<QTextLayout::FormatRange> LazyTextLayout::selections_in(const QTextBlock& block,
                                                              const QList<Selection>& others) const {
  QList<QTextLayout::FormatRange> ranges;
  const auto select = [&](int begin, int end, const QTextCharFormat& format) {
    QTextLayout::FormatRange range;
    range.start = begin - block.position();
    range.length = end - begin;
    range.format = format;
    if (begin < end && range.start < block.length() && range.start + range.length > 0)
      ranges.push_back(range);
  };
  if (place_) {
    select(place_->begin, place_->end, place_->here);
    select(place_->end, document()->characterCount() - 1, place_->later);
  }
  for (const Selection& other : others)
    select(other.cursor.selectionStart(), other.cursor.selectionEnd(), other.format);
  return ranges;
}

LazyTextLayout::Strip LazyTextLayout::strip_of(const QTextBlock& block, int index,
                                               const QList<Selection>& others) const {
  const QTextLayout& layout = *block.layout();
  const int first = index * lines_per_strip;
  const int last = std::min(first + lines_per_strip, layout.lineCount()) - 1;
  const int begin = block.position() + layout.lineAt(first).textStart();
  const int end = last + 1 == layout.lineCount() ? block.position() + block.length()
                                                 : block.position() + layout.lineAt(last + 1).textStart();
  const double top = layout.lineAt(first).y();
  const double bottom = last + 1 == layout.lineCount()
                            ? heights_[static_cast<std::size_t>(block.blockNumber())]
                            : layout.lineAt(last + 1).y();
  Strip strip{.key = (static_cast<std::uint64_t>(block.blockNumber()) << 32U) | static_cast<unsigned>(index),
              .box = {0.0, layout.position().y() + top, document()->pageSize().width(), bottom - top},
              .is_later = place_ && place_->end <= begin,
              .is_of_one_look = !place_ || place_->end <= begin || place_->begin >= end};
  for (const Selection& other : others)
    if (other.cursor.selectionStart() < end && other.cursor.selectionEnd() > begin)
      strip.is_of_one_look = false;
  return strip;
}

void LazyTextLayout::draw_block(QPainter& painter, const PaintContext& context, const QTextBlock& block) {
  QTextLayout& layout = *block.layout();
  layout.setPosition(blockBoundingRect(block).topLeft());
  const bool has_pictures = whole_pixels(painter, QPointF(0.0, layout.position().y())) > 0;
  if (!has_pictures)
    layout.draw(&painter, {}, selections_in(block, context.selections),
                without_margins(context.clip.isValid() ? context.clip : QRectF(QPointF(), documentSize())));
  const int strips = has_pictures ? (layout.lineCount() + lines_per_strip - 1) / lines_per_strip : 0;
  for (int index = 0; index < strips; ++index) {
    const Strip strip = strip_of(block, index, context.selections);
    if (context.clip.isValid() && !strip.box.intersects(context.clip)) continue;
    if (strip.is_of_one_look) {
      painter.drawPixmap(strip.box.topLeft(), picture_of(strip, block, painter.deviceTransform().m11()));
    } else {
      painter.save();
      painter.setClipRect(strip.box, Qt::IntersectClip);
      layout.draw(&painter, {}, selections_in(block, context.selections), without_margins(strip.box));
      painter.restore();
    }
  }
  const int caret = context.cursorPosition - block.position();
  if (caret >= 0 && caret < block.length()) {
    const QVariant width = property("cursorWidth");
    layout.drawCursor(&painter, {}, caret, width.isValid() ? width.toInt() : 1);
  }
}

void LazyTextLayout::draw(QPainter* painter, const PaintContext& context) {
  const double scale = painter->deviceTransform().m11();
  const QColor back = context.palette.color(QPalette::Base);
  const QColor ink = context.palette.color(QPalette::Text);
  if (scale != scale_ || back != back_ || ink != ink_ || n_pixels_ > max_pixels) drop_pictures();
  scale_ = scale;
  back_ = back;
  ink_ = ink;
  painter->setPen(ink);
  const bool is_clipped = context.clip.isValid();
  const int first = is_clipped ? paragraph_at(context.clip.top()) : 0;
  for (QTextBlock block = document()->findBlockByNumber(first); block.isValid(); block = block.next()) {
    if (is_clipped && blockBoundingRect(block).top() > context.clip.bottom()) break;
    draw_block(*painter, context, block);
  }
}

int LazyTextLayout::hitTest(const QPointF& point, Qt::HitTestAccuracy accuracy) const {
  const QTextBlock block = document()->findBlockByNumber(paragraph_at(point.y()));
  const QRectF box = blockBoundingRect(block);
  const QTextLayout& layout = *block.layout();
  const QPointF inside = point - box.topLeft();
  int line = 0;
  while (line + 1 < layout.lineCount() && layout.lineAt(line + 1).y() <= inside.y()) ++line;
  const QTextLine hit = layout.lineAt(line);
  if (accuracy == Qt::ExactHit && !hit.naturalTextRect().contains(inside)) return -1;
  return block.position() + hit.xToCursor(inside.x());
}

QSizeF LazyTextLayout::documentSize() const {
  find_tops();
  return {document()->pageSize().width(), tops_.back() + document()->documentMargin()};
}

QRectF LazyTextLayout::frameBoundingRect(QTextFrame* /*frame*/) const {
  return {QPointF(), documentSize()};
}

QRectF LazyTextLayout::blockBoundingRect(const QTextBlock& block) const {
  if (!block.isValid() || static_cast<std::size_t>(block.blockNumber()) >= heights_.size()) return {};
  lay_out(block, Glyphs::kept);
  find_tops();
  const auto paragraph = static_cast<std::size_t>(block.blockNumber());
  const double margin = document()->documentMargin();
  return {margin, tops_[paragraph], text_width(), heights_[paragraph]};
}

}  // namespace draftscope::gui
