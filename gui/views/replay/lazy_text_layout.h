// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Layout of a long read-only text that costs what is seen of it: a paragraph is laid out when somebody looks
// at it or asks where it is, and what the others take is estimated until they are laid out, too. Draws what
// Qt's own layout draws, to the pixel, and has a place up to which the text has been read. Formats are the
// layout's, as those of a highlighter are: a document that holds many takes far longer to be written. On the
// main thread only.

#include <QAbstractTextDocumentLayout>
#include <QColor>
#include <QPixmap>
#include <QTextLayout>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace draftscope::gui {

/// A stretch of the text that is looked at, and what follows it, drawn in other formats.
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
  /// The document takes it by setDocumentLayout().
  explicit LazyTextLayout(QTextDocument* document);

  /// Formats of the text that is written next: in order, without overlaps, by positions in the document.
  void set_formats(QList<QTextLayout::FormatRange> formats);
  [[nodiscard]] const QList<QTextLayout::FormatRange>& formats() const { return formats_; }
  void set_place(const std::optional<ReadingPlace>& place);

  /// Something that stays what it is while paragraphs above it are laid out.
  struct Anchor {
    int paragraph = 0;
    double below_top = 0.0;
  };
  [[nodiscard]] Anchor anchor_at(double y) const;
  [[nodiscard]] double y_of(const Anchor& anchor) const;

  [[nodiscard]] bool is_complete() const { return n_estimated_ == 0; }
  /// Lays out a position's paragraph and so much above it.
  void lay_out_above(int position, double height);
  /// Whether anything between was estimated.
  bool lay_out_between(double top, double bottom);
  /// Lays out estimated paragraphs of so many characters, and one at least.
  void lay_out_more(int characters);

  void draw(QPainter* painter, const PaintContext& context) override;
  [[nodiscard]] int hitTest(const QPointF& point, Qt::HitTestAccuracy accuracy) const override;
  [[nodiscard]] int pageCount() const override { return 1; }
  [[nodiscard]] QSizeF documentSize() const override;
  [[nodiscard]] QRectF frameBoundingRect(QTextFrame* frame) const override;
  /// Lays the paragraph out.
  [[nodiscard]] QRectF blockBoundingRect(const QTextBlock& block) const override;

 protected:
  void documentChanged(int from, int removed, int added) override;

 private:
  /// Kept for drawing soon, or dropped, as there are many.
  enum class Glyphs { kept, dropped };

  /// Some lines of a paragraph.
  struct Strip {
    std::uint64_t key = 0;
    QRectF box;                   ///< across the page
    bool is_later = false;        ///< after the place
    bool is_of_one_look = false;  ///< all of it before the place or after it, and nothing is selected
  };
  struct Picture {
    QPixmap pixels;
    bool is_later = false;
  };

  /// As far as they lie in the block, by positions in it.
  [[nodiscard]] QList<QTextLayout::FormatRange> formats_in(const QTextBlock& block) const;
  /// Lays it out unless it is.
  void lay_out(const QTextBlock& block, Glyphs glyphs) const;
  /// Lines of a layout of the block's text; returns their height.
  double break_lines(const QTextBlock& block, QTextLayout& layout) const;
  void estimate();
  void find_tops() const;
  [[nodiscard]] int paragraph_at(double y) const;
  [[nodiscard]] double text_width() const;
  /// Where text is drawn: what is selected behind the end of a line is not seen in the margin.
  [[nodiscard]] QRectF without_margins(QRectF box) const;
  void draw_block(QPainter& painter, const PaintContext& context, const QTextBlock& block);
  [[nodiscard]] Strip strip_of(const QTextBlock& block, int index, const QList<Selection>& others) const;
  /// The place's and others', as far as they lie in the block.
  [[nodiscard]] QList<QTextLayout::FormatRange> selections_in(const QTextBlock& block,
                                                              const QList<Selection>& others) const;
  const QPixmap& picture_of(const Strip& strip, const QTextBlock& block, double scale);
  void drop_pictures();

  QList<QTextLayout::FormatRange> formats_;
  std::optional<ReadingPlace> place_;
  // By the paragraph. What is laid out and when follows from what is asked.
  mutable std::vector<double> heights_;
  mutable std::vector<bool> is_laid_out_;
  mutable std::vector<double> tops_;  ///< one more than paragraphs
  mutable std::size_t n_tops_ = 0;    ///< of these, those that are right
  mutable std::size_t n_estimated_ = 0;
  std::size_t next_estimated_ = 0;  ///< none before it is estimated
  std::unordered_map<std::uint64_t, Picture> pictures_;
  double n_pixels_ = 0.0;  ///< of all pictures
  // What all pictures are drawn with.
  double scale_ = 0.0;
  QColor back_;
  QColor ink_;
};

}  // namespace draftscope::gui
