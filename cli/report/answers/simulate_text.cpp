// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/answers/simulate_text.h"

#include <draftscope/simulator/analysis/figure.h>
#include <draftscope/simulator/analysis/figure_json.h>
#include <draftscope/simulator/analysis/question_names.h>
#include <draftscope/simulator/answers/advice_text.h>
#include <draftscope/simulator/answers/answer_figures.h>

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_set>

#include "report/figure_text.h"
#include "report/report_json.h"
#include "terminal/messages.h"
#include "terminal/numbers.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

using simulator::Answer;

/// Cell with the speedup; a bounded answer shows both bounds. Intervals elsewhere have the outermost ends.
std::string speedup_cell(const Answer& answer, const Glyphs& glyphs) {
  const double value = answer.speedup.min_drafted.value;
  if (!answer.speedup.max_drafted) return factor(value, glyphs);
  return speedups_text(value, answer.speedup.max_drafted->value, glyphs.characters());
}

/// Keys of the figures to show; those of price or power only if an answer has one.
std::vector<std::string_view> answer_columns(const Simulation& simulation) {
  const auto table = simulator::answer_table();
  std::vector<std::string_view> keys(table.begin(), table.end());
  for (const std::string_view key : simulator::answer_price_table()) {
    const auto& figure = simulator::answer_figure(key);
    if (std::any_of(simulation.answers.begin(), simulation.answers.end(), [&](const Answer& answer) {
          return !std::holds_alternative<std::monostate>(figure.get(answer));
        }))
      keys.push_back(key);
  }
  return keys;
}

std::vector<std::string> answer_cells(const Answer& answer, const std::vector<std::string_view>& keys,
                                      const Glyphs& glyphs) {
  std::vector<std::string> cells{
      printable(answer.strategy), printable(answer.machine),
      fmt::format("{}, {}", round_source_name(answer.source), answer_status_name(answer.status))};
  for (const std::string_view key : keys)
    cells.push_back(key == "speedup" ? speedup_cell(answer, glyphs)
                                     : figure_cell(simulator::answer_figure(key), answer, glyphs));
  return cells;
}

/// Name of a part; prompts may have no category.
std::string shown_part(const std::string& part) {
  return printable(simulator::category_name(part));
}

/// The strategy that is predicted to be fastest on each part of the prompts, machine by machine; empty if
/// answers are not split or there is only one strategy.
std::string fastest_text(const Simulation& simulation, const Glyphs& glyphs) {
  struct Fastest {
    std::string machine, part;
    const Answer* answer = nullptr;
    bool has_rival = false;
  };
  std::vector<Fastest> all;
  const auto speedup_of = [](const Answer& answer) { return answer.speedup.min_drafted.value; };
  for (const std::vector<AnswerPart>& parts : simulation.parts)
    for (const AnswerPart& part : parts) {
      const auto had = std::find_if(all.begin(), all.end(), [&](const Fastest& fastest) {
        return fastest.machine == part.answer.machine && fastest.part == part.name;
      });
      if (had == all.end()) {
        all.push_back({part.answer.machine, part.name, &part.answer});
        continue;
      }
      had->has_rival = true;
      if (speedup_of(part.answer) > speedup_of(*had->answer)) had->answer = &part.answer;
    }
  Table table({simulation.by, "machine", "fastest"}, {"speedup"});
  bool any = false;
  for (const Fastest& fastest : all) {
    if (!fastest.has_rival) continue;
    any = true;
    const bool pays = speedup_of(*fastest.answer) > 1.0;
    table.add_row({shown_part(fastest.part), printable(fastest.machine),
                   pays ? printable(fastest.answer->strategy) : "none: vanilla decoding is faster",
                   factor(speedup_of(*fastest.answer), glyphs)});
  }
  return any ? fmt::format("\nThe fastest of these on each {}\n", simulation.by) +
                   table.text(2, glyphs.columns)
             : "";
}

std::string_view source_name(simulator::ParameterSource source) {
  constexpr std::array<std::string_view, 3> names{"trace", "prior", "not identified"};
  return names[static_cast<std::size_t>(source)];
}

std::string fit_line(const simulator::CostFitReport& fit) {
  if (fit.parameters.empty())
    return "costs      specifications alone: an imported recording has no times of passes\n";
  std::array<int, 3> counts{};
  for (const simulator::FittedParameter& parameter : fit.parameters)
    ++counts[static_cast<std::size_t>(parameter.source)];
  return fmt::format(
      "costs      {} groups of spans and passes, residual {:.1f} % (median) and {:.1f} % (p90), rounds "
      "{:+.1f} % off "
      "in sum\n           {} parameters from the trace, {} from priors, {} not identified\n",
      fit.groups, 100.0 * fit.residual_p50, 100.0 * fit.residual_p90, 100.0 * fit.conservation_residual,
      counts[0], counts[1], counts[2]);
}

