// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the text of a replay, which lays out only what is seen, against Qt's own layout of all of it.
#include <gtest/gtest.h>

#include <QAccessible>
#include <QClipboard>
#include <QMimeData>
#include <QScrollBar>
#include <QTextBlock>
#include <QTextDocumentFragment>
#include <memory>
#include <random>

#include "views/replay/lazy_text_layout.h"
#include "views/replay/replay_document.h"
#include "widgets/appearance.h"
#include "widgets/theme.h"
#include "widgets/time_text.h"
#include "window_fixture.h"

namespace draftscope::gui {
namespace {

constexpr double text_scales[] = {1.0, 1.5, 2.0};

class ReplayText : public Window {
 protected:
  void SetUp() override {
    Window::SetUp();
    ASSERT_EQ(open(folder_ / "sample.dstrace"), QString());
    recording_ = window_.state().recording();
    document_.resize(640, 420);
    document_.show();
  }

  /// A text with tokens of all origins, awkward characters and rejected drafts, in paragraphs of up to
  /// `tokens_per_paragraph` tokens.
  ReplayedText random_text(std::size_t tokens, int tokens_per_paragraph) {
    static const std::vector<std::string> words{
        " word",  " a",   "longer-than-the-others ", "",   "\r\n",    "\t", " שלום", " مرحبا",
        "日本語", " fig", "\xF0\x9F\x99\x82",        " é", " of the", "!",  "  ",    " Ж"};
    ReplayedText text{.request = &recording_->recording().requests.front(), .tokens = {}, .rejected = {}};
    const std::size_t drafts = recording_->recording().draft_tokens.size();
    for (std::size_t i = 0; i < tokens; ++i) {
      ReplayedToken token;
      token.text = below(tokens_per_paragraph) == 0 ? "\n" : words[below(words.size())];
      token.origin = i == 0          ? TokenOrigin::prefill
                     : below(3) == 0 ? TokenOrigin::bonus
                                     : TokenOrigin::accepted;
      text.tokens.push_back(token);
      if (below(4) != 0) continue;
      RejectedDraft rejected{.after = i + 1};
      for (std::size_t draft = 0; draft <= below(4); ++draft)
        rejected.drafts.push_back(static_cast<std::uint32_t>(below(drafts)));
      text.rejected.push_back(rejected);
    }
    return text;
  }
  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }

  [[nodiscard]] QRect place_of(std::size_t token_index) const {
    QTextCursor at(document_.document());
    at.setPosition(document_.piece_of(token_index).begin);
    return document_.cursorRect(at);
  }

  /// Qt's own layout of the same text, with this token marked.
  std::unique_ptr<QTextEdit> laid_out_whole(std::size_t token_index) {
    auto whole = std::make_unique<QTextEdit>();
    whole->setReadOnly(true);
    whole->setFont(document_.font());
    QTextDocument* formatted = document_.formatted(0, document_.document()->characterCount() - 1).release();
    formatted->setParent(whole.get());
    QTextBlockFormat apart;
    apart.setLineHeight(static_cast<LazyTextLayout*>(document_.document()->documentLayout())->line_distance(),
                        QTextBlockFormat::LineDistanceHeight);
    QTextCursor all(formatted);
    all.select(QTextCursor::Document);
    all.mergeBlockFormat(apart);
    whole->setDocument(formatted);
    whole->resize(document_.size());
    whole->show();
    const auto selection = [&](int begin, int end, const QColor& back, const QColor& ink) {
      QTextEdit::ExtraSelection made;
      made.cursor = QTextCursor(whole->document());
      made.cursor.setPosition(begin);
      made.cursor.setPosition(end, QTextCursor::KeepAnchor);
      made.format.setBackground(back);
      made.format.setForeground(ink);
      return made;
    };
    const QPalette colors = document_.palette();
    const ReplayDocument::Piece& piece = document_.piece_of(token_index);
    const QColor base = colors.color(QPalette::Base);
    whole->setExtraSelections({selection(piece.begin, piece.end, cursor_color(is_dark(colors)), base),
                               selection(piece.end, whole->document()->characterCount() - 1, base,
                                         quiet(colors).color(QPalette::WindowText))});
    return whole;
  }

  static QImage picture(QWidget& widget, double scale) {
    QImage picture((QSizeF(widget.size()) * scale).toSize(), QImage::Format_RGB32);
    picture.setDevicePixelRatio(scale);
    widget.render(&picture);
    return picture;
  }

