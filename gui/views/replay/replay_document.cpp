// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_document.h"

#include <QMimeData>
#include <QScrollBar>
#include <QTextCursor>
#include <QTimerEvent>
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "views/replay/lazy_text_layout.h"
#include "widgets/appearance.h"
#include "widgets/theme.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

/// Characters that one turn of the event loop lays out, in one or two ms.
constexpr int characters_per_turn = 4096;

/// Replaces line ends by the document's ends of paragraphs, which have one position each.
QString with_paragraphs(QString text) {
  if (!text.contains(u'\r')) return text;
  return text.replace(QStringLiteral("\r\n"), QStringLiteral("\n")).replace(u'\r', u'\n');
}

}  // namespace

ReplayDocument::ReplayDocument(QWidget* parent) : QTextEdit(parent) {
  setReadOnly(true);
  setUndoRedoEnabled(false);  // Storing the undo history takes longer than writing the text.
  setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  QFont larger = font();
  larger.setPointSizeF(larger.pointSizeF() * 1.3);
  // Qt colours the edges of letters on a widget alone, where a system asks for it, and not on the pictures
  // that the layout keeps: their letters would look different from those beside them.
  larger.setStyleStrategy(QFont::NoSubpixelAntialias);
  setFont(larger);
  const int caret_width = cursorWidth();
  layout_ = new LazyTextLayout(document());
  layout_->setPaintDevice(viewport());
  connect(layout_, &QAbstractTextDocumentLayout::documentSizeChanged, this, [this] {
    if (!layout_->is_complete() && !rest_.isActive()) rest_.start(0, this);
  });
  document()->setDocumentLayout(layout_);
  setCursorWidth(caret_width);
}

void ReplayDocument::write(const RecordingPointer& recording, const ReplayedText& text, bool shows_rejected) {
  const bool dark = is_dark(palette());
  const auto format_of = [&](TokenOrigin origin) {
    QTextCharFormat format;
    format.setBackground(origin_color(origin, dark));
    if (origin == TokenOrigin::bonus) format.setUnderlineStyle(QTextCharFormat::DotLine);
    return format;
  };
  const std::array<QTextCharFormat, 3> by_origin{
      format_of(TokenOrigin::prefill), format_of(TokenOrigin::accepted), format_of(TokenOrigin::bonus)};
  QTextCharFormat struck;
  struck.setForeground(rejected_color(dark));
  struck.setFontStrikeOut(true);
  struck.setFontPointSize(font().pointSizeF() * 0.8);
  pieces_.clear();
  piece_of_token_.assign(text.tokens.size(), 0);
  QString whole;
  // Neighbours with the same format share one range, so that letters are shaped across tokens.
  QList<QTextLayout::FormatRange> formats;
  const QTextCharFormat* last_format = nullptr;
  const auto write_piece = [&](const QString& words, const QTextCharFormat& format, std::size_t token_index,
                               std::uint32_t draft_index) {
    const auto begin = static_cast<int>(whole.size());
    whole += words;
    const auto end = static_cast<int>(whole.size());
    pieces_.push_back({begin, end, token_index, draft_index});
    if (begin == end) return;
    if (std::exchange(last_format, &format) == &format)
      formats.back().length += end - begin;
    else
      formats.push_back({begin, end - begin, format});
  };
  auto rejected = text.rejected.begin();
  const auto write_rejected = [&](std::size_t before) {
    for (; rejected != text.rejected.end() && rejected->after <= before; ++rejected) {
      if (!shows_rejected) continue;
      for (const std::uint32_t draft_index : rejected->drafts)
        write_piece(
            visible_text(recording->token_text(recording->recording().draft_tokens[draft_index].token)),
            struck, before > 0 ? before - 1 : 0, draft_index);
    }
  };
  for (std::size_t i = 0; i < text.tokens.size(); ++i) {
    write_rejected(i);
    const ReplayedToken& token = text.tokens[i];
    piece_of_token_[i] = pieces_.size();
    write_piece(with_paragraphs(QString::fromStdString(token.text)),
                by_origin[static_cast<std::size_t>(token.origin)], i, no_index);
  }
  write_rejected(text.tokens.size());
  layout_->set_place(std::nullopt);
  layout_->set_formats({});
  clear();
  layout_->set_formats(std::move(formats));
  QTextCursor cursor(document());
  cursor.beginEditBlock();  // Without it, the cursor lays out its paragraph.
  cursor.insertText(whole);
  cursor.endEditBlock();
}

