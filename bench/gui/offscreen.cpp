// SPDX-License-Identifier: GPL-3.0-or-later
#include "offscreen.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QPixmap>
#include <QTabWidget>
#include <ctime>
#include <fstream>

#include "advise/advise_view.h"
#include "record/record_page.h"
#include "what_if/what_if_view.h"

namespace draftscope::bench {

namespace {

using namespace gui;

void paint(QWidget& widget) {
  QPixmap canvas(widget.size());
  widget.render(&canvas);
}

}  // namespace

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double whole = 0.0;
  double resident = 0.0;
  file >> whole >> resident;
  return resident * 4096.0;
}

double computed_s() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

void wait_until(const std::function<bool()>& is_there) {
  while (!is_there()) QApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents);
}

Opening open(MainWindow& window, const std::filesystem::path& path) {
  Opening opening;
  QElapsedTimer timer;
  const double computed_before = computed_s();
  const auto passed = [&] {
    return Passed{static_cast<double>(timer.nsecsElapsed()) / 1e9, computed_s() - computed_before};
  };
  QEventLoop loop;
  QObject::connect(&window.loader(), &RecordingLoader::failed, &loop,
                   [&](const QString& words) { opening.problem = words; });
  QObject::connect(&window.loader(), &RecordingLoader::finished, &loop, &QEventLoop::quit);
  QObject::connect(&window.state(), &ViewState::recording_changed, &loop, [&] {
    if (opening.painted.clock_s > 0.0) return;
    paint(window);
    opening.painted = passed();
  });
  timer.start();
  window.open(QString::fromStdString(path.string()));
  loop.exec();
  paint(window);
  opening.loaded = passed();
  return opening;
}

void show(MainWindow& window, const NamedView& named) {
  window.show_view(*named.view);
  for (QWidget* inside = named.view; inside->parentWidget() != nullptr; inside = inside->parentWidget())
    for (QWidget* around = inside->parentWidget(); around != nullptr; around = around->parentWidget())
      if (auto* tabs = qobject_cast<QTabWidget*>(around); tabs != nullptr && tabs->indexOf(inside) >= 0)
        tabs->setCurrentWidget(inside);
  settle();
  if (auto* page = qobject_cast<WhatIfView*>(named.view); page != nullptr) {
    page->start();
    wait_until([page] { return page->is_settled(); });
  } else if (auto* advice = qobject_cast<AdviseView*>(named.view); advice != nullptr) {
    advice->start();
    wait_until([advice] { return advice->is_settled(); });
  } else if (auto* record = qobject_cast<RecordPage*>(named.view); record != nullptr) {
    wait_until([record] { return record->is_settled(); });
  }
  settle();
}

}  // namespace draftscope::bench
