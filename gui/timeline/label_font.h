// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The letters of a font for many short labels. A letter's place is the sum of the widths before it, like in a
// text layout but without kerning. So thousands of labels can be measured and drawn per frame.

#include <QFont>
#include <QFontMetricsF>
#include <QPainter>
#include <QRawFont>
#include <QString>
#include <array>
#include <span>
#include <vector>

#include "timeline/slice_label.h"

namespace draftscope::gui {

class LabelFont {
 public:
  explicit LabelFont(const QFont& font);

  [[nodiscard]] const QRawFont& raw() const { return raw_; }
  /// Width of a text, rounded up to pixels.
  [[nodiscard]] int width(const QString& text) const;
  /// The longest of the label's beginnings that fits into a width, or the shortest one without its middle
  /// ("att…ion"). Empty where fewer than five letters of it fit, since they could mean anything.
  [[nodiscard]] QString fitting(const SliceLabel& label, int width) const;

  struct Letter {
    quint32 glyph = 0;  ///< 0 = the font has none, or the letter needs a text layout
    double width = 0.0;
  };
  [[nodiscard]] Letter letter(QChar letter) const;

 private:
  QFontMetricsF metrics_;
  QRawFont raw_;
  std::array<Letter, 256> latin_{};
  Letter dots_;
};

/// Ink of a label up to a pixel.
struct LabelInk {
  int right = 0;
  QColor color;
};

/// The labels of a frame, drawn together. Letters of one ink go to the painter at once; each letter has the
/// ink at its middle.
class LabelBatch {
 public:
  /// Both must outlive it.
  LabelBatch(QPainter& painter, const LabelFont& font);

  [[nodiscard]] const LabelFont& font() const { return font_; }
  /// Adds a text whose baseline begins at `at`, with at least one ink, from left to right. A text that needs
  /// a layout is drawn as text. So is every text where the painter writes no pixels, so that files contain
  /// texts.
  void add(const QPoint& at, const QString& text, std::span<const LabelInk> inks);
  /// Draws the labels added since the last call.
  void draw();

 private:
  struct Run {
    QColor ink;
    std::vector<quint32> glyphs;
    std::vector<QPointF> places;
  };
  struct Text {
    QPoint at;
    QString words;
    std::vector<LabelInk> inks;
  };
  [[nodiscard]] Run& run_of(const QColor& ink);
  void draw_text(const Text& text);

  QPainter& painter_;
  const LabelFont& font_;
  bool has_glyphs_;
  std::vector<Run> runs_;
  std::vector<Text> texts_;
};

}  // namespace draftscope::gui