  RecordingPointer recording_;
  ReplayDocument document_;
  std::mt19937_64 random_{1};
};

TEST_F(ReplayText, IsWholeForWhoCopiesItOrHearsIt) {
  for (const bool shows_rejected : {true, false}) {
    const ReplayedText text = random_text(6000, 40);
    document_.write(recording_, text, shows_rejected);
    QString expected;
    auto rejected = text.rejected.begin();
    for (std::size_t i = 0; i <= text.tokens.size(); ++i) {
      for (; rejected != text.rejected.end() && rejected->after <= i; ++rejected)
        for (const std::uint32_t draft : rejected->drafts)
          if (shows_rejected)
            expected +=
                visible_text(recording_->token_text(recording_->recording().draft_tokens[draft].token));
      if (i < text.tokens.size()) expected += QString::fromStdString(text.tokens[i].text);
    }
    expected.replace(QStringLiteral("\r\n"), QStringLiteral("\n"));
    ASSERT_FALSE(document_.is_laid_out());
    EXPECT_EQ(document_.toPlainText(), expected);
    document_.selectAll();
    EXPECT_EQ(document_.textCursor().selection().toPlainText(), expected);
    QAccessibleInterface* heard = QAccessible::queryAccessibleInterface(&document_);
    ASSERT_NE(heard, nullptr);
    ASSERT_NE(heard->textInterface(), nullptr);
    EXPECT_EQ(heard->textInterface()->text(0, heard->textInterface()->characterCount()), expected);
    // The piece of each token is at the place of its text.
    for (std::size_t i = 0; i < text.tokens.size(); ++i) {
      const ReplayDocument::Piece& piece = document_.piece_of(i);
      QString own = QString::fromStdString(text.tokens[i].text);
      own.replace(QStringLiteral("\r\n"), QStringLiteral("\n"));
      ASSERT_EQ(expected.mid(piece.begin, piece.end - piece.begin), own) << i;
      if (piece.begin < piece.end) {
        ASSERT_EQ(document_.piece_at(piece.begin), &piece);
      }
    }
  }
}

TEST_F(ReplayText, IsCopiedWithItsFormats) {
  const ReplayedText text = random_text(2000, 40);
  document_.write(recording_, text, true);
  ASSERT_FALSE(text.rejected.empty());
  const std::size_t after = text.rejected[text.rejected.size() / 2].after;
  QTextCursor selected = document_.textCursor();
  selected.setPosition(document_.piece_of(after - 1).begin);
  selected.setPosition(document_.piece_of(after).end, QTextCursor::KeepAnchor);
  document_.setTextCursor(selected);
  document_.copy();
  const QMimeData* copied = QGuiApplication::clipboard()->mimeData();
  ASSERT_NE(copied, nullptr);
  EXPECT_EQ(copied->text(), selected.selection().toPlainText());
  EXPECT_TRUE(copied->html().contains(QStringLiteral("line-through"))) << copied->html().toStdString();
  EXPECT_TRUE(copied->html().contains(QStringLiteral("background-color")));
  // Any part of the text has the formats of its tokens, wherever it begins and ends.
  const std::unique_ptr<QTextDocument> all =
      document_.formatted(0, document_.document()->characterCount() - 1);
  for (int round = 0; round < 50; ++round) {
    const auto length = static_cast<std::size_t>(document_.document()->characterCount());
    const int begin = static_cast<int>(below(length));
    const int end = begin + static_cast<int>(below(length - static_cast<std::size_t>(begin)));
    const std::unique_ptr<QTextDocument> part = document_.formatted(begin, end);
    ASSERT_EQ(part->toPlainText(), document_.toPlainText().mid(begin, end - begin));
    QTextCursor there(part.get());
    QTextCursor here(all.get());
    for (int position = 1; position <= end - begin; ++position) {
      there.setPosition(position);
      here.setPosition(begin + position);
      if (there.atBlockStart()) continue;  // the format at a block's start is the paragraph's
      ASSERT_EQ(there.charFormat(), here.charFormat()) << begin << " to " << end << " at " << position;
    }
  }
}

TEST_F(ReplayText, ShowsTheTokenAtTheCursorWhereverItGoes) {
  for (const int tokens_per_paragraph : {3, 40, 100000}) {
    const ReplayedText text = random_text(5000, tokens_per_paragraph);
    document_.write(recording_, text, true);
    ASSERT_FALSE(document_.is_laid_out());
    std::size_t token = below(text.tokens.size());
    for (int step = 0; step < 120; ++step) {
      token =
          step % 30 == 0 ? below(text.tokens.size()) : std::min(token + below(12), text.tokens.size() - 1);
      document_.mark(token);
      ASSERT_TRUE(document_.viewport()->rect().contains(place_of(token))) << token;
    }
  }
}

TEST_F(ReplayText, LooksAsIfAllOfItWereLaidOut) {
  for (const int tokens_per_paragraph : {3, 40, 100000}) {
    const ReplayedText text = random_text(4000, tokens_per_paragraph);
    document_.write(recording_, text, true);
    ASSERT_FALSE(document_.is_laid_out());
    for (int jump = 0; jump < 6; ++jump) {
      const std::size_t token = below(text.tokens.size());
      document_.mark(token);
      const std::unique_ptr<QTextEdit> whole = laid_out_whole(token);
      if (jump % 2 == 1) {
        const int begin = document_.piece_of(token).begin;
        for (QTextEdit* edit : {static_cast<QTextEdit*>(&document_), whole.get()}) {
          QTextCursor selected(edit->document());
          selected.setPosition(std::max(begin - 40, 0));
          selected.setPosition(std::min(begin + 60, edit->document()->characterCount() - 1),
                               QTextCursor::KeepAnchor);
          const int scrolled = edit->verticalScrollBar()->value();
          edit->setTextCursor(selected);
          edit->verticalScrollBar()->setValue(scrolled);
        }
        document_.mark(token);
      }
      QTextCursor at(whole->document());
      at.setPosition(document_.piece_of(token).begin);
      QScrollBar& bar = *whole->verticalScrollBar();
      bar.setValue(bar.value() + whole->cursorRect(at).top() - place_of(token).top());
      ASSERT_EQ(whole->cursorRect(at), place_of(token));
      for (const double scale : text_scales)
        ASSERT_EQ(picture(*document_.viewport(), scale), picture(*whole->viewport(), scale))
            << tokens_per_paragraph << ", jump " << jump << ", scale " << scale;
      // When the rest is laid out bit by bit, nothing visible moves, and the scroll bar is right.
      if (jump < 4) continue;
      document_.lay_out_all();
      ASSERT_EQ(document_.document()->size(), whole->document()->size());
      ASSERT_EQ(document_.verticalScrollBar()->maximum() + document_.viewport()->height(),
                static_cast<int>(document_.document()->size().height()));
      ASSERT_EQ(whole->cursorRect(at), place_of(token));
      for (const double scale : text_scales)
        ASSERT_EQ(picture(*document_.viewport(), scale), picture(*whole->viewport(), scale));
    }
  }
}

TEST_F(ReplayText, StaysWhereItIsWhileTheRestIsLaidOut) {
  document_.write(recording_, random_text(8000, 20), true);
  document_.mark(6000);
  const QImage before = picture(*document_.viewport(), 1.0);
  ASSERT_FALSE(document_.is_laid_out());
  ASSERT_TRUE(QTest::qWaitFor([&] { return document_.is_laid_out(); }));
  EXPECT_EQ(picture(*document_.viewport(), 1.0), before);
  document_.resize(500, 420);
  ASSERT_TRUE(QTest::qWaitFor([&] { return document_.is_laid_out(); }));
  document_.mark(6000);
  EXPECT_TRUE(document_.viewport()->rect().contains(place_of(6000)));
}

TEST_F(ReplayText, KnowsTheTokenUnderThePointer) {
  document_.resize(1200, 800);
  const ReplayedText text = random_text(5000, 40);
  document_.write(recording_, text, true);
  document_.mark(2500);
  int pointed_at = 0;
  for (std::size_t i = 2300; i < 2700; ++i) {
    const ReplayDocument::Piece& piece = document_.piece_of(i);
    const QRect there = place_of(i);
    // Skip text from right to left, where a token is on the other side of its place.
    if (!text.tokens[i].text.starts_with(" word") || !document_.viewport()->rect().contains(there)) continue;
    const QTextCursor pointer = document_.cursorForPosition(there.center() + QPoint(3, 0));
    if (pointer.block().text().isRightToLeft()) continue;
    EXPECT_EQ(document_.piece_at(pointer.position()), &piece) << i;
    ++pointed_at;
  }
  EXPECT_GT(pointed_at, 5);
}

}  // namespace
}  // namespace draftscope::gui
