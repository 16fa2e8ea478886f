// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Replays a request in time: moves the view state's cursor to the token that was known at each moment, at
// recorded speed or a multiple of it. Used on the main thread only.

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include "data/details/replayed_text.h"
#include "state/view_state.h"

namespace draftscope::gui {

class Player : public QObject {
  Q_OBJECT

 public:
  explicit Player(ViewState& state, QObject* parent = nullptr);

  /// Sets the text to play, which must outlive the player or be replaced. Stops playing.
  void set_text(const ReplayedText* text);

  [[nodiscard]] bool is_playing() const { return timer_.isActive(); }
  void play();
  void pause();

  /// Recorded time since the start of the request.
  [[nodiscard]] std::int64_t position_ns() const { return position_ns_; }
  [[nodiscard]] std::int64_t duration_ns() const;
  void seek(std::int64_t position_ns);

  void step_token(int by);
  /// Steps to the first token of the next or previous round.
  void step_round(int by);

  /// Advances by this much recorded time, as the timer does; public for tests.
  void advance(std::int64_t ns);

 signals:
  void playing_changed();
  void position_changed();

 private:
  void follow_cursor();
  void put_cursor(std::size_t token_index);
  [[nodiscard]] std::size_t token_at(std::int64_t position_ns) const;
  [[nodiscard]] std::size_t current_token() const;
  [[nodiscard]] std::size_t request_index() const;

  ViewState& state_;
  const ReplayedText* text_ = nullptr;
  QTimer timer_;
  QElapsedTimer since_tick_;
  std::int64_t position_ns_ = 0;
  bool is_moving_cursor_ = false;
};

}  // namespace draftscope::gui
