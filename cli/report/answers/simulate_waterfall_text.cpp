// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include "report/answers/simulate_waterfall.h"
#include "terminal/numbers.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

using simulator::StrategyShare;
using simulator::WaterfallFigure;
using simulator::WaterfallStep;

constexpr std::size_t bar_width = 32;

std::optional<double> value_of(const std::optional<WaterfallFigure>& figure) {
  return figure ? std::optional(figure->value) : std::nullopt;
}

std::string levels_text(const simulator::Waterfall& waterfall, const Glyphs& glyphs) {
  Table table({{"level", Align::left},
               {"rounds", Align::left},
               {"speedup"},
               {"95 %"},
               {"of oracle"},
               {"efficiency"},
               {"", Align::left}});
  const double oracle = step_at(waterfall, simulator::WaterfallLevel::oracle).speedup.value;
  for (const WaterfallStep& step : waterfall.steps)
    table.add_row({std::string(waterfall_level_name(step.level)),
                   std::string(answer_status_name(step.status)), factor(step.speedup.value, glyphs),
                   range(step.speedup.interval, glyphs), percent(step.of_oracle.value),
                   percent(value_of(step.efficiency), glyphs),
                   bar(step.speedup.value / oracle, bar_width, glyphs)});
  return table.text(2, glyphs.columns);
}

std::string gaps_text(const simulator::Waterfall& waterfall, const Glyphs& glyphs) {
  Table table({{"gap", Align::left}, {"", Align::left}, {"speedup"}, {"95 %"}});
  for (const simulator::NamedGap& gap : named_gaps(waterfall.gaps))
    table.add_row({std::string(gap.name), std::string(simulator::gap_meaning(gap.name)),
                   signed_text(gap.figure.value, 2, glyphs.characters()),
                   range(gap.figure.interval, glyphs)});
  return "  What it costs not to know, and not to be free\n" + table.text(4, glyphs.columns);
}

std::string strategies_text(const simulator::RecordingWaterfall& found, const Glyphs& glyphs) {
  if (found.strategies.empty()) return "";
  Table table({{"strategy", Align::left},
               {"rounds", Align::left},
               {"speedup"},
               {"of oracle"},
               {"95 %"},
               {"efficiency"},
               {"", Align::left}});
  bool all_bounded = true;
  for (const StrategyShare& share : found.strategies) {
    all_bounded = all_bounded && share.is_bounded;
    std::string speedup = factor(share.speedup, glyphs);
    if (share.speedup_max_drafted)
      speedup = speedups_text(share.speedup, *share.speedup_max_drafted, glyphs.characters());
    table.add_row({printable(share.strategy) + (share.is_bounded ? "" : " *"),
                   fmt::format("{}, {}", round_source_name(share.source), answer_status_name(share.status)),
                   speedup, percent(share.of_oracle.value), range(share.of_oracle.interval_95, glyphs),
                   percent(share.efficiency, glyphs), bar(share.of_oracle.value, bar_width, glyphs)});
  }
  std::string text = "  Strategies as shares of the oracle\n" + table.text(4, glyphs.columns);
  if (!all_bounded) text += fmt::format("    * {}\n", simulator::no_bound_note());
  return text;
}

std::string machine_text(const MachineWaterfall& machine, const Glyphs& glyphs) {
  const bool above_exit = machine.found.verified_layers == simulator::VerifiedLayers::above_exit;
  std::string notes;
  for (const std::string& note : waterfall_notes(machine.found, machine.batch))
    notes += "  " + printable(note) + '\n';
  return fmt::format("{}: {} prompts, early exits, verification of {} (times modelled)\n",
                     printable(machine.machine), machine.found.waterfall.steps.front().times_ns.size(),
                     above_exit ? "what is above the exit" : "all layers") +
         levels_text(machine.found.waterfall, glyphs) + gaps_text(machine.found.waterfall, glyphs) +
         strategies_text(machine.found, glyphs) + notes;
}

}  // namespace

std::string waterfall_text(const Waterfalls& waterfalls, bool quiet, const Glyphs& glyphs) {
  std::string text;
  for (const MachineWaterfall& machine : waterfalls.machines)
    text += (text.empty() ? "" : "\n") + machine_text(machine, glyphs);
  if (quiet) return text;
  for (const Refusal& refusal : waterfalls.refusals) {
    std::string about = refusal.machine.empty() ? "" : printable(refusal.machine) + ": ";
    text += "  no answer: " + about + printable(refusal.reason) + '\n';
  }
  return text;
}

}  // namespace draftscope::cli
