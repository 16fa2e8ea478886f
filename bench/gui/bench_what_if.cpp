// SPDX-License-Identifier: GPL-3.0-or-later
// Time from a step of a slider of the what-if page to the repainted answer, and until all pictures are of
// that answer. Offscreen. Usage: bench_what_if FILE (a recording with --shadow and vanilla).
#include <fmt/format.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QPixmap>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>

#include "what_if/questions/question_panel.h"
#include "what_if/what_if_view.h"
#include "window/main_window.h"
#include "window/snapshot.h"

namespace {

using namespace draftscope::gui;

double ms_since(const QElapsedTimer& timer) {
  return static_cast<double>(timer.nsecsElapsed()) / 1e6;
}

void wait_until(const std::function<bool()>& is_there) {
  while (!is_there()) QApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents);
}

/// Time that all threads of this process have computed.
double computed_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

void print(const char* name, std::vector<double> times, std::vector<double> computing, int worst) {
  fmt::print("{:<28}", name);
  for (std::vector<double>* list : {&times, &computing}) {
    std::sort(list->begin(), list->end());
    fmt::print(" {:>9.1f} {:>9.1f} {:>9.1f}", (*list)[list->size() / 2], (*list)[list->size() * 95 / 100],
               list->back());
  }
  fmt::print("   step {}\n", worst);
}

/// Steps to the answer that is painted; pictures start behind it and are dropped by the next step.
void measure_steps(WhatIfView& page, const char* name, int steps,
                   const std::function<void(Question&, int)>& move) {
  std::vector<double> times;
  std::vector<double> computing;
  int worst = 0;
  QPixmap canvas(page.size());
  for (int step = 0; step < steps; ++step) {
    Question asked = page.question().question();
    move(asked, step);
    QElapsedTimer timer;
    timer.start();
    const double computed_before = computed_ms();
    page.question().change_question(asked);
    wait_until([&] { return page.answer()->question == asked; });
    page.render(&canvas);
    times.push_back(ms_since(timer));
    computing.push_back(computed_ms() - computed_before);
    if (computing.back() >= computing[static_cast<std::size_t>(worst)]) worst = step;
  }
  print(name, std::move(times), std::move(computing), worst);
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
  bool is_loaded = false;
  QObject::connect(&window.loader(), &RecordingLoader::finished, &window, [&] { is_loaded = true; });
  window.open(QString::fromUtf8(argv[1]));
  wait_until([&] { return is_loaded; });
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
  fmt::print("trained and answered {:.0f} ms\n", ms_since(timer));
  wait_until([&] { return page.is_settled(); });
  fmt::print("all pictures {:.0f} ms\n\n", ms_since(timer));
  const int exits = page.worker().trained()->n_layers(page.question().question()).value() - 1;
  fmt::print(
      "step to repaint, ms             median       95%     worst    all threads computing, the most at\n");
  measure_steps(page, "exit layer, length", 100, [&](Question& asked, int step) {
    asked.kind = StrategyKind::fixed_length;
    asked.exit = 1 + step % exits;
    asked.gamma = 1 + step % 17;
  });
  measure_steps(page, "confidence threshold", 100, [](Question& asked, int step) {
    asked.kind = StrategyKind::threshold;
    asked.threshold = (1 + step) / 102.0;
  });
  measure_steps(page, "batch, context", 100, [](Question& asked, int step) {
    asked.batch = 1 + step;
    asked.longer_context = 64 * step;
  });
  measure_steps(page, "GPU", 40, [](Question& asked, int step) {
    asked.gpu = draftscope::simulator::known_gpus()[static_cast<std::size_t>(step)].name;
  });
  timer.restart();
  Question asked = page.question().question();
  asked.kind = StrategyKind::threshold;
  asked.threshold = 0.123;
  page.question().change_question(asked);
  wait_until([&] { return page.is_settled(); });
  fmt::print("\nall pictures of another threshold {:.0f} ms\n", ms_since(timer));
  std::fflush(stdout);
  std::_Exit(0);  // the page stands outside the window that owns it
}
