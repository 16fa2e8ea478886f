// SPDX-License-Identifier: GPL-3.0-or-later
#include "race_player.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSlider>
#include <QVBoxLayout>
#include <algorithm>

#include "views/time_text.h"

namespace draftscope::gui {

namespace {

constexpr int tick_ms = 16;
constexpr int scrub_steps = 10'000;

}  // namespace

RacePlayer::RacePlayer(QWidget* parent)
    : QWidget(parent),
      play_(new QPushButton(tr("&Play the race"))),
      scrub_(new QSlider(Qt::Horizontal)),
      pace_(new QComboBox),
      speed_(new QComboBox),
      words_(new QLabel) {
  scrub_->setRange(0, scrub_steps);
  scrub_->setAccessibleName(tr("Position in the race"));
  scrub_->setMinimumWidth(120);
  pace_->addItems({tr("in real time"), tr("in lockstep")});
  pace_->setAccessibleName(tr("How the race is run"));
  pace_->setToolTip(
      tr("In real time: the tokens that each run had by then. In lockstep: all at the same token, "
         "each with the time that it took."));
  for (const double speed : {0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 10.0})
    speed_->addItem(tr("%1× speed").arg(speed), speed);
  speed_->setCurrentIndex(speed_->findData(1.0));
  speed_->setAccessibleName(tr("Speed of the race"));
  words_->setAccessibleName(tr("Where each run is"));
  words_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  // Many long names take lines of their own, and don't widen the window.
  words_->setWordWrap(true);
  auto* row = new QHBoxLayout;
  row->addWidget(play_);
  row->addWidget(pace_);
  row->addWidget(speed_);
  row->addWidget(scrub_, 1);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addLayout(row);
  column->addWidget(words_);
  timer_.setInterval(tick_ms);
  connect(&timer_, &QTimer::timeout, this, [this] {
    advance(static_cast<std::int64_t>(speed() * static_cast<double>(since_tick_.nsecsElapsed())));
  });
  connect(play_, &QPushButton::clicked, this, [this] { is_playing() ? pause() : play(); });
  connect(pace_, &QComboBox::currentIndexChanged, this, &RacePlayer::show_position);
  connect(scrub_, &QSlider::valueChanged, this, [this](int value) {
    pause();
    seek(race_.duration_ns() / scrub_steps * value + race_.duration_ns() % scrub_steps * value / scrub_steps);
  });
  set_race({}, {});
}

Pace RacePlayer::pace() const {
  return static_cast<Pace>(pace_->currentIndex());
}

double RacePlayer::speed() const {
  return speed_->currentData().toDouble();
}

void RacePlayer::set_race(Race race, const QStringList& names) {
  pause();
  race_ = std::move(race);
  names_ = names;
  setEnabled(!race_.empty());
  seek(race_.duration_ns());
}

void RacePlayer::play() {
  if (race_.empty() || is_playing()) return;
  if (position_ns_ >= race_.duration_ns()) seek(0);
  since_tick_.start();
  timer_.start();
  play_->setText(tr("&Pause the race"));
}

void RacePlayer::pause() {
  timer_.stop();
  play_->setText(tr("&Play the race"));
}

void RacePlayer::seek(std::int64_t position_ns) {
  position_ns_ = std::clamp<std::int64_t>(position_ns, 0, race_.duration_ns());
  show_position();
}

void RacePlayer::advance(std::int64_t ns) {
  since_tick_.restart();
  seek(position_ns_ + ns);
  if (position_ns_ >= race_.duration_ns()) pause();
}

void RacePlayer::show_position() {
  const std::int64_t all = race_.duration_ns();
  {
    const QSignalBlocker quiet(scrub_);
    scrub_->setValue(
        all > 0 ? static_cast<int>(static_cast<double>(position_ns_) / static_cast<double>(all) * scrub_steps)
                : 0);
  }
  const std::vector<RacePlace> at = places();
  QStringList words;
  for (std::size_t run = 0; run < at.size(); ++run) {
    const QString name = names_.value(static_cast<qsizetype>(run));
    words << (pace() == Pace::real_time ? tr("%1: token %2").arg(name).arg(at[run].token)
                                        : tr("%1: %2").arg(name, duration_text(at[run].known_ns)));
  }
  const std::size_t token = at.empty() ? 0 : std::ranges::max_element(at, {}, &RacePlace::token)->token;
  if (at.empty())
    words_->setText(tr("there is no request of all of these runs"));
  else
    words_->setText(QStringLiteral("%1 – %2").arg(
        pace() == Pace::real_time ? duration_text(position_ns_) : tr("token %1").arg(token),
        words.join(u", ")));
  words_->setToolTip(words.join(u'\n'));
  emit moved();
}

}  // namespace draftscope::gui
