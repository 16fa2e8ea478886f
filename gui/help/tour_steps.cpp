// SPDX-License-Identifier: GPL-3.0-or-later
#include "tour_steps.h"

#include <QCoreApplication>

namespace draftscope::gui {

namespace {

QString tr(const char* words) {
  return QCoreApplication::translate("Tour", words);
}

std::vector<TourStep> all_steps() {
  return {
      {tr("Which strategy is fastest?"),
       tr("A row per strategy, the fastest on top. The dot is its speedup over vanilla decoding, the line "
          "its 95 % "
          "interval: one that crosses the dashed line may be chance."),
       QStringLiteral("summary"),
       {},
       QStringLiteral("Runs")},
      {tr("Why is it slow?"),
       tr("Sentences say what a round takes and what it yields, dearest cause first; the bars lead from "
          "vanilla's "
          "time per token to this run's. A click on a bar shows the rounds behind it."),
       QStringLiteral("why"),
       QStringLiteral("layerskip"),
       {}},
      {tr("Which layers are skipped?"),
       tr("A column per round, two rows per layer: filled ones ran in the draft, pale hatched ones were "
          "skipped. "
          "CLaSp chooses anew from what it sees; M switches to shares and times."),
       QStringLiteral("skip-map"),
       QStringLiteral("clasp"),
       {}},
      {tr("Which threshold?"),
       tr("Every drafted token at its confidence: dots were accepted, crosses rejected. Below the dashed "
          "line "
          "drafting stops; a good threshold has few crosses above it and few dots below."),
       QStringLiteral("confidence"),
       QStringLiteral("dv"),
       {}},
      {tr("Which threshold and length?"),
       tr("Settings that nobody recorded, answered from what every layer would have predicted: move the "
          "sliders, and "
          "read speedup, interval and how sure the answer is. The page Advise names the fastest of all."),
       QStringLiteral("what-if"),
       QStringLiteral("layerskip"),
       {}},
      {tr("Strategies side by side?"),
       tr("Two to six runs beside a baseline: what was set differently, whether the texts are the same, and "
          "who "
          "gains on which prompt."),
       QStringLiteral("compare"),
       {},
       {}},
      {tr("A figure for a paper?"),
       tr("Ctrl+E writes a figure of the page as PDF, SVG or PNG, as wide as a paper's column, its data as "
          "CSV, or a table as LaTeX. The menu File exports every view as it stands."),
       {},
       {},
       {}},
      {tr("Where did this round's time go?"),
       tr("A column per round, stacked by phase. A click selects a round in every view; the table has its "
          "times beside "
          "the medians and the tails of all that are shown."),
       QStringLiteral("breakdown"),
       QStringLiteral("layerskip"),
       {}},
      {tr("And what happened when?"),
       tr("The timeline has requests, rounds and phases on one axis: wheel or W and S to zoom, F to see the "
          "selected "
          "round as a whole, T to close it."),
       QStringLiteral("timeline"),
       {},
       {}},
      {tr("Your turn"),
       tr("F1 opens the manual at the page that you see, ? at a panel's section, and Ctrl+Shift+P finds "
          "every "
          "action, page, run and file. Ctrl+R records a model of yours."),
       QStringLiteral("summary"),
       {},
       {}},
  };
}

}  // namespace

const std::vector<TourStep>& tour_steps() {
  static const std::vector<TourStep> steps = all_steps();
  return steps;
}

}  // namespace draftscope::gui
