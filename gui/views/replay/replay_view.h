// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A request's text as it came, chosen by prompt and repeat, below its prompt: accepted, rejected and bonus
// tokens by colour and shape (rejected ones struck through, the target's own underlined), and a player that
// drives the cursor of all views. Of the token that the pointer or the cursor is on: its round and
// confidence, and at which layers it was the first choice already.

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
class QDoubleSpinBox;
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
  /// Leaves choosing and playing to another view that moves the same cursor: no controls, no keys.
  void only_follow();
  /// The view's text about a token of the text.
  [[nodiscard]] QString token_text(std::size_t token_index) const;

 signals:
  /// The layers' ranks of the request were read, or why not is known.
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
  /// Draws the signs in the colour of the text: the style's own are black, whatever the palette.
  void show_signs();
  void list_requests();
  void set_usual_speed();
  /// Lets go of the recording.
  void forget();
  void show_request();
  void write_document();
  void follow_cursor();
  void mark_cursor();
  void show_position();
  void show_details(const ReplayDocument::Piece* piece);
  void show_details_of_cursor();
  void read_ranks();
  /// In the text that is shown; none if the cursor is elsewhere.
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
  bool is_behind_ = false;        ///< the cursor has moved while the view was hidden
  bool is_speed_chosen_ = false;  ///< by the user: it stays for other texts
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
  QDoubleSpinBox* speed_;
  QCheckBox* rejected_;
};

}  // namespace draftscope::gui
