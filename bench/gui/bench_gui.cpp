// SPDX-License-Identifier: GPL-3.0-or-later
// Time in which the app opens a large recording, in which the window could not answer meanwhile, and of a
// frame while someone pans and zooms. Offscreen. Usage: bench_gui [ROUNDS [SPANS [FILE]]];
// the file is made if it is not there.
#include <fmt/format.h>
#include <sys/resource.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QThreadPool>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "data/details/range_profile.h"
#include "data/details/round_details.h"
#include "data/details/slice_details.h"
#include "large_trace.h"
#include "stall_watch.h"
#include "timeline/timeline_view.h"
#include "what_if/what_if_view.h"
#include "window/main_window.h"
#include "window/pages/view_pages.h"
#include "window/snapshot.h"

namespace {

using namespace draftscope;
using namespace draftscope::gui;

double resident_mib() {
  std::ifstream file("/proc/self/statm");
  double whole = 0.0;
  double resident = 0.0;
  file >> whole >> resident;
  return resident * 4096.0 / (1024.0 * 1024.0);
}

void settle() {
  QApplication::processEvents();
  while (!QThreadPool::globalInstance()->waitForDone(0))
    QApplication::processEvents(QEventLoop::AllEvents, 5);
  QApplication::processEvents();
}

/// Opens, and waits for all of it. Returns what failed, if anything.
QString open(MainWindow& window, const std::filesystem::path& path) {
  QEventLoop loop;
  QString problem;
  QObject::connect(&window.loader(), &RecordingLoader::failed, &loop,
                   [&](const QString& words) { problem = words; });
  QObject::connect(&window.loader(), &RecordingLoader::finished, &loop, &QEventLoop::quit);
  window.open(QString::fromStdString(path.string()));
  loop.exec();
  return problem;
}

/// From the opening through the first sight of every view to the closing.
void measure_stalls(bench::StallWatch& application, MainWindow& window, const std::filesystem::path& path) {
  const auto report = [&](const std::string& step) {
    const bench::StallWatch::Stall stall = application.take_longest();
    fmt::print("{:<12} {:>9.1f} {:>9.1f}   {}\n", step, stall.ms, stall.busy_ms, stall.what);
  };
  (void)application.take_longest();
  fmt::print("longest stall, ms       all computing\n");
  const double before = resident_mib();
  if (!open(window, path).isEmpty()) return;
  settle();
  report("opening");
  const double used = resident_mib() - before;
  const Timeline& timeline = *window.state().timeline();
  const auto events = static_cast<double>(timeline.slices());
  fmt::print("memory {:.0f} MiB, {:.0f} bytes a slice; the timeline's own {:.0f} bytes a slice\n", used,
             used * 1024 * 1024 / events, static_cast<double>(timeline.bytes()) / events);
  for (const NamedView& named : window.views()) {
    if (window.pages().page_of(*named.view).isEmpty()) continue;
    window.show_view(*named.view);
    settle();
    if (auto* page = qobject_cast<WhatIfView*>(named.view)) {
      page->start();
      while (!page->is_settled()) QApplication::processEvents(QEventLoop::AllEvents, 5);
    }
    settle();
    report(named.name.toStdString());
  }
  window.close_all_recordings();
  settle();
  report("closing");
  fmt::print("memory {:.0f} MiB after closing\n\n", resident_mib() - before);
}

/// Median and worst of repainting a view for every range of a walk through the recording.
void measure_frames(MainWindow& window, const NamedView& named, const QSize& size, const std::string& what) {
  ViewState& state = window.state();
  QWidget* view = named.view;
  view->setParent(nullptr);
  view->resize(size);
  view->show();
  QPixmap canvas(size);
  view->render(&canvas);
  settle();
  std::vector<double> frames;
  const TimeRange whole = state.recording()->whole();
  for (int zoom = 0; zoom < 24; ++zoom) {
    const auto duration =
        static_cast<std::int64_t>(static_cast<double>(whole.duration_ns()) / std::pow(1.8, zoom));
    for (int pan = 0; pan < 4; ++pan) {
      const std::int64_t start = whole.start_ns + (whole.duration_ns() - duration) * pan / 4;
      QElapsedTimer timer;
      timer.start();
      state.set_range({start, start + duration});
      view->render(&canvas);
      frames.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e6);
    }
  }
  std::sort(frames.begin(), frames.end());
  fmt::print("{:<18} {:>9.2f} {:>9.2f} {:>9.2f}\n", what, frames[frames.size() / 2],
             frames[frames.size() * 95 / 100], frames.back());
  state.show_whole();
}

