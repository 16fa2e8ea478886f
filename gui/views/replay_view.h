// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A request's text as it came: accepted, rejected and bonus tokens by colour and shape (rejected ones struck
// through, the target's own underlined), each with its round and confidence on hover, and a player that
// drives the cursor of all views.

#include <QWidget>
#include <vector>

#include "data/replayed_text.h"
#include "state/player.h"
#include "state/view_state.h"

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QSlider;
class QTextEdit;
class QToolButton;

namespace draftscope::gui {

class ReplayView : public QWidget {
  Q_OBJECT

 public:
  explicit ReplayView(ViewState& state, QWidget* parent = nullptr);

  [[nodiscard]] Player& player() { return player_; }
  [[nodiscard]] const ReplayedText& text() const { return text_; }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void changeEvent(QEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  /// A stretch of the document: a token of the text, or drafts that were rejected.
  struct Piece {
    int begin = 0;
    int end = 0;
    std::size_t token = 0;           ///< of the text; of the one before, if rejected
    std::uint32_t draft = no_index;  ///< the rejected draft token
  };

  QWidget* make_controls();
  void list_requests();
  void show_request();
  void write_document();
  void mark_cursor();
  void show_position();
  [[nodiscard]] const Piece* piece_at(int position) const;
  [[nodiscard]] QString describe(const Piece& piece) const;

  ViewState& state_;
  ReplayedText text_;
  std::size_t request_ = 0;
  Player player_;
  std::vector<Piece> pieces_;
  std::vector<std::size_t> piece_of_token_;
  bool is_stale_ = true;
  QComboBox* requests_;
  QTextEdit* document_;
  QToolButton* play_;
  QSlider* scrub_;
  QLabel* position_;
  QDoubleSpinBox* speed_;
  QCheckBox* rejected_;
};

}  // namespace draftscope::gui
