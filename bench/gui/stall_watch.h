// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// An application that knows how long its main thread was busy with one event: so long the window could not
// answer. Events that are handled within another one count as its part.

#include <QApplication>
#include <QElapsedTimer>
#include <QMetaEnum>
#include <QThread>
#include <string>

namespace draftscope::bench {

class StallWatch : public QApplication {
 public:
  using QApplication::QApplication;

  struct Stall {
    double ms = 0.0;
    std::string what;  ///< "MetaCall of draftscope::gui::RecordingLoader"
  };

  /// The longest since the last call.
  Stall take_longest() { return std::exchange(longest_, {}); }

  bool notify(QObject* receiver, QEvent* event) override {
    if (is_inside_ || QThread::currentThread() != thread()) return QApplication::notify(receiver, event);
    is_inside_ = true;
    // Neither may be there any more behind it.
    const char* name = receiver->metaObject()->className();
    const QEvent::Type type = event->type();
    QElapsedTimer timer;
    timer.start();
    const bool is_done = QApplication::notify(receiver, event);
    const double ms = static_cast<double>(timer.nsecsElapsed()) / 1e6;
    if (ms > longest_.ms) {
      const char* event_name = QMetaEnum::fromType<QEvent::Type>().valueToKey(type);
      longest_ = {ms, std::string(event_name == nullptr ? "event" : event_name) + " of " + name};
    }
    is_inside_ = false;
    return is_done;
  }

 private:
  Stall longest_;
  bool is_inside_ = false;
};

}  // namespace draftscope::bench
