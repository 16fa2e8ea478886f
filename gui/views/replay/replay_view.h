// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A request's text as it was generated, chosen by prompt and repeat, below its prompt. Colour and shape show
// accepted, rejected (struck through) and bonus tokens (the target's own, underlined). A player drives the
// cursor of all views. For the token under the pointer or cursor, the view shows round, confidence, and the
// layers at which it was already the first choice.

#include <QStyle>
#include <QWidget>
#include <optional>
#include <vector>

#include "data/details/replayed_text.h"
#include "data/details/shadow_ranks.h"
#include "state/player.h"
#include "state/view_state.h"
#include "views/replay/replay_document.h"
#include "widgets/background_job.h"

class QCheckBox;
class QHBoxLayout;
class QLabel;
class QSlider;
class QToolButton;

namespace draftscope::gui {

class DraftTreeView;
class RequestChooser;

class ReplayView : public QWidget {
  Q_OBJECT

 public:
  explicit ReplayView(ViewState& state, QWidget* parent = nullptr);

  [[nodiscard]] Player& player() { return player_; }
  [[nodiscard]] const ReplayedText& text() const { return text_; }
  /// Turns off controls and keys, since another view that moves the same cursor chooses and plays.
  void only_follow();
  /// The view's description of a token of the text.
  [[nodiscard]] QString token_text(std::size_t token_index) const;

 signals:
  /// Emitted when the layers' ranks of the request were read, or reading them failed.
  void ranks_read();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void changeEvent(QEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  void set_up_document();
  void set_up_labels();
  void lay_out();
  QWidget* make_controls();
  void add_buttons(QHBoxLayout& row);
  /// Draws the button icons in the text colour, since the style's own are black in every palette.
  void show_signs();
  void list_requests();
  /// Releases the recording.
  void forget();
  void show_request();
  void write_document();
  void follow_cursor();
  void mark_cursor();
  void show_position();
  void show_details(const ReplayDocument::Piece* piece);
  void show_details_of_cursor();
  void read_ranks();
  /// Token of the shown text at the cursor; none if the cursor is elsewhere.
  [[nodiscard]] std::optional<std::size_t> token_at_cursor() const;
  [[nodiscard]] QString describe(const ReplayDocument::Piece& piece) const;
  [[nodiscard]] QString ranks_text(std::size_t token_index) const;

  ViewState& state_;
  ReplayedText text_;
  std::size_t request_ = 0;  ///< Request that is shown; no_index = none.
  ShadowRanks ranks_;
  QString ranks_problem_;
  BackgroundJob ranks_job_;
  Player player_;
  bool is_stale_ = true;
  bool is_behind_ = false;  ///< The cursor has moved while the view was hidden.
  RequestChooser* requests_;
  QWidget* controls_ = nullptr;
  DraftTreeView* tree_;
  std::vector<std::pair<QToolButton*, QStyle::StandardPixmap>> signs_;
  ReplayDocument* document_;
  QLabel* details_;
  QLabel* legend_;
  QToolButton* play_;
  QSlider* scrub_;
  QLabel* position_;
  QCheckBox* rejected_;
};

}  // namespace draftscope::gui
