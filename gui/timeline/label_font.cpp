// SPDX-License-Identifier: GPL-3.0-or-later
#include "label_font.h"

#include <QGlyphRun>
#include <QPaintEngine>
#include <algorithm>
#include <cmath>

namespace draftscope::gui {

namespace {

constexpr QChar dots(u'…');

}  // namespace

LabelFont::LabelFont(const QFont& font) : metrics_(font), raw_(QRawFont::fromFont(font)) {
  const auto made = [this](QChar character) {
    Letter letter{.width = metrics_.horizontalAdvance(character)};
    if (const QList<quint32> glyphs = raw_.glyphIndexesForString(QString(character)); glyphs.size() == 1) {
      letter.glyph = glyphs.front();
      if (letter.glyph != 0) letter.width = raw_.advancesForGlyphIndexes(glyphs).front().x();
    }
    return letter;
  };
  for (std::size_t i = 0; i < latin_.size(); ++i) latin_[i] = made(QChar(static_cast<char16_t>(i)));
  dots_ = made(dots);
}

LabelFont::Letter LabelFont::letter(QChar letter) const {
  if (letter.unicode() < latin_.size()) return latin_[letter.unicode()];
  return letter == dots ? dots_ : Letter{.width = metrics_.horizontalAdvance(letter)};
}

int LabelFont::width(const QString& text) const {
  double width = 0.0;
  for (const QChar character : text) width += letter(character).width;
  return static_cast<int>(std::ceil(width));
}

QString LabelFont::fitting(const SliceLabel& label, int width) const {
  if (label.lengths.isEmpty()) return {};
  double at = 0.0;     // Right end of the letters that fit.
  qsizetype fits = 0;  // Letters that fit.
  for (; fits < label.words.size(); ++fits) {
    at += letter(label.words[fits]).width;
    if (std::ceil(at) > width) break;
  }
  for (const qsizetype length : label.lengths)
    if (length <= fits) return length == label.words.size() ? label.words : label.words.left(length);
  // Letters are taken from both ends in turn.
  const QString shortest = label.words.left(label.lengths.back());
  qsizetype left = 0;
  qsizetype right = 0;
  for (double taken = dots_.width; left + right < shortest.size();) {
    const bool from_left = left <= right;
    taken += letter(shortest[from_left ? left : shortest.size() - 1 - right]).width;
    if (std::ceil(taken) > width) break;
    ++(from_left ? left : right);
  }
  constexpr qsizetype min_letters = 5;
  if (left + right < min_letters) return {};
  return shortest.left(left) + dots + shortest.right(right);
}

LabelBatch::LabelBatch(QPainter& painter, const LabelFont& font)
    : painter_(painter),
      font_(font),
      has_glyphs_(font.raw().isValid() && painter.paintEngine() != nullptr &&
                  painter.paintEngine()->type() == QPaintEngine::Raster) {}

LabelBatch::Run& LabelBatch::run_of(const QColor& ink) {
  // There are mostly two inks, and rarely more.
  const auto known = std::find_if(runs_.begin(), runs_.end(), [&](const Run& run) { return run.ink == ink; });
  return known != runs_.end() ? *known : runs_.emplace_back(Run{.ink = ink, .glyphs = {}, .places = {}});
}

void LabelBatch::add(const QPoint& at, const QString& text, std::span<const LabelInk> inks) {
  const bool has_all = has_glyphs_ && std::all_of(text.begin(), text.end(), [this](QChar character) {
                         return character == u' ' || font_.letter(character).glyph != 0;
                       });
  if (!has_all) return texts_.push_back({at, text, {inks.begin(), inks.end()}});
  double x = at.x();
  std::size_t piece = 0;
  Run* run = &run_of(inks.front().color);
  for (const QChar character : text) {
    const LabelFont::Letter letter = font_.letter(character);
    const std::size_t before = piece;
    while (piece + 1 < inks.size() && x + letter.width / 2 >= inks[piece].right) ++piece;
    if (piece != before) run = &run_of(inks[piece].color);
    if (character != u' ') {
      run->glyphs.push_back(letter.glyph);
      run->places.emplace_back(x, at.y());
    }
    x += letter.width;
  }
}

void LabelBatch::draw_text(const Text& text) {
  const std::span<const LabelInk> inks = text.inks;
  const bool is_one_ink = std::all_of(inks.begin(), inks.end(),
                                      [&](const LabelInk& ink) { return ink.color == inks.front().color; });
  int left = text.at.x();
  for (const LabelInk& ink : is_one_ink ? inks.first(1) : inks) {
    painter_.save();
    const int height = painter_.fontMetrics().height();
    if (!is_one_ink)
      painter_.setClipRect(QRect(left, text.at.y() - height, std::max(0, ink.right - left), 2 * height),
                           Qt::IntersectClip);
    painter_.setPen(ink.color);
    painter_.drawText(text.at, text.words);
    painter_.restore();
    left = std::max(left, ink.right);
  }
}

void LabelBatch::draw() {
  for (const Text& text : texts_) draw_text(text);
  texts_.clear();
  for (Run& run : runs_) {
    if (run.glyphs.empty()) continue;
    QGlyphRun glyphs;
    glyphs.setRawFont(font_.raw());
    glyphs.setRawData(run.glyphs.data(), run.places.data(), static_cast<int>(run.glyphs.size()));
    painter_.setPen(run.ink);
    painter_.drawGlyphRun(QPointF(), glyphs);
    run.glyphs.clear();
    run.places.clear();
  }
}

}  // namespace draftscope::gui