void ReplayDocument::mark(std::optional<std::size_t> token_index) {
  if (!token_index) return layout_->set_place(std::nullopt);
  const Piece& piece = piece_of(*token_index);
  ReadingPlace place{.begin = piece.begin, .end = piece.end, .here = {}, .later = {}};
  place.here.setBackground(cursor_color(is_dark(palette())));
  place.here.setForeground(palette().color(QPalette::Base));
  // Text after the cursor has no colours yet, and is paler.
  place.later.setBackground(palette().color(QPalette::Base));
  place.later.setForeground(quiet(palette()).color(QPalette::WindowText));
  layout_->set_place(place);
  QTextCursor visible(document());
  visible.setPosition(piece.begin);
  const auto lay_out_seen = [this] {
    const int top = verticalScrollBar()->value();
    return layout_->lay_out_between(top, top + viewport()->height());
  };
  do
    if (const QRect there = cursorRect(visible); !viewport()->rect().contains(there)) {
      // A token from below appears at the bottom, one from above at the top.
      if (there.top() > 0) layout_->lay_out_above(piece.begin, viewport()->height());
      setTextCursor(visible);
      ensureCursorVisible();
    }
  while (lay_out_seen());  // This may push the token out of sight again.
}

const ReplayDocument::Piece* ReplayDocument::piece_at(int position) const {
  const auto piece = std::partition_point(pieces_.begin(), pieces_.end(),
                                          [&](const Piece& candidate) { return candidate.end <= position; });
  return piece == pieces_.end() ? nullptr : &*piece;
}

const ReplayDocument::Piece& ReplayDocument::piece_of(std::size_t token_index) const {
  return pieces_[piece_of_token_[token_index]];
}

std::unique_ptr<QTextDocument> ReplayDocument::formatted(int begin, int end) const {
  auto made = std::make_unique<QTextDocument>();
  made->setUndoRedoEnabled(false);
  made->setDefaultFont(document()->defaultFont());
  QTextCursor from(document());
  QTextCursor to(made.get());
  const auto take = [&](int next, const QTextCharFormat& format) {
    from.setPosition(begin);
    from.setPosition(next, QTextCursor::KeepAnchor);
    to.insertText(from.selectedText(), format);
    begin = next;
  };
  for (const QTextLayout::FormatRange& range : layout_->formats()) {
    if (range.start + range.length <= begin) continue;
    if (begin >= end) break;
    take(std::min(range.start + range.length, end), range.format);
  }
  return made;
}

QMimeData* ReplayDocument::createMimeDataFromSelection() const {
  const QTextCursor selected = textCursor();
  const std::unique_ptr<QTextDocument> copied = formatted(selected.selectionStart(), selected.selectionEnd());
  auto* data = new QMimeData;
  data->setText(copied->toPlainText());
  data->setHtml(copied->toHtml());
  return data;
}

void ReplayDocument::lay_out_more(int characters) {
  const int scrolled = verticalScrollBar()->value();
  const LazyTextLayout::Anchor top = layout_->anchor_at(scrolled);
  layout_->lay_out_more(characters);
  const int moved = qRound(layout_->y_of(top));
  if (moved == scrolled) return;
  verticalScrollBar()->setValue(moved);
  viewport()->update();
}

void ReplayDocument::lay_out_all() {
  while (!is_laid_out()) lay_out_more(std::numeric_limits<int>::max());
  rest_.stop();
}

bool ReplayDocument::is_laid_out() const {
  return layout_->is_complete();
}

void ReplayDocument::timerEvent(QTimerEvent* event) {
  if (event->timerId() != rest_.timerId()) return QTextEdit::timerEvent(event);
  lay_out_more(characters_per_turn);
  if (is_laid_out()) rest_.stop();
}

}  // namespace draftscope::gui