/// Notes and refusals, each line once in order of first appearance.
std::string notes_text(const Simulation& simulation) {
  std::unordered_set<std::string> known;
  std::string text;
  const auto add_once = [&](const std::string& line) {
    if (known.insert(line).second) text += "  " + printable(line) + '\n';
  };
  for (const Answer& answer : simulation.answers) {
    for (const std::string& note : answer.notes) add_once(answer.strategy + ": " + note);
    if (!answer.speedup.min_drafted.no_interval_reason.empty())
      add_once("no interval: " + answer.speedup.min_drafted.no_interval_reason);
    for (const std::string& note : cost_note_lines(answer)) add_once(answer.machine + ": " + note);
  }
  for (const Refusal& refusal : simulation.refusals) {
    // A question may have an answer, and yet no stretches.
    const bool has_answer =
        std::any_of(simulation.answers.begin(), simulation.answers.end(), [&](const Answer& answer) {
          return answer.strategy == refusal.strategy && answer.machine == refusal.machine;
        });
    add_once((has_answer ? "" : "no answer: ") + (refusal.machine.empty() ? "" : refusal.machine + ": ") +
             refusal.reason);
  }
  return text;
}

std::string budget_text(const Simulation& simulation, const Glyphs& glyphs) {
  Table table({"strategy", "machine"}, {"sigma", "acceptance", "fit", "width", "transfer", "interaction"});
  bool any = false;
  for (const Answer& answer : simulation.answers) {
    if (!answer.budget) continue;
    any = true;
    table.add_row({printable(answer.strategy), printable(answer.machine), percent(answer.budget->sigma),
                   percent(answer.budget->acceptance), percent(answer.budget->fit),
                   percent(answer.budget->width), percent(answer.budget->transfer),
                   percent(answer.budget->interaction)});
  }
  return any ? "\nWhere the uncertainty comes from: shares of the variance of ln(speedup)\n" +
                   table.text(2, glyphs.columns)
             : "";
}

std::string measured_text(const Simulation& simulation, const Glyphs& glyphs) {
  std::string text;
  for (const auto& beside : simulation.measured)
    if (beside)
      text += fmt::format("  {}: {}\n", printable(beside->run.strategy),
                          printable(beside_line(*beside, glyphs.characters())));
  return text.empty() ? "" : "\nWhat was measured with the same settings\n" + text;
}

Json measured_json(const std::optional<simulator::MeasuredBeside>& beside) {
  if (!beside) return nullptr;
  return {{"speedup", beside->run.speedup},
          {"interval_95", interval_json(beside->run.interval_95)},
          {"decode_tokens_per_second", beside->run.tokens_per_second},
          {"vanilla_decode_tokens_per_second", beside->run.vanilla_tokens_per_second},
          {"relative_error", beside->relative_error},
          {"differs", beside->differs},
          {"reasons", beside->reasons}};
}

/// JSON of the question, and the source of its rounds.
Json question_json(const Answer& answer) {
  return {{"strategy", answer.strategy},
          {"machine", answer.machine},
          {"rounds_source", round_source_name(answer.source)},
          {"status", answer_status_name(answer.status)}};
}

Json answer_json(const Answer& answer) {
  Json entry = question_json(answer);
  simulator::add_figures(entry, simulator::named_figures(simulator::answer_figures(), answer));
  entry["notes"] = answer.notes;
  entry["cost_notes"] =
      json_list(answer.cost_notes, [](const simulator::CostNote& note) { return note.text; });
  return entry;
}

Json costs_json(const simulator::CostFitReport& fit) {
  const auto parameter_json = [](const simulator::FittedParameter& parameter) -> Json {
    return {{"name", parameter.name},
            {"value", parameter.value},
            {"sigma", parameter.sigma},
            {"at_bound", parameter.at_bound},
            {"source", source_name(parameter.source)}};
  };
  return {{"groups", fit.groups},
          {"residual_p50", fit.residual_p50},
          {"residual_p90", fit.residual_p90},
          {"conservation_residual", fit.conservation_residual},
          {"has_gpu_prior", fit.has_gpu_prior},
          {"parameters", json_list(fit.parameters, parameter_json)}};
}

}  // namespace

void print_refusals(const SimulateOptions& options, const std::vector<Refusal>& refusals) {
  if (options.json || (!options.quiet && !options.csv)) return;
  for (const Refusal& refusal : refusals)
    print_error(refusal.machine.empty() ? refusal.reason : refusal.machine + ": " + refusal.reason);
}

