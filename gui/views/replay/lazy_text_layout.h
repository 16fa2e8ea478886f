// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Layout of a long read-only text whose cost depends on what is visible. A paragraph is laid out when it is
// drawn or its position is asked for; the heights of others are estimated until then. It draws exactly what
// Qt's own layout draws, and has a reading place. The layout holds the formats, like a highlighter's, since a
// document with many formats takes far longer to write. Use it on the main thread only.

#include <QAbstractTextDocumentLayout>
#include <QColor>
#include <QPixmap>
#include <QTextLayout>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace draftscope::gui {

/// A stretch of the text at the reading place, and its formats and those of the text after it.
struct ReadingPlace {
  int begin = 0;
  int end = 0;
  QTextCharFormat here;
  QTextCharFormat later;
  bool operator==(const ReadingPlace&) const = default;
};

class LazyTextLayout : public QAbstractTextDocumentLayout {
  Q_OBJECT

 public:
  /// Construct it, then pass it to setDocumentLayout(), which takes ownership.
  explicit LazyTextLayout(QTextDocument* document);

  /// Sets the formats of the text that is written next: ascending, without overlaps, by positions in the
  /// document.
  void set_formats(QList<QTextLayout::FormatRange> formats);
  [[nodiscard]] const QList<QTextLayout::FormatRange>& formats() const { return formats_; }
  void set_place(const std::optional<ReadingPlace>& place);

  /// A position that does not move while paragraphs above it are laid out.
  struct Anchor {
    int paragraph = 0;
    double below_top = 0.0;
  };
  [[nodiscard]] Anchor anchor_at(double y) const;
  [[nodiscard]] double y_of(const Anchor& anchor) const;

  /// Pixels between lines, which keep the colours of two lines apart.
  [[nodiscard]] double line_distance() const;

  [[nodiscard]] bool is_complete() const { return n_estimated_ == 0; }
  /// Lays out the paragraph of a position, and this height above it.
  void lay_out_above(int position, double height);
  /// Lays out the paragraphs between; returns whether any was estimated before.
  bool lay_out_between(double top, double bottom);
  /// Lays out estimated paragraphs with this many characters, and at least one paragraph.
  void lay_out_more(int characters);

  void draw(QPainter* painter, const PaintContext& context) override;
  [[nodiscard]] int hitTest(const QPointF& point, Qt::HitTestAccuracy accuracy) const override;
  [[nodiscard]] int pageCount() const override { return 1; }
  [[nodiscard]] QSizeF documentSize() const override;
  [[nodiscard]] QRectF frameBoundingRect(QTextFrame* frame) const override;
  /// Lays out the paragraph and returns its box.
  [[nodiscard]] QRectF blockBoundingRect(const QTextBlock& block) const override;

 protected:
  void documentChanged(int from, int removed, int added) override;

 private:
  /// Whether a paragraph's glyphs stay cached for drawing soon, or are dropped since there are many.
  enum class Glyphs { kept, dropped };

  /// Some lines of a paragraph.
  struct Strip {
    std::uint64_t key = 0;
    QRectF box;                   ///< Box across the page.
    bool is_later = false;        ///< True if it comes after the reading place.
    bool is_of_one_look = false;  ///< All before the place or all after it; nothing selected.
  };
  struct Picture {
    QPixmap pixels;
    bool is_later = false;
  };

  /// Formats that overlap the block, by positions in the block.
  [[nodiscard]] QList<QTextLayout::FormatRange> formats_in(const QTextBlock& block) const;
  /// Lays out the block if that has not been done.
  void lay_out(const QTextBlock& block, Glyphs glyphs) const;
  /// Breaks the block's text into lines of `layout`; returns their height.
  double break_lines(const QTextBlock& block, QTextLayout& layout) const;
  void estimate();
  void find_tops() const;
  [[nodiscard]] int paragraph_at(double y) const;
  [[nodiscard]] double text_width() const;
  /// Box in which text is drawn; clipping to it hides the selection past the end of a line in the margin.
  [[nodiscard]] QRectF without_margins(QRectF box) const;
  void draw_block(QPainter& painter, const PaintContext& context, const QTextBlock& block);
  [[nodiscard]] Strip strip_of(const QTextBlock& block, int index, const QList<Selection>& others) const;
  /// Selections of the reading place and others, as far as they overlap the block.
  [[nodiscard]] QList<QTextLayout::FormatRange> selections_in(const QTextBlock& block,
                                                              const QList<Selection>& others) const;
  const QPixmap& picture_of(const Strip& strip, const QTextBlock& block, double scale);
  void drop_pictures();

  QList<QTextLayout::FormatRange> formats_;
  std::optional<ReadingPlace> place_;
  // These are per paragraph, and mutable since const queries lay paragraphs out on demand.
  mutable std::vector<double> heights_;
  mutable std::vector<bool> is_laid_out_;
  mutable std::vector<double> tops_;  ///< One more element than there are paragraphs.
  mutable std::size_t n_tops_ = 0;    ///< Number of leading `tops_` that are up to date.
  mutable std::size_t n_estimated_ = 0;
  std::size_t next_estimated_ = 0;  ///< No paragraph before this one is estimated.
  std::unordered_map<std::uint64_t, Picture> pictures_;
  double n_pixels_ = 0.0;  ///< Total over all pictures.
  // All pictures were drawn with these.
  double scale_ = 0.0;
  QColor back_;
  QColor ink_;
};

}  // namespace draftscope::gui
