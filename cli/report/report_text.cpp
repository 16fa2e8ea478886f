// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/report_text.h"

#include "report/figures/figure_text.h"
#include "report/report_charts.h"
#include "report/report_header.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

using simulator::Figures;
using simulator::FigureTable;
using simulator::RecordingFigures;

std::string name_of(const Figures& figures) {
  return printable(figures.run->specification);
}

std::string speed_table(const RecordingFigures& all, const Glyphs& glyphs) {
  Table table(with_figure_columns({{"run", Align::left}}, FigureTable::speed));
  for (const simulator::RunFigures& run : all.runs)
    table.add_row(with_figure_cells({name_of(run.all)}, FigureTable::speed, run.all, all, glyphs));
  return "Speed\n" + table.text(2, glyphs.columns);
}

std::string category_table(const RecordingFigures& all, const Glyphs& glyphs) {
  Table table(
      with_figure_columns({{"run", Align::left}, {"category", Align::left}}, FigureTable::speed_by_category));
  for (const simulator::RunFigures& run : all.runs)
    for (const Figures& part : run.by_category) {
      std::vector<std::string> names{name_of(part),
                                     part.category.empty() ? "(none)" : printable(part.category)};
      table.add_row(with_figure_cells(std::move(names), FigureTable::speed_by_category, part, all, glyphs));
    }
  return "Speed by category\n" + table.text(2, glyphs.columns);
}

std::string drafting_table(const RecordingFigures& all, const Glyphs& glyphs) {
  Table table(with_figure_columns({{"run", Align::left}}, FigureTable::drafting));
  for (const simulator::RunFigures& run : all.runs)
    table.add_row(with_figure_cells({name_of(run.all)}, FigureTable::drafting, run.all, all, glyphs));
  return "Drafting\n" + table.text(2, glyphs.columns);
}

/// Empty where nothing was recorded of it.
std::string memory_table(const RecordingFigures& all, const Glyphs& glyphs) {
  Table table(with_figure_columns({{"run", Align::left}}, FigureTable::memory));
  bool any = false;
  for (const simulator::RunFigures& run : all.runs) {
    table.add_row(with_figure_cells({name_of(run.all)}, FigureTable::memory, run.all, all, glyphs));
    any = any || run.all.memory;
  }
  return any ? "\nMemory\n" + table.text(2, glyphs.columns) : "";
}

std::string explanation(const RecordingFigures& all, const traces::Meta& meta) {
  std::string text =
      "  tokens/s: all output tokens / all wall time, prefill included; decode tokens/s leaves prefill out\n"
      "  M: tokens a target forward yields, bonus token included; acceptance: accepted / drafted; per "
      "step:\n"
      "  accepted / draft steps, of which a token tree has fewer than tokens; tested: accepted / those that\n"
      "  verification got to; eTPL: tokens / loaded layers\n";
  if (all.baseline == nullptr) {
    text +=
        "  c, v, o: in units of the run's own mean verification, because there is no vanilla run (so v is "
        "1)\n";
    return text;
  }
  text +=
      "  c, v, o: a draft step, a verification, and the other phases of a round, in units of one vanilla "
      "round\n";
  text +=
      "  M/(gc+v+o): the speedup that these imply, g = draft steps per round; compare it with decode "
      "speedup\n";
  text +=
      simulator::is_greedy(meta)
          ? "  speedup: wall time of vanilla / of the run, same prompts, prefill included; "
          : "  speedup: tokens/s over vanilla's, same prompts, prefill included (geometric mean over prompts "
            "where lengths differ); ";
  text += "the interval is a bootstrap over\n  prompts; repeats: median (range)\n";
  return text;
}

}  // namespace

std::string report_text(const simulator::MeasuredRecording& measured, const ReportOptions& options,
                        const Glyphs& glyphs) {
  const RecordingFigures& figures = measured.figures;
  std::string text = header_text(measured, glyphs) + '\n' + speed_table(figures, glyphs) + '\n';
  if (options.by_category) text += category_table(figures, glyphs) + '\n';
  text += drafting_table(figures, glyphs);
  if (!options.tables_only) text += explanation(figures, measured.recording->meta);
  text += memory_table(figures, glyphs);
  if (options.tables_only) return text;
  for (const simulator::RunFigures& run : figures.runs) {
    text += '\n' + run_charts(run.all, glyphs);
    if (!options.by_category) continue;
    for (const Figures& part : run.by_category) text += category_breakdown(part, glyphs);
  }
  return text;
}

}  // namespace draftscope::cli
