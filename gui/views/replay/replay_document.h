// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The text of a replay as it is read: tokens by their origin, drafts in vain between them, struck through,
// and the token at the cursor, behind which there is less ink. Writing is linear in the tokens; what is laid
// out and drawn is what can be seen. The document holds the words, its layout their formats.

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
    std::size_t token_index = 0;           ///< of the text; of the one before, if rejected
    std::uint32_t draft_index = no_index;  ///< the rejected draft token, in Recording::draft_tokens
  };

  explicit ReplayDocument(QWidget* parent = nullptr);

  /// Without a mark. The recording may be null where the text is empty.
  void write(const RecordingPointer& recording, const ReplayedText& text, bool shows_rejected);
  /// Marks a token, and scrolls if it is out of sight; nothing marks none.
  void mark(std::optional<std::size_t> token_index);
  /// nullptr after the last one.
  [[nodiscard]] const Piece* piece_at(int position) const;
  [[nodiscard]] const Piece& piece_of(std::size_t token_index) const;
  /// The text between two positions, with its formats.
  [[nodiscard]] std::unique_ptr<QTextDocument> formatted(int begin, int end) const;
  /// Does at once what otherwise follows in later turns of the event loop: what is out of sight.
  void lay_out_all();
  [[nodiscard]] bool is_laid_out() const;

 protected:
  [[nodiscard]] QMimeData* createMimeDataFromSelection() const override;
  void timerEvent(QTimerEvent* event) override;

 private:
  /// Keeps what is at the top of the window there, whatever is laid out above it.
  void lay_out_more(int characters);

  LazyTextLayout* layout_;
  QBasicTimer rest_;  ///< lays out what was not seen yet
  std::vector<Piece> pieces_;
  std::vector<std::size_t> piece_of_token_;
};

}  // namespace draftscope::gui
