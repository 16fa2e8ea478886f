// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/report_text.h"

#include <fmt/format.h>

#include "report/report_charts.h"
#include "report/report_header.h"
#include "terminal/numbers.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

using simulator::Figures;
using simulator::RecordingFigures;

std::string name_of(const Figures& figures) {
  return printable(figures.run->specification);
}

std::string repeats_cell(const Figures& figures, const Glyphs& glyphs) {
  if (!figures.speedup || figures.speedup->by_repeat.size() < 2) return std::string(glyphs.absent());
  const simulator::Speedup& speedup = *figures.speedup;
  return fmt::format("{:.2f} ({:.2f}{}{:.2f})", speedup.repeat_median, speedup.repeat_minimum, glyphs.range(),
                     speedup.repeat_maximum);
}

std::string first_token_cell(const Figures& figures, const Glyphs& glyphs) {
  const auto& first = figures.throughput.time_to_first_token;
  return first ? duration(first->median_ns, glyphs) : std::string(glyphs.absent());
}

std::vector<std::string> speed_cells(const Figures& figures, const RecordingFigures& all,
                                     const Glyphs& glyphs) {
  return {count(figures.throughput.requests),
          count(figures.throughput.output_tokens),
          duration(static_cast<double>(figures.throughput.wall_ns), glyphs),
          number(figures.throughput.tokens_per_second, glyphs),
          number(figures.throughput.decode_tokens_per_second, glyphs),
          first_token_cell(figures, glyphs),
          speedup_cell(figures, all, glyphs),
          interval_cell(figures.speedup, glyphs),
          repeats_cell(figures, glyphs),
          identity_cell(figures.identity, glyphs)};
}

std::vector<Column> speed_columns() {
  return {{"run", Align::left}, {"requests"},        {"tokens"},      {"wall time"},
          {"tokens/s"},         {"decode tokens/s"}, {"first token"}, {"speedup"},
          {"95 % of prompts"},  {"repeats"},         {"same text"}};
}

std::string speed_table(const RecordingFigures& all, const Glyphs& glyphs) {
  Table table(speed_columns());
  for (const simulator::RunFigures& run : all.runs) {
    std::vector<std::string> cells = speed_cells(run.all, all, glyphs);
    cells.insert(cells.begin(), name_of(run.all));
    table.add_row(std::move(cells));
  }
  return "Speed\n" + table.text(2, glyphs.columns);
}

std::string category_table(const RecordingFigures& all, const Glyphs& glyphs) {
  std::vector<Column> columns = speed_columns();
  columns.insert(columns.begin() + 1, {"category", Align::left});
  columns.insert(columns.begin() + 8, {"M"});
  columns.insert(columns.begin() + 9, {"acceptance"});
  Table table(columns);
  for (const simulator::RunFigures& run : all.runs) {
    for (const Figures& part : run.by_category) {
      std::vector<std::string> cells = speed_cells(part, all, glyphs);
      cells.insert(cells.begin() + 6, {number(part.acceptance.mean_accepted_length, glyphs),
                                       percent(part.acceptance.acceptance_rate, glyphs)});
      cells.insert(cells.begin(),
                   {name_of(part), part.category.empty() ? "(none)" : printable(part.category)});
      table.add_row(std::move(cells));
    }
  }
  return "Speed by category\n" + table.text(2, glyphs.columns);
}

std::string drafting_table(const RecordingFigures& all, const Glyphs& glyphs) {
  Table table({{"run", Align::left},
               {"rounds"},
               {"drafted"},
               {"accepted"},
               {"M"},
               {"acceptance"},
               {"tested"},
               {"eTPL"},
               {"steps/round"},
               {"draft/round"},
               {"verify/round"},
               {"c"},
               {"v"},
               {"o"},
               {"M/(gc+v+o)"},
               {"decode speedup"}});
  for (const simulator::RunFigures& run : all.runs) {
    const Figures& figures = run.all;
    const simulator::Acceptance& acceptance = figures.acceptance;
    const simulator::DraftCost& cost = figures.cost;
    const bool drafts = acceptance.drafted_tokens > 0;
    std::optional<double> decode_speedup;
    if (figures.speedup) decode_speedup = figures.speedup->decode_value;
    table.add_row({name_of(figures), count(acceptance.rounds), count(acceptance.drafted_tokens),
                   count(acceptance.accepted_tokens), number(acceptance.mean_accepted_length, glyphs),
                   percent(acceptance.acceptance_rate, glyphs), percent(acceptance.tested_rate, glyphs),
                   number(figures.layers.etpl, glyphs), number(acceptance.steps_per_round, glyphs),
                   drafts ? duration(cost.draft_ns_per_round, glyphs) : std::string(glyphs.absent()),
                   duration(cost.verify_ns_per_round, glyphs), number(cost.c, glyphs), number(cost.v, glyphs),
                   number(cost.o, glyphs), number(cost.closed_form_speedup, glyphs),
                   number(decode_speedup, glyphs)});
  }
  return "Drafting\n" + table.text(2, glyphs.columns);
}

std::string explanation(const RecordingFigures& all, const traces::Meta& meta) {
  std::string text =
      "  tokens/s: all output tokens / all wall time, prefill included; decode tokens/s leaves prefill out\n"
      "  M: tokens a target forward yields, bonus token included; acceptance: accepted / drafted; tested: "
      "accepted /\n"
      "  those that verification got to; eTPL: tokens / loaded layers\n";
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
      "  M/(gc+v+o): the speedup that these imply, g = draft steps a round; compare it with decode speedup\n";
  text +=
      simulator::is_greedy(meta)
          ? "  speedup: wall time of vanilla / of the run, same prompts, prefill included; "
          : "  speedup: tokens/s over vanilla's, same prompts, prefill included (geometric mean over prompts "
            "where lengths differ); ";
  text += "the interval is a bootstrap over\n  prompts; repeats: median (range)\n";
  return text;
}

}  // namespace

std::string speedup_cell(const Figures& figures, const RecordingFigures& all, const Glyphs& glyphs) {
  if (figures.speedup) return factor(figures.speedup->value, glyphs);
  if (all.baseline != nullptr && figures.run == all.baseline) return "baseline";
  return std::string(glyphs.absent());
}

std::string interval_cell(const std::optional<simulator::Speedup>& speedup, const Glyphs& glyphs) {
  if (!speedup || !speedup->interval) return std::string(glyphs.absent());
  return fmt::format("{:.2f}{}{:.2f}", speedup->interval->low, glyphs.range(), speedup->interval->high);
}

std::string identity_cell(const std::optional<simulator::OutputIdentity>& identity, const Glyphs& glyphs) {
  if (!identity) return std::string(glyphs.absent());
  if (identity->differing_prompts == 0) return "yes";
  return fmt::format("no ({} of {})", identity->differing_prompts, identity->compared_prompts);
}

std::string report_text(const simulator::MeasuredRecording& measured, const ReportOptions& options,
                        const Glyphs& glyphs) {
  const RecordingFigures& figures = measured.figures;
  std::string text = header_text(measured, glyphs) + '\n' + speed_table(figures, glyphs) + '\n';
  if (options.by_category) text += category_table(figures, glyphs) + '\n';
  text += drafting_table(figures, glyphs);
  if (options.tables_only) return text;
  text += explanation(figures, measured.recording->meta);
  for (const simulator::RunFigures& run : figures.runs) {
    text += '\n' + run_charts(run.all, glyphs);
    if (!options.by_category) continue;
    for (const Figures& part : run.by_category) text += category_breakdown(part, glyphs);
  }
  return text;
}

}  // namespace draftscope::cli
