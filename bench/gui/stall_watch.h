// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// An application that knows how long its main thread was busy with one event, during which the window could
// not respond. Events that are handled within another one count as part of it.

#include <fmt/format.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QMetaEnum>
#include <QThread>
#include <ctime>
#include <string>
#include <string_view>
#include <utility>

namespace draftscope::bench {

class StallWatch : public QApplication {
 public:
  using QApplication::QApplication;

  struct Stall {
    double ms = 0.0;
    double busy_ms = 0.0;  ///< CPU time within `ms`; the thread waited otherwise.
    std::string what;      ///< "MetaCall of RecordingLoader"
  };

  /// CPU time of this thread since it began.
  static double busy_ms() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
  }

  /// Returns the longest stall since the last call.
  Stall take_longest() { return std::exchange(longest_, {}); }

  bool notify(QObject* receiver, QEvent* event) override {
    if (is_inside_ || QThread::currentThread() != thread()) return QApplication::notify(receiver, event);
    is_inside_ = true;
    // Receiver and event may be deleted when the event has been handled.
    const std::string_view name = receiver->metaObject()->className();
    const QEvent::Type type = event->type();
    QElapsedTimer timer;
    timer.start();
    const double busy_before = busy_ms();
    const bool is_done = QApplication::notify(receiver, event);
    const double ms = static_cast<double>(timer.nsecsElapsed()) / 1e6;
    if (ms > longest_.ms) {
      const char* event_name = QMetaEnum::fromType<QEvent::Type>().valueToKey(type);
      longest_ = {ms, busy_ms() - busy_before,
                  fmt::format("{} of {}", event_name == nullptr ? "event" : event_name,
                              name.substr(name.rfind(':') + 1))};
    }
    is_inside_ = false;
    return is_done;
  }

 private:
  Stall longest_;
  bool is_inside_ = false;
};

}  // namespace draftscope::bench
