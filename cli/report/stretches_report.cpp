// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/question_names.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "report/report_json.h"
#include "report/reports.h"
#include "terminal/numbers.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

using simulator::StretchFigures;

/// A table of the report: one figure, runs by stretches.
struct StretchTable {
  std::string_view title;
  std::string (*cell)(const StretchFigures&, const Glyphs&);
};

constexpr std::array<StretchTable, 3> stretch_tables{
    {{"speedup",
      [](const StretchFigures& figures, const Glyphs& glyphs) {
        return figures.speedup ? factor(*figures.speedup, glyphs) : std::string(glyphs.absent());
      }},
     {"tokens/s, without prefill",
      [](const StretchFigures& figures, const Glyphs& glyphs) {
        return number(figures.tokens_per_second(), glyphs);
      }},
     {"acceptance", [](const StretchFigures& figures, const Glyphs& glyphs) {
        return percent(figures.acceptance_rate(), glyphs);
      }}}};

Json stretch_json(const StretchFigures& figures, const simulator::QuestionNames& names) {
  Json row = Json::object();
  add_run(row, *figures.run);
  row["question_id"] = figures.prompt == nullptr ? Json(nullptr) : Json(figures.prompt->question_id);
  const std::string name = figures.prompt == nullptr ? "" : names.name(figures.prompt->question_id);
  row["question_name"] = name.empty() ? Json(nullptr) : Json(name);
  row["turn"] = figures.prompt == nullptr ? Json(nullptr) : Json(figures.prompt->turn);
  row["first_token"] = figures.first_token;
  row["rounds"] = figures.rounds;
  row["output_tokens"] = figures.tokens;
  row["drafted_tokens"] = figures.drafted;
  row["accepted_tokens"] = figures.accepted;
  row["acceptance_rate"] = json_or_null(figures.acceptance_rate());
  row["wall_ns"] = figures.wall_ns;
  row["tokens_per_second"] = json_or_null(figures.tokens_per_second());
  row["speedup"] = json_or_null(figures.speedup);
  return row;
}

}  // namespace

std::string stretches_text(const simulator::MeasuredRecording& measured,
                           const std::vector<StretchFigures>& stretches, bool tables_only,
                           const Glyphs& glyphs) {
  std::string text = header_text(measured, glyphs);
  std::int32_t last = 0;
  for (const StretchFigures& figures : stretches) last = std::max(last, figures.first_token);
  constexpr std::int32_t length = simulator::published_stretch_tokens;
  for (const StretchTable& shown : stretch_tables) {
    Table table({{"run", Align::left}});
    for (std::int32_t first = 0; first <= last; first += length)
      table.add_column(fmt::format("{}{}{}", first, glyphs.range(), first + length - 1));
    for (const traces::Run& run : measured.recording->runs) {
      std::vector<std::string> cells(static_cast<std::size_t>(last / length) + 2,
                                     std::string(glyphs.absent()));
      cells.front() = printable(run.specification);
      for (const StretchFigures& figures : stretches)
        if (figures.prompt == nullptr && figures.run->id == run.id)
          cells[static_cast<std::size_t>(figures.first_token / length) + 1] = shown.cell(figures, glyphs);
      table.add_row(std::move(cells));
    }
    text += fmt::format("\n{} by stretch of the output, all prompts\n", shown.title) +
            table.text(2, glyphs.columns);
  }
  if (tables_only) return text;
  return text + "\n  a round belongs to the stretch of its first token; --json has each prompt\n";
}

std::string stretches_json(const simulator::MeasuredRecording& measured,
                           const std::vector<StretchFigures>& stretches) {
  Json json = recording_document(measured);
  json["stretch_tokens"] = simulator::published_stretch_tokens;
  const simulator::QuestionNames names(measured.recording->meta);
  json["stretches"] =
      json_list(stretches, [&](const StretchFigures& figures) { return stretch_json(figures, names); });
  return json_text(json);
}

std::string stretches_csv(const simulator::MeasuredRecording& measured,
                          const std::vector<StretchFigures>& stretches) {
  const simulator::QuestionNames names(measured.recording->meta);
  std::string text;
  for (const StretchFigures& figures : stretches) add_csv_row(text, stretch_json(figures, names));
  return text;
}

}  // namespace draftscope::cli
