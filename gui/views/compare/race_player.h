// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Plays a race of runs through one request, as fast as it was or times what is set: play, pause, a position
// to drag, and in words where each run is.

#include <QElapsedTimer>
#include <QTimer>
#include <QWidget>

#include "data/run_comparison/race.h"

class QComboBox;
class QLabel;
class QPushButton;
class QSlider;

namespace draftscope::gui {

class RacePlayer : public QWidget {
  Q_OBJECT

 public:
  explicit RacePlayer(QWidget* parent = nullptr);

  /// Stands at the end, with each run's name. Stops playing.
  void set_race(Race race, const QStringList& names);
  [[nodiscard]] std::vector<RacePlace> places() const { return race_.at(position_ns_, pace()); }
  [[nodiscard]] Pace pace() const;
  /// Times the recorded one.
  [[nodiscard]] double speed() const;
  [[nodiscard]] std::int64_t position_ns() const { return position_ns_; }
  [[nodiscard]] bool is_playing() const { return timer_.isActive(); }
  void play();
  void pause();
  void seek(std::int64_t position_ns);
  /// As the timer does; for tests, too.
  void advance(std::int64_t ns);

 signals:
  void moved();

 private:
  void show_position();

  Race race_;
  QStringList names_;
  std::int64_t position_ns_ = 0;
  QTimer timer_;
  QElapsedTimer since_tick_;
  QPushButton* play_;
  QSlider* scrub_;
  QComboBox* pace_;
  QComboBox* speed_;
  QLabel* words_;
};

}  // namespace draftscope::gui