Json refusals_json(const std::vector<Refusal>& refusals) {
  return json_list(refusals, [](const Refusal& refusal) -> Json {
    return {{"strategy", refusal.strategy}, {"machine", refusal.machine}, {"reason", refusal.reason}};
  });
}

std::string simulate_text(const Simulation& simulation, bool quiet, const Glyphs& glyphs) {
  std::string text;
  if (!quiet) text += fit_line(*simulation.fit) + '\n';
  std::vector<Column> columns{{"strategy", Align::left}, {"machine", Align::left}, {"rounds", Align::left}};
  if (!simulation.by.empty()) columns.insert(columns.begin() + 1, {simulation.by, Align::left});
  const std::vector<std::string_view> keys = answer_columns(simulation);
  for (const std::string_view key : keys) columns.push_back({simulator::answer_figure(key).title});
  Table table(std::move(columns));
  const auto add_row = [&](const Answer& answer, const std::string& part) {
    std::vector<std::string> cells = answer_cells(answer, keys, glyphs);
    if (!simulation.by.empty()) cells.insert(cells.begin() + 1, shown_part(part));
    table.add_row(std::move(cells));
  };
  for (std::size_t i = 0; i < simulation.answers.size(); ++i) {
    add_row(simulation.answers[i], "all");
    for (const AnswerPart& part : simulation.parts[i]) add_row(part.answer, part.name);
  }
  text += "Predicted: decoding without prefill, speedup over vanilla decoding on the same machine\n";
  text += table.text(2, glyphs.columns);
  text += fastest_text(simulation, glyphs) + budget_text(simulation, glyphs);
  if (!quiet) text += measured_text(simulation, glyphs);
  const std::string notes = quiet ? "" : notes_text(simulation);
  if (!notes.empty()) text += "\nWhat the answers rest on\n" + notes;
  return text;
}

Json simulate_document(const Simulation& simulation) {
  Json json = new_document();
  json["recording"] = simulation.recording->path.filename().string();
  json["costs"] = costs_json(*simulation.fit);
  Json& answers = json["answers"] = Json::array();
  for (std::size_t i = 0; i < simulation.answers.size(); ++i) {
    answers.push_back(answer_json(simulation.answers[i]));
    answers.back()["measured"] = measured_json(simulation.measured[i]);
    if (simulation.by.empty()) continue;
    const std::string parts = simulation.by == "category"
                                  ? "categories"
                                  : simulation.by + (simulation.by == "stretch" ? "es" : "s");
    answers.back()[parts] = json_list(simulation.parts[i], [&](const AnswerPart& part) {
      Json entry{{simulation.by, part.name}};
      entry.update(answer_json(part.answer));
      return entry;
    });
  }
  json["refusals"] = refusals_json(simulation.refusals);
  return json;
}

std::string simulate_csv(const Simulation& simulation) {
  std::string text;
  const auto add_line = [&](const Answer& answer, const std::string* part) {
    Json row = question_json(answer);
    if (part != nullptr) row[simulation.by] = *part;
    simulator::add_csv_figures(row, simulator::named_figures(simulator::answer_figures(), answer));
    add_csv_row(text, row);
  };
  for (std::size_t i = 0; i < simulation.answers.size(); ++i) {
    if (simulation.by.empty()) add_line(simulation.answers[i], nullptr);
    for (const AnswerPart& part : simulation.parts[i]) add_line(part.answer, &part.name);
  }
  return text;
}

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
    const bool is_of_run = answer.ladder.back().rung == simulator::Rung::recorded_run;
    text += fmt::format("\nFrom layers to time: {}, {} (rounds {}, times modelled{})\n",
                        printable(answer.strategy), printable(answer.machine),
                        answer_status_name(answer.status), is_of_run ? " up to overhead" : "");
    double highest = 0.0;
    for (const LadderRung& rung : answer.ladder) highest = std::max(highest, rung.speedup);
    Table table({"rung", ""}, {"speedup", "change", "share"}, {""});
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
  json["ladders"] = json_list(ladders, [](const AnswerLadder& answer) -> Json {
    return {{"strategy", answer.strategy},
            {"machine", answer.machine},
            {"status", answer_status_name(answer.status)},
            {"head_ns", answer.parts.head_ns},
            {"choice_ns", answer.parts.choice_ns},
            {"rungs", json_list(answer.ladder, rung_json)}};
  });
  json["refusals"] = refusals_json(simulation.refusals);
  return json_text(json);
}

}  // namespace draftscope::cli
