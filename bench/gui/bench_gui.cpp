// SPDX-License-Identifier: GPL-3.0-or-later
// Measures the time to open a large recording and one of 14 runs, the longest time in which the window did
// not respond, and the time of a frame of every view; also memory. Offscreen; prints the tables of README.md.
// Usage: bench_gui [ROUNDS [SPANS [FILE [FILE_OF_14_RUNS]]]]; missing files are made.
#include <fmt/format.h>

#include <QApplication>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "data/details/range_profile.h"
#include "data/details/round_details.h"
#include "data/details/slice_details.h"
#include "frames.h"
#include "large_trace.h"
#include "offscreen.h"
#include "stall_watch.h"
#include "window/snapshot.h"
#include "window/view_pages.h"

namespace {

using namespace draftscope;
using namespace draftscope::gui;

constexpr double mib = 1024.0 * 1024.0;

/// Makes a missing file. Errors: as for write_large_trace().
Result<void> make(const std::filesystem::path& path, const bench::LargeTrace& size) {
  if (std::filesystem::exists(path)) return {};
  fmt::print("writing {} …\n", path.string());
  std::fflush(stdout);
  return bench::write_large_trace(path, size);
}

std::unique_ptr<MainWindow> make_window() {
  auto window = std::make_unique<MainWindow>(Memory::none);
  window->resize(1600, 900);
  window->show();
  bench::settle();
  return window;
}

/// Prints bytes by purpose; `used` is their total.
void print_memory(const ViewState& state, double used) {
  const Timeline& timeline = *state.timeline();
  const traces::Recording& rows = state.recording()->recording();
  const auto slices = static_cast<double>(timeline.slices());
  double pyramids = 0.0;
  for (const Lane& lane : timeline.lanes) pyramids += static_cast<double>(lane.pyramid.bytes());
  double outputs = 0.0;
  for (const traces::Request& request : rows.requests)
    outputs += static_cast<double>(request.tokens.size() * sizeof(request.tokens[0]));
  double rest = used;
  fmt::print("\n| memory | MiB | bytes a slice |\n|---|---|---|\n");
  const auto part = [&](const char* name, double bytes) {
    fmt::print("| {} | {:.0f} | {:.1f} |\n", name, bytes / mib, bytes / slices);
  };
  for (const auto& [name, bytes] :
       {std::pair("columns of the timeline's slices", static_cast<double>(timeline.bytes()) - pyramids),
        std::pair("the timeline's pyramids", pyramids),
        std::pair("rounds", static_cast<double>(rows.rounds.size() * sizeof(traces::Round))),
        std::pair("draft tokens", static_cast<double>(rows.draft_tokens.size() * sizeof(traces::DraftToken))),
        std::pair("output tokens", outputs)}) {
    part(name, bytes);
    rest -= bytes;
  }
  part("indices, the strip of rounds, the allocator's", rest);
  part("**all of the recording**", used);
}

/// Measures from opening, through the first display of every view, to closing.
Result<void> measure_opening(bench::StallWatch& application, const std::filesystem::path& path) {
  const std::unique_ptr<MainWindow> window = make_window();
  (void)application.take_longest();
  const double before = bench::resident_bytes();
  const bench::Opening opening = bench::open(*window, path);
  if (!opening.problem.isEmpty()) return fail("{}: {}", path.string(), opening.problem.toStdString());
  bench::settle();
  const ViewState& state = window->state();
  fmt::print("\n{}: {} runs, {} rounds, {} slices\n\n", path.filename().string(),
             state.recording()->runs().size(), state.recording()->round_count(), state.timeline()->slices());
  fmt::print("| opening, s | on the clock | computed by all threads |\n|---|---|---|\n");
  const auto row = [](const char* what, const bench::Passed& passed) {
    fmt::print("| {} | {:.2f} | {:.2f} |\n", what, passed.clock_s, passed.computed_s);
  };
  row("first paint", opening.painted);
  row("all loaded and painted", opening.loaded);
  // The memory of a small recording is mostly the window's own.
  constexpr std::size_t many_slices = 1'000'000;
  if (state.timeline()->slices() >= many_slices) print_memory(state, bench::resident_bytes() - before);
  fmt::print("\n| longest stall, ms | computed | on the clock | by |\n|---|---|---|---|\n");
  const auto report = [&](const std::string& step) {
    const bench::StallWatch::Stall stall = application.take_longest();
    fmt::print("| {} | {:.1f} | {:.1f} | {} |\n", step, stall.busy_ms, stall.ms, stall.what);
    std::fflush(stdout);
  };
  report("opening");
  for (const NamedView& named : window->views()) {
    bench::show(*window, named);
    report(named.name.toStdString());
  }
  window->close_all_recordings();
  bench::settle();
  report("closing");
  fmt::print("\n{:.0f} MiB stay behind closing\n", (bench::resident_bytes() - before) / mib);
  return {};
}

/// Measures the worker's time for the details of the whole recording.
void measure_details(const ViewState& state) {
  const Timeline& timeline = *state.timeline();
  const auto always = [] { return true; };
  const auto print = [](const char* what, const QElapsedTimer& timer) {
    fmt::print("| {} | {:.0f} |\n", what, static_cast<double>(timer.nsecsElapsed()) / 1e6);
  };
  fmt::print("\n| details of all, by a worker | ms |\n|---|---|\n");
  QElapsedTimer timer;
  timer.start();
  (void)range_profile(timeline, timeline.whole, always);
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

/// Measures frames in a separate window, whose views are taken out of it.
Result<void> measure_frames(const std::filesystem::path& path) {
  MainWindow& window = *make_window().release();  // Leaked, since views end up outside of it.
  if (const QString problem = bench::open(window, path).problem; !problem.isEmpty())
    return fail("{}: {}", path.string(), problem.toStdString());
  fmt::print(
      "\n| computed in a frame of {}, ms | median | 95 % | worst | worst on the clock "
      "|\n|---|---|---|---|---|\n",
      path.filename().string());
  bench::print_frames(window);
  measure_details(window.state());
  window.close_all_recordings();
  bench::settle();
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  const bench::LargeTrace size{.rounds = argc > 1 ? std::strtoll(argv[1], nullptr, 10) : 1'000'000,
                               .spans = argc > 2 ? std::strtoll(argv[2], nullptr, 10) : 9'000'000};
  const std::filesystem::path folder = std::filesystem::temp_directory_path();
  const std::filesystem::path large = argc > 3 ? argv[3] : folder / "draftscope-bench-gui-large.dstrace";
  const std::filesystem::path runs = argc > 4 ? argv[4] : folder / "draftscope-bench-gui-runs.dstrace";
  const auto refuse = [](const Error& error) {
    fmt::print(stderr, "bench_gui: {}\n", error.message);
    return 1;
  };
  if (const auto made = make(large, size); !made) return refuse(made.error());
  if (const auto made = make(runs, bench::fourteen_runs); !made) return refuse(made.error());
  bench::StallWatch application(argc, argv);
  use_fixed_look(false);
  for (const std::filesystem::path& path : {large, runs})
    if (const auto measured = measure_opening(application, path); !measured) return refuse(measured.error());
  for (const std::filesystem::path& path : {large, runs})
    if (const auto measured = measure_frames(path); !measured) return refuse(measured.error());
  std::fflush(stdout);
  std::_Exit(0);  // Skip destructors, since views are outside the window that owns them.
}
