// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The text written into a slice, where it may be cut to fit, and how thousands of them are drawn per frame.

#include <QFont>
#include <QFontMetricsF>
#include <QPainter>
#include <QRawFont>
#include <QString>
#include <QVarLengthArray>
#include <array>
#include <span>
#include <vector>

#include "data/lanes/timeline.h"
#include "data/opened_recording.h"

namespace draftscope::gui {

struct SliceLabel {
  QString words;
  /// Lengths of meaningful beginnings, the longest first, down to the part that tells it from others.
  QVarLengthArray<qsizetype, 3> lengths;
};

/// Label of a slice. A round has "#41 4/4+1 723 µs": its place in the run, accepted of drafted tokens and the
/// target's own, its time. A request has "q9·0 coding 1.2 s", a layer "L3 181 µs". A draft step has its
/// tokens with their confidence. A kernel has "L2 attention 75 µs AttentionKernel<Bf16, 128>": its operation,
/// its time, its name, and what the template is for. Other slices have name and time.
[[nodiscard]] SliceLabel slice_label(const OpenedRecording& opened, const Timeline& timeline,
                                     const Lane& lane, std::size_t index);

/// "q9·0 coding": question, repeat, category. The part "q9·0" tells it from others.
[[nodiscard]] SliceLabel request_label(const OpenedRecording& opened, const traces::Request& request);

/// Begin of a slice to the nanosecond: "#41 + 1.026 300 ms" after that of its round, else "16.123 456 ms"
/// after that of the recording.
[[nodiscard]] QString begin_text(const OpenedRecording& opened, const LaneSlice& slice);

/// The letters of a font for many short labels. A letter's place is the sum of the widths before it, like in
/// a text layout but without kerning.
class LabelFont {
 public:
  explicit LabelFont(const QFont& font);

  [[nodiscard]] const QRawFont& raw() const { return raw_; }
  /// Width of a text, rounded up to pixels.
  [[nodiscard]] int width(const QString& text) const;
  /// The longest of the label's beginnings that fits into a width; else the shortest one without its last
  /// words ("draft…") or its middle ("att…ion"). Empty where fewer than five letters of it fit, since they
  /// could mean anything.
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