/// The timeline in each of its modes, with the lanes of all groups.
void measure_timeline(MainWindow& window, const NamedView& named, const QSize& size) {
  auto& timeline = *qobject_cast<TimelineView*>(named.view);
  for (const auto& [mode, what] :
       {std::pair(TimelineMode::all, "timeline"), std::pair(TimelineMode::run, "timeline, one run"),
        std::pair(TimelineMode::aligned, "timeline, aligned")}) {
    timeline.set_mode(mode);
    for (std::size_t group = 0; group < timeline.lanes().groups().size(); ++group)
      timeline.collapse(group, false);
    measure_frames(window, named, size, what);
  }
  timeline.set_mode(TimelineMode::all);
}

/// Time of the work that the details of all that there is give to a worker.
void measure_details(const ViewState& state) {
  const Timeline& timeline = *state.timeline();
  const auto always = [] { return true; };
  const auto print = [](const char* what, const QElapsedTimer& timer) {
    fmt::print("{:<34} {:>9.0f}\n", what, static_cast<double>(timer.nsecsElapsed()) / 1e6);
  };
  fmt::print("\ndetails of all, by a worker, ms\n");
  QElapsedTimer timer;
  timer.start();
  (void)range_profile(timeline, {timeline.whole}, always);
  print("range: names, flame graph", timer);
  const auto longest =
      std::max_element(timeline.lanes.begin(), timeline.lanes.end(),
                       [](const Lane& a, const Lane& b) { return a.slices.size() < b.slices.size(); });
  timer.restart();
  (void)slice_details(
      *state.recording(), timeline,
      {static_cast<std::size_t>(longest - timeline.lanes.begin()), longest->slices.size() / 2}, always);
  print("slice, of the fullest lane", timer);
  timer.restart();
  (void)round_details(*state.recording(), 0, always);
  print("round", timer);
}

}  // namespace

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  const bench::LargeTrace size{.rounds = argc > 1 ? std::strtoll(argv[1], nullptr, 10) : 1'000'000,
                               .spans = argc > 2 ? std::strtoll(argv[2], nullptr, 10) : 9'000'000};
  const std::filesystem::path path =
      argc > 3 ? argv[3] : std::filesystem::temp_directory_path() / "draftscope-bench-gui.dstrace";
  if (!std::filesystem::exists(path)) {
    fmt::print("writing {} …\n", path.string());
    if (const auto written = bench::write_large_trace(path, size); !written) {
      fmt::print(stderr, "bench_gui: {}\n", written.error().message);
      return 1;
    }
  }
  bench::StallWatch application(argc, argv);
  use_fixed_look(false);
  MainWindow window(Memory::none);
  window.resize(1600, 900);
  window.show();
  QApplication::processEvents();
  measure_stalls(application, window, path);
  QElapsedTimer timer;
  timer.start();
  double painted_s = 0.0;
  QObject::connect(&window.state(), &ViewState::recording_changed, &window, [&] {
    if (painted_s > 0.0) return;
    QPixmap canvas(window.size());
    window.render(&canvas);
    painted_s = static_cast<double>(timer.nsecsElapsed()) / 1e9;
  });
  if (const QString problem = open(window, path); !problem.isEmpty()) {
    fmt::print(stderr, "bench_gui: {}\n", problem.toStdString());
    return 1;
  }
  const double loaded_s = static_cast<double>(timer.nsecsElapsed()) / 1e9;
  fmt::print("{} slices in the timeline, {} rounds\n", window.state().timeline()->slices(),
             window.state().recording()->recording().rounds.size());
  fmt::print("first paint {:.2f} s, all loaded {:.2f} s\n", painted_s, loaded_s);
  fmt::print("\nframe, ms              median       95%     worst   (1600 x 900)\n");
  const std::vector<NamedView> views = window.views();
  for (const NamedView& named : views)
    for (const char* measured :
         {"strip", "timeline", "skip-map", "confidence", "breakdown", "summary", "why"})
      if (named.name == QLatin1String(measured) && named.name == u"timeline")
        measure_timeline(window, named, QSize(1600, 900));
      else if (named.name == QLatin1String(measured))
        measure_frames(window, named, named.name == u"strip" ? QSize(1600, 46) : QSize(1600, 900), measured);
  measure_details(window.state());
  std::fflush(stdout);
  std::_Exit(0);  // views stand outside the window that owns them
}
