// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/reports.h"

#include <fmt/format.h>

#include <draftscope/simulator/analysis/comparison.h>
#include <draftscope/simulator/analysis/explain.h>

#include <algorithm>
#include <vector>

#include "report/answers/explain_text.h"
#include "report/figure_text.h"
#include "terminal/numbers.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

using simulator::Figures;
using simulator::MeasuredRecording;
using simulator::RunFigures;

std::string absent(const Glyphs& glyphs) {
  return std::string(glyphs.absent());
}

std::string interval_cell(const Figures& figures, const Glyphs& glyphs) {
  if (!figures.speedup || !figures.speedup->interval) return absent(glyphs);
  const simulator::Interval& interval = *figures.speedup->interval;
  return range_text(interval.low, interval.high, glyphs.characters());
}

/// Accepted tokens per draft step; for a token tree, along its path.
std::string acceptance_cell(const Figures& figures, const Glyphs& glyphs) {
  return figure_cell(simulator::measured_figure("step_acceptance"), figures, glyphs);
}

/// Title of the finding that costs the run most, or a text that nothing was found.
std::string reason_of(const std::vector<simulator::Diagnosis>& diagnoses, const traces::Run& run,
                      const Glyphs& glyphs) {
  const auto diagnosis = std::find_if(diagnoses.begin(), diagnoses.end(),
                                      [&](const auto& one) { return one.run->id == run.id; });
  if (diagnosis == diagnoses.end() || diagnosis->findings.empty()) return absent(glyphs);
  return std::string(diagnosis->findings.front().row->title);
}

/// Line about a fault of the unit of all speedups; empty where there is none.
std::string unit_line(const std::vector<simulator::Diagnosis>& diagnoses) {
  for (const simulator::Diagnosis& diagnosis : diagnoses)
    for (const simulator::Finding& finding : diagnosis.findings)
      if (finding.row->is_about_unit) return "  " + printable(finding.sentence) + '\n';
  return {};
}

std::string strategies_table(const MeasuredRecording& measured,
                             const std::vector<simulator::Diagnosis>& diagnoses, const Glyphs& glyphs) {
  Table table({"strategy"}, {"tokens/s", "speedup", "95 % of prompts", "accepted per step"},
              {"what costs most"});
  for (const RunFigures& run : measured.figures.runs)
    table.add_row({printable(run.all.run->specification),
                   figure_cell(simulator::measured_figure("tokens_per_second"), run.all, glyphs),
                   speedup_cell(run.all, measured.figures, glyphs), interval_cell(run.all, glyphs),
                   acceptance_cell(run.all, glyphs), reason_of(diagnoses, *run.all.run, glyphs)});
  return table.text(2, glyphs.columns);
}

/// Categories of all runs, in order of first appearance.
std::vector<std::string> categories_of(const MeasuredRecording& measured) {
  std::vector<std::string> categories;
  for (const RunFigures& run : measured.figures.runs)
    for (const Figures& part : run.by_category)
      if (std::find(categories.begin(), categories.end(), part.category) == categories.end())
        categories.push_back(part.category);
  return categories;
}

/// Table of speedup, interval and acceptance on each kind of text; empty if there is only one kind.
std::string kinds_table(const MeasuredRecording& measured, const Glyphs& glyphs) {
  const std::vector<std::string> categories = categories_of(measured);
  if (categories.size() < 2) return "";
  Table table({{"strategy", Align::left}});
  for (const std::string& category : categories) table.add_column(printable(category));
  for (const RunFigures& run : measured.figures.runs) {
    if (run.all.run->is_baseline) continue;
    table.add_row({printable(run.all.run->specification)});
    for (const std::string& category : categories) {
      const auto part = std::find_if(run.by_category.begin(), run.by_category.end(),
                                     [&](const Figures& one) { return one.category == category; });
      table.add_cell(part == run.by_category.end()
                         ? absent(glyphs)
                         : fmt::format("{} ({}) {}", speedup_cell(*part, measured.figures, glyphs),
                                       interval_cell(*part, glyphs), acceptance_cell(*part, glyphs)));
    }
  }
  return "\nBy kind of text: speedup (95 % of prompts) accepted per step\n" + table.text(2, glyphs.columns);
}

std::string winner_line(const simulator::Winner& winner, const Glyphs& glyphs) {
  const std::string kind = winner.category.empty() ? "all" : printable(winner.category);
  std::string line = fmt::format("  {}: {} is fastest", kind, printable(winner.run->specification));
  if (winner.lead)
    line += fmt::format(", {} over {}{}", factor(winner.lead->value, glyphs),
                        printable(winner.runner_up->specification),
                        is_clear(winner) ? "" : ", which may be chance");
  return line + '\n';
}

/// First sentence about the rounds of the fastest run, or where that is vanilla, of the fastest that drafts.
std::string why_line(const std::vector<simulator::Diagnosis>& diagnoses, const simulator::Winner& winner,
                     const Glyphs& glyphs) {
  const traces::Run& drafting = winner.run->is_baseline ? *winner.runner_up : *winner.run;
  const auto diagnosis = std::find_if(diagnoses.begin(), diagnoses.end(),
                                      [&](const auto& one) { return one.run->id == drafting.id; });
  if (diagnosis == diagnoses.end() || diagnosis->summary.empty()) return {};
  const std::string head = winner.run->is_baseline ? printable(drafting.specification) + ": " : "";
  const std::string sentence = diagnosis->summary.substr(0, diagnosis->summary.find(". "));
  return wrapped("    why: ", head + printable(sentence), glyphs.columns);
}

}  // namespace

std::string brief_text(const MeasuredRecording& measured, const Glyphs& glyphs) {
  const std::vector<simulator::Diagnosis> diagnoses = simulator::explain(measured);
  std::string text = header_text(measured, glyphs) + '\n' + strategies_table(measured, diagnoses, glyphs) +
                     kinds_table(measured, glyphs);
  std::string lines = unit_line(diagnoses);
  for (const simulator::Winner& winner : simulator::winners(*measured.recording))
    lines +=
        winner_line(winner, glyphs) + (winner.category.empty() ? why_line(diagnoses, winner, glyphs) : "");
  if (!lines.empty()) text += "\nWhat won\n" + lines;
  return text;
}

}  // namespace draftscope::cli
