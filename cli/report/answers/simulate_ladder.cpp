// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/answers/simulate_ladder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/report_json.h"
#include "terminal/numbers.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

using simulator::LadderRung;

std::string change_cell(const LadderRung& rung, const Glyphs& glyphs) {
  if (rung.rung == simulator::Rung::layer_count) return std::string(glyphs.absent());
  return signed_text(rung.change, 3, glyphs.characters());
}

/// Share of ln(last / first); the first rung starts the ladder and has none.
std::optional<double> share_of(const LadderRung& rung) {
  return rung.rung == simulator::Rung::layer_count ? std::nullopt : rung.share;
}

std::string share_cell(const LadderRung& rung, const Glyphs& glyphs) {
  const std::optional<double> share = share_of(rung);
  constexpr double printed_as_nothing = 0.0005;
  if (share && std::abs(*share) < printed_as_nothing) return percent(0.0);
  return percent(share, glyphs);
}

Json rung_json(const LadderRung& rung) {
  return {{"rung", simulator::rung_name(rung.rung)},
          {"speedup", rung.speedup},
          {"change", rung.change},
          {"factor", rung.factor},
          {"share", json_or_null(share_of(rung))}};
}

}  // namespace

Result<AnswerLadder> ladder_of(const simulator::CostModel& model, const simulator::StrategyRounds& rounds,
                               const simulator::Machine& machine) {
  AnswerLadder result{rounds.strategy, machine.name, rounds.setting.status, {}, {}};
  DRAFTSCOPE_TRY_ASSIGN(result.parts, simulator::pass_parts(model, rounds, machine));
  DRAFTSCOPE_TRY_ASSIGN(result.ladder, simulator::answer_ladder(model, rounds, machine));
  return result;
}

std::string ladder_text(const std::vector<AnswerLadder>& ladders, const Glyphs& glyphs) {
  std::string text;
  for (const AnswerLadder& answer : ladders) {
    text +=
        fmt::format("\nFrom layers to time: {}, {} (rounds {}, times modelled)\n", printable(answer.strategy),
                    printable(answer.machine), answer_status_name(answer.status));
    double highest = 0.0;
    for (const LadderRung& rung : answer.ladder) highest = std::max(highest, rung.speedup);
    Table table(
        {{"rung", Align::left}, {"", Align::left}, {"speedup"}, {"change"}, {"share"}, {"", Align::left}});
    for (const LadderRung& rung : answer.ladder)
      table.add_row({std::string(simulator::rung_name(rung.rung)), std::string(rung_meaning(rung.rung)),
                     factor(rung.speedup, glyphs), change_cell(rung, glyphs), share_cell(rung, glyphs),
                     bar(rung.speedup / highest, bar_width, glyphs)});
    text += table.text(2, glyphs.columns);
  }
  return text;
}

std::string ladder_json(const Simulation& simulation, const std::vector<AnswerLadder>& ladders) {
  Json json = new_document();
  json["recording"] = simulation.recording->path.filename().string();
  Json& list = json["ladders"] = Json::array();
  for (const AnswerLadder& answer : ladders) {
    Json entry{{"strategy", answer.strategy},
               {"machine", answer.machine},
               {"status", answer_status_name(answer.status)},
               {"head_ns", answer.parts.head_ns},
               {"choice_ns", answer.parts.choice_ns}};
    Json& rungs = entry["rungs"] = Json::array();
    for (const LadderRung& rung : answer.ladder) rungs.push_back(rung_json(rung));
    list.push_back(std::move(entry));
  }
  json["refusals"] = refusals_json(simulation.refusals);
  return json_text(json);
}

std::string ladder_csv(const std::vector<AnswerLadder>& ladders) {
  std::string text;
  for (const AnswerLadder& answer : ladders)
    for (const LadderRung& rung : answer.ladder) {
      Json row{{"strategy", answer.strategy},
               {"machine", answer.machine},
               {"status", answer_status_name(answer.status)}};
      row.update(rung_json(rung));
      if (text.empty()) text = csv_header(row);
      text += csv_line(row);
    }
  return text;
}

}  // namespace draftscope::cli
