// SPDX-License-Identifier: GPL-3.0-or-later
#include "frames.h"

#include <fmt/format.h>

#include <QElapsedTimer>
#include <QPixmap>
#include <QScrollArea>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string_view>
#include <vector>

#include "details/details_view.h"
#include "details/flame_graph.h"
#include "offscreen.h"
#include "stall_watch.h"
#include "timeline/timeline_view.h"
#include "views/rounds/filter_bar.h"

namespace draftscope::bench {

namespace {

using namespace gui;

constexpr QSize frame_size(1600, 900);
constexpr QSize strip_size(1600, 46);
constexpr int zooms = 24;
constexpr int places = 4;

/// Calls draw(i) for each frame, and prints the row.
void print_row(const std::string& what, int count, const std::function<void(int)>& draw) {
  std::vector<double> clock;
  std::vector<double> computing;
  for (int i = 0; i < count; ++i) {
    const double busy_before = StallWatch::busy_ms();
    QElapsedTimer timer;
    timer.start();
    draw(i);
    clock.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e6);
    computing.push_back(StallWatch::busy_ms() - busy_before);
  }
  std::sort(computing.begin(), computing.end());
  fmt::print("| {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} |\n", what, computing[computing.size() / 2],
             computing[computing.size() * 95 / 100], computing.back(),
             *std::max_element(clock.begin(), clock.end()));
  std::fflush(stdout);
}

/// Takes the view out of the window, at the size of the frame, and returns its image once it has loaded its
/// data.
QPixmap take_out(QWidget& view, const QSize& size) {
  for (QWidget* around = view.parentWidget(); around != nullptr; around = around->parentWidget())
    if (auto* area = qobject_cast<QScrollArea*>(around); area != nullptr && area->widget() == &view)
      (void)area->takeWidget();
  view.setParent(nullptr);
  view.resize(size);
  view.show();
  QPixmap canvas(size);
  view.render(&canvas);
  settle();
  return canvas;
}

/// Draws frames while the range moves through the recording's time. Other views are hidden, so that their
/// work does not count.
void by_range(MainWindow& window, QWidget& view, const QSize& size, const std::string& what) {
  QPixmap canvas = take_out(view, size);
  ViewState& state = window.state();
  const TimeRange whole = state.recording()->whole();
  print_row(what, zooms * places, [&](int i) {
    const double zoom = std::pow(1.8, i / places);
    const auto duration = static_cast<std::int64_t>(static_cast<double>(whole.duration_ns()) / zoom);
    const std::int64_t start = whole.start_ns + (whole.duration_ns() - duration) * (i % places) / places;
    state.set_range({start, start + duration});
    view.render(&canvas);
  });
  state.show_whole();
  view.hide();
}

/// Draws frames while the cursor moves through the rounds of the shown run: in steps of one round, and in
/// jumps.
void by_cursor(MainWindow& window, QWidget& view, const std::string& what) {
  QPixmap canvas = take_out(view, frame_size);
  ViewState& state = window.state();
  const std::vector<std::uint32_t> rounds = state.shown_rounds()->rounds;
  if (rounds.empty()) return;
  const auto go_to = [&](std::size_t round) {
    state.go_to_round(rounds[std::min(round, rounds.size() - 1)]);
    view.render(&canvas);
  };
  go_to(rounds.size() / 2);
  print_row(what + ", step by step", zooms * places,
            [&](int i) { go_to(rounds.size() / 2 + static_cast<std::size_t>(i)); });
  print_row(what + ", another request", zooms,
            [&](int i) { go_to(rounds.size() * static_cast<std::size_t>(i) / zooms); });
  state.show_whole();
  view.hide();
}

/// Draws frames of the unchanged view on its page.
void as_it_is(MainWindow& window, const NamedView& named, const std::string& what) {
  show(window, named);
  QPixmap canvas(named.view->size());
  constexpr int frames = 24;
  print_row(what, frames, [&](int /*i*/) { named.view->render(&canvas); });
}

/// Draws the timeline with the lanes of all groups.
void of_timeline(MainWindow& window, TimelineView& timeline) {
  for (std::size_t group = 0; group < timeline.lanes().groups().size(); ++group)
    timeline.collapse(group, false);
  by_range(window, timeline, frame_size, "timeline");
}

/// Draws the flame graph with each box in turn at full width.
void of_flame_graph(MainWindow& window, const NamedView& named) {
  auto& details = *qobject_cast<DetailsView*>(named.view);
  show(window, named);
  details.show_page(DetailsView::Page::flame_graph);
  settle();
  if (details.profile() == nullptr || details.profile()->nodes.empty()) return;
  const std::size_t nodes = details.profile()->nodes.size();
  FlameGraph& graph = details.flame_graph();
  QPixmap canvas(details.size());
  print_row("details, flame graph", zooms * places, [&](int i) {
    if (i % places == 0)
      graph.set_root(std::nullopt);
    else
      graph.set_root(static_cast<std::size_t>(i) % nodes);
    details.render(&canvas);
  });
}

}  // namespace

void print_frames(MainWindow& window) {
  const auto named = [&](std::string_view name) {
    return *std::ranges::find_if(window.views(), [&](const NamedView& view) {
      return view.name == QLatin1String(name.data(), static_cast<qsizetype>(name.size()));
    });
  };
  constexpr std::array<std::string_view, 4> over_time{"skip-map", "confidence", "breakdown", "decisions"};
  constexpr std::array<std::string_view, 2> over_rounds{"rounds", "replay"};
  // Views that stay on their pages come first, and are shown there.
  for (const NamedView& view : window.views()) {
    const std::string name = view.name.toStdString();
    const bool is_walked = std::ranges::count(over_time, name) + std::ranges::count(over_rounds, name) > 0;
    if (!is_walked && name != "strip" && name != "timeline" && name != "details")
      as_it_is(window, view, name);
  }
  of_flame_graph(window, named("details"));
  for (const std::string_view name : over_time)
    by_range(window, *named(name).view, frame_size, std::string(name));
  by_range(window, *named("strip").view, strip_size, "strip of rounds");
  of_timeline(window, *qobject_cast<TimelineView*>(named("timeline").view));
  for (const std::string_view name : over_rounds) by_cursor(window, *named(name).view, std::string(name));
  window.filter().set_words(QStringLiteral("accepted>1"));
  wait_until([&] { return window.state().is_filtered(); });
  for (const std::string_view name : over_time)
    by_range(window, *named(name).view, frame_size, std::string(name) + ", filtered");
  by_range(window, *named("strip").view, strip_size, "strip of rounds, filtered");
  for (const std::string_view name : over_rounds)
    by_cursor(window, *named(name).view, std::string(name) + ", filtered");
}

}  // namespace draftscope::bench
