// SPDX-License-Identifier: GPL-3.0-or-later
#include "player.h"

#include <algorithm>
#include <cmath>

namespace draftscope::gui {

namespace {

constexpr int tick_ms = 16;
/// Time that any text takes to play.
constexpr std::int64_t played_ns = 8'000'000'000;

}  // namespace

Player::Player(ViewState& state, QObject* parent) : QObject(parent), state_(state) {
  timer_.setInterval(tick_ms);
  connect(&timer_, &QTimer::timeout, this, [this] {
    const double share = static_cast<double>(since_tick_.nsecsElapsed()) / static_cast<double>(played_ns);
    advance(std::llround(share * static_cast<double>(duration_ns())));
    since_tick_.restart();
  });
  connect(&state_, &ViewState::cursor_changed, this, &Player::follow_cursor);
}

void Player::set_text(const ReplayedText* text) {
  pause();
  text_ = text;
  position_ns_ = 0;
  follow_cursor();
  emit position_changed();
}

std::size_t Player::request_index() const {
  return static_cast<std::size_t>(text_->request - state_.recording()->recording().requests.data());
}

std::int64_t Player::duration_ns() const {
  if (text_ == nullptr || text_->tokens.empty()) return 0;
  return std::max<std::int64_t>(0, text_->tokens.back().known_ns - text_->request->start_ns);
}

std::size_t Player::token_at(std::int64_t position_ns) const {
  const std::int64_t time = text_->request->start_ns + position_ns;
  const auto next = std::partition_point(text_->tokens.begin(), text_->tokens.end(),
                                         [&](const ReplayedToken& token) { return token.known_ns <= time; });
  return next == text_->tokens.begin() ? 0 : static_cast<std::size_t>(next - text_->tokens.begin()) - 1;
}

std::size_t Player::current_token() const {
  return std::min(state_.cursor().token_index, text_->tokens.size() - 1);
}

void Player::play() {
  if (text_ == nullptr || text_->tokens.empty() || is_playing()) return;
  if (position_ns_ >= duration_ns()) seek(0);
  since_tick_.start();
  timer_.start();
  emit playing_changed();
}

void Player::pause() {
  if (!is_playing()) return;
  timer_.stop();
  emit playing_changed();
}

void Player::seek(std::int64_t position_ns) {
  if (text_ == nullptr || text_->tokens.empty()) return;
  position_ns_ = std::clamp<std::int64_t>(position_ns, 0, duration_ns());
  put_cursor(token_at(position_ns_));
  emit position_changed();
}

void Player::advance(std::int64_t ns) {
  seek(position_ns_ + ns);
  if (position_ns_ >= duration_ns()) pause();
}

void Player::put_cursor(std::size_t token_index) {
  is_moving_cursor_ = true;
  state_.go_to_token(request_index(), token_index);
  is_moving_cursor_ = false;
}

void Player::follow_cursor() {
  // A cursor moved by others within the request moves the player, too.
  if (is_moving_cursor_ || text_ == nullptr || text_->tokens.empty()) return;
  if (state_.cursor().request_index != request_index()) return;
  position_ns_ = std::clamp<std::int64_t>(text_->tokens[current_token()].known_ns - text_->request->start_ns,
                                          0, duration_ns());
  emit position_changed();
}

void Player::step_token(int by) {
  if (text_ == nullptr || text_->tokens.empty()) return;
  pause();
  const auto last = static_cast<std::int64_t>(text_->tokens.size()) - 1;
  const auto token_index = static_cast<std::size_t>(
      std::clamp<std::int64_t>(static_cast<std::int64_t>(current_token()) + by, 0, last));
  put_cursor(token_index);
  follow_cursor();
}

void Player::step_round(int by) {
  if (text_ == nullptr || text_->tokens.empty()) return;
  pause();
  const auto first_of_round = [&](std::size_t token_index) {
    const std::uint32_t round_index = text_->tokens[token_index].round_index;
    while (token_index > 0 && text_->tokens[token_index - 1].round_index == round_index) --token_index;
    return token_index;
  };
  std::size_t token_index = first_of_round(current_token());
  if (by > 0) {
    const std::uint32_t round_index = text_->tokens[token_index].round_index;
    while (token_index + 1 < text_->tokens.size() && text_->tokens[token_index].round_index == round_index)
      ++token_index;
  } else if (token_index > 0) {
    token_index = first_of_round(token_index - 1);
  }
  put_cursor(token_index);
  follow_cursor();
}

}  // namespace draftscope::gui
