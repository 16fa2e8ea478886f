// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The text of a replay: tokens coloured by origin, rejected drafts between them struck through, and a mark at
// the cursor's token, with paler text after it. Writing takes linear time in the tokens; layout and drawing
// cover only what is visible. The document stores the words, and its layout stores the formats.

#include <QBasicTimer>
#include <QTextEdit>
#include <memory>
#include <optional>
#include <vector>

#include "data/details/replayed_text.h"

namespace draftscope::gui {

class LazyTextLayout;

class ReplayDocument : public QTextEdit {
  Q_OBJECT

 public:
  /// A stretch of the document: a token of the text, or drafts that were rejected.
  struct Piece {
    int begin = 0;
    int end = 0;
    std::size_t token_index = 0;           ///< Token of the text; for rejected drafts, the token before them.
    std::uint32_t draft_index = no_index;  ///< The rejected draft token, in Recording::draft_tokens.
  };

  explicit ReplayDocument(QWidget* parent = nullptr);

  /// Writes the text without a mark. The recording may be null if the text is empty.
  void write(const RecordingPointer& recording, const ReplayedText& text, bool shows_rejected);
  /// Marks a token, and scrolls if it is out of sight; nullopt marks none.
  void mark(std::optional<std::size_t> token_index);
  /// Piece at a position; nullptr after the last piece.
  [[nodiscard]] const Piece* piece_at(int position) const;
  [[nodiscard]] const Piece& piece_of(std::size_t token_index) const;
  /// Copy of the text between two positions, with its formats.
  [[nodiscard]] std::unique_ptr<QTextDocument> formatted(int begin, int end) const;
  /// Lays out at once what would otherwise follow in later turns of the event loop.
  void lay_out_all();
  [[nodiscard]] bool is_laid_out() const;

 protected:
  [[nodiscard]] QMimeData* createMimeDataFromSelection() const override;
  void timerEvent(QTimerEvent* event) override;

 private:
  /// Lays out more text, and keeps the top visible line in place.
  void lay_out_more(int characters);

  LazyTextLayout* layout_;
  QBasicTimer rest_;  ///< Lays out text that was not visible yet.
  std::vector<Piece> pieces_;
  std::vector<std::size_t> piece_of_token_;
};

}  // namespace draftscope::gui
