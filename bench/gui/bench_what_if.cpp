// SPDX-License-Identifier: GPL-3.0-or-later
// Time from a step of each slider of the what-if page to the repainted answer, on the clock and as computed
// by all threads, as a table of README.md. Offscreen. Usage: bench_what_if FILE (a recording with vanilla).
#include <fmt/format.h>

#include <QApplication>
#include <QElapsedTimer>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "offscreen.h"
#include "stall_watch.h"
#include "what_if/questions/question_panel.h"
#include "what_if/what_if_view.h"
#include "window/snapshot.h"

namespace {

using namespace draftscope::gui;
using draftscope::bench::StallWatch;
using draftscope::bench::wait_until;

double ms_since(const QElapsedTimer& timer) {
  return static_cast<double>(timer.nsecsElapsed()) / 1e6;
}

/// Median, 95 % and worst.
std::string spread(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return fmt::format("{:.1f} | {:.1f} | {:.1f}", times[times.size() / 2], times[times.size() * 95 / 100],
                     times.back());
}

struct Slider {
  const char* name;
  int steps;
  std::function<void(Question&, int)> move;
};

/// Until the page is painted as it is: what changes is laid out, and painted in a later turn.
void wait_for_painting() {
  constexpr int turns = 3;
  for (int turn = 0; turn < turns; ++turn) {
    QApplication::sendPostedEvents();
    QApplication::processEvents();
  }
}

/// Steps from `first` to the answer that is painted; pictures start after it and are dropped by the next
/// step.
void measure(WhatIfView& page, const Question& first, const Slider& slider) {
  std::vector<double> clock;
  std::vector<double> all_threads;
  std::vector<double> main_thread;
  std::string dearest;
  int refused = 0;
  for (int step = 0; step < slider.steps; ++step) {
    Question asked = first;
    slider.move(asked, step);
    if (asked == page.question().question()) continue;
    QElapsedTimer timer;
    timer.start();
    const double all_before = draftscope::bench::computed_s();
    const double main_before = StallWatch::busy_ms();
    page.question().change_question(asked);
    wait_until([&] { return page.answer()->question == asked; });
    wait_for_painting();
    clock.push_back(ms_since(timer));
    main_thread.push_back(StallWatch::busy_ms() - main_before);
    all_threads.push_back((draftscope::bench::computed_s() - all_before) * 1e3);
    refused += page.answer()->refusal.empty() ? 0 : 1;
    if (all_threads.back() == *std::max_element(all_threads.begin(), all_threads.end()))
      dearest = strategy_of(asked) + machine_options_of(asked);
  }
  fmt::print("| {} | {} | {} | {:.1f} | {} of {} | `{}` |\n", slider.name, spread(clock), spread(all_threads),
             *std::max_element(main_thread.begin(), main_thread.end()), clock.size() - refused, clock.size(),
             dearest);
  std::fflush(stdout);
}

/// A walk over the slider, there and back.
int at(int step, int values) {
  const int place = step % (2 * values);
  return place < values ? place : 2 * values - 1 - place;
}

std::vector<Slider> sliders(int exits, const std::vector<std::string>& runs) {
  constexpr int lengths = 16;
  const auto gpus = static_cast<int>(draftscope::simulator::known_gpus().size());
  return {{"exit layer", 40,
           [=](Question& asked, int step) {
             asked.kind = StrategyKind::fixed_length;
             asked.exit = 1 + at(step, exits);
           }},
          {"length γ", 64,
           [=](Question& asked, int step) {
             asked.kind = StrategyKind::fixed_length;
             asked.gamma = 1 + at(step, lengths);
           }},
          {"exit layer and length", 100,
           [=](Question& asked, int step) {
             asked.kind = StrategyKind::fixed_length;
             asked.exit = 1 + step % exits;
             asked.gamma = 1 + step % (lengths + 1);
           }},
          {"length γ, verified above the exit or not", 64,
           [=](Question& asked, int step) {
             asked.kind = StrategyKind::fixed_length;
             asked.gamma = lengths - at(step / 2, lengths);
             asked.verifies_above_exit = step % 2 == 0;
           }},
          {"confidence threshold", 100,
           [](Question& asked, int step) {
             asked.kind = StrategyKind::threshold;
             asked.gamma = lengths;
             asked.threshold = (1 + step) / 102.0;
           }},
          {"batch", 60, [](Question& asked, int step) { asked.batch = 2 + step; }},
          {"more context", 60,
           [](Question& asked, int step) {
             asked.kind = StrategyKind::fixed_length;
             asked.gamma = lengths;
             asked.longer_context = 64 * (1 + step);
           }},
          {"GPU", gpus,
           [](Question& asked, int step) {
             asked.gpu = draftscope::simulator::known_gpus()[static_cast<std::size_t>(step)].name;
           }},
          {"recorded run", static_cast<int>(runs.size()), [runs](Question& asked, int step) {
             asked.kind = StrategyKind::recorded;
             asked.recorded = runs[static_cast<std::size_t>(step)];
           }}};
}

}  // namespace

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  if (argc != 2) {
    fmt::print(stderr, "bench_what_if: expected one FILE\n");
    return 2;
  }
  QApplication application(argc, argv);
  use_fixed_look(false);
  MainWindow window(Memory::none);
  window.resize(1600, 900);
  window.show();
  if (const QString problem = draftscope::bench::open(window, argv[1]).problem; !problem.isEmpty()) {
    fmt::print(stderr, "bench_what_if: {}: {}\n", argv[1], problem.toStdString());
    return 1;
  }
  auto& page = *window.findChild<WhatIfView*>();
  page.setParent(nullptr);
  page.resize(1600, 900);
  page.show();
  QElapsedTimer timer;
  timer.start();
  page.start();
  wait_until([&] { return page.answer() != nullptr || (page.is_settled() && !page.worker().is_training()); });
  if (page.answer() == nullptr) {
    fmt::print(stderr, "bench_what_if: {}: no answer\n", argv[1]);
    return 1;
  }
  const double trained_ms = ms_since(timer);
  wait_until([&] { return page.is_settled(); });
  const double pictures_ms = ms_since(timer);
  const TrainedPointer trained = page.worker().trained();
  const Question first = page.question().question();
  const int exits = trained->n_layers(first).value() - 1;
  fmt::print("{}, {} layers\n\n", argv[1], exits + 1);
  fmt::print(
      "| step to repaint, ms | median | 95 % | worst | all threads computed: median | 95 % | worst | "
      "main thread's, worst | answered | dearest |\n|---|---|---|---|---|---|---|---|---|---|\n");
  for (const Slider& slider : sliders(exits, trained->strategies())) measure(page, first, slider);
  timer.restart();
  Question asked = first;
  asked.kind = StrategyKind::threshold;
  asked.threshold = 0.123;
  page.question().change_question(asked);
  wait_until([&] { return page.is_settled(); });
  fmt::print(
      "\nlearning and the first answer {:.0f} ms, all pictures of the first question {:.0f} ms, of another "
      "threshold {:.0f} ms\n",
      trained_ms, pictures_ms, ms_since(timer));
  std::fflush(stdout);
  std::_Exit(0);  // the page stands outside the window that owns it
}
