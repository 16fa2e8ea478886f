// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/answers/simulate_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/report_json_parts.h"
#include "terminal/numbers.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

using simulator::Answer;

std::string interval_cell(const std::optional<simulator::Interval>& interval, const Glyphs& glyphs) {
  if (!interval) return std::string(glyphs.absent());
  return fmt::format("{:.2f}{}{:.2f}", interval->low, glyphs.range(), interval->high);
}

/// Of a bounded answer both ends; its intervals are the outermost.
std::string speedup_cell(const Answer& answer, const Glyphs& glyphs) {
  const double value = answer.speedup.min_drafted.total.value;
  if (!answer.speedup.max_drafted) return factor(value, glyphs);
  const double other = answer.speedup.max_drafted->total.value;
  return fmt::format("{:.2f}{}{}", std::min(value, other), glyphs.range(),
                     factor(std::max(value, other), glyphs));
}

std::optional<simulator::Interval> interval_of(const Answer& answer, int level) {
  return level == 80 ? simulator::outermost_interval_80(answer.speedup)
                     : simulator::outermost_interval_95(answer.speedup);
}

/// Each line once, in order of first appearance.
void add_once(std::vector<std::string>& lines, std::string line) {
  if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(std::move(line));
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

std::string notes_text(const Simulation& simulation) {
  std::vector<std::string> lines;
  for (const Answer& answer : simulation.answers) {
    for (const std::string& note : answer.notes) add_once(lines, answer.strategy + ": " + note);
    if (!answer.speedup.min_drafted.total.no_interval_reason.empty())
      add_once(lines, "no interval: " + answer.speedup.min_drafted.total.no_interval_reason);
    int undetermined = 0;
    for (const simulator::CostNote& note : answer.cost_notes) {
      if (note.provenance == simulator::Provenance::undetermined)
        ++undetermined;
      else
        add_once(lines, answer.machine + ": " + note.text);
    }
    if (undetermined > 0)
      add_once(lines,
               fmt::format("{}: {} cost parameters are not determined by the recording (--json names them)",
                           answer.machine, undetermined));
  }
  for (const Refusal& refusal : simulation.refusals)
    add_once(lines, "no answer: " + (refusal.machine.empty() ? "" : refusal.machine + ": ") + refusal.reason);
  std::string text;
  for (const std::string& line : lines) text += "  " + printable(line) + '\n';
  return text;
}

std::string budget_text(const Simulation& simulation, const Glyphs& glyphs) {
  Table table({{"strategy", Align::left},
               {"machine", Align::left},
               {"sigma"},
               {"acceptance"},
               {"fit"},
               {"width"},
               {"transfer"},
               {"interaction"}});
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

nlohmann::ordered_json interval_json(const std::optional<simulator::Interval>& interval) {
  if (!interval) return nullptr;
  return nlohmann::ordered_json::array({interval->low, interval->high});
}

}  // namespace

std::string simulate_text(const Simulation& simulation, bool quiet, const Glyphs& glyphs) {
  std::string text;
  if (!quiet) text += fit_line(*simulation.fit) + '\n';
  Table table({{"strategy", Align::left},
               {"machine", Align::left},
               {"rounds", Align::left},
               {"M"},
               {"acceptance"},
               {"c"},
               {"v"},
               {"o"},
               {"vanilla tokens/s"},
               {"tokens/s"},
               {"speedup"},
               {"80 %"},
               {"95 %"}});
  for (const Answer& answer : simulation.answers)
    table.add_row({printable(answer.strategy), printable(answer.machine),
                   fmt::format("{}, {}", round_source_name(answer.source), answer_status_name(answer.status)),
                   number(answer.mean_accepted_length), percent(answer.acceptance_rate), number(answer.c),
                   number(answer.v), number(answer.o), number(answer.vanilla_tokens_per_second),
                   number(answer.tokens_per_second), speedup_cell(answer, glyphs),
                   interval_cell(interval_of(answer, 80), glyphs),
                   interval_cell(interval_of(answer, 95), glyphs)});
  text += "Predicted: decoding without prefill, speedup over vanilla decoding on the same machine\n";
  text += table.text(2, glyphs.columns);
  text += budget_text(simulation, glyphs);
  const std::string notes = quiet ? "" : notes_text(simulation);
  if (!notes.empty()) text += "\nWhat the answers rest on\n" + notes;
  return text;
}

std::string simulate_json(const Simulation& simulation) {
  nlohmann::ordered_json json;
  json["recording"] = simulation.recording->path.filename().string();
  const simulator::CostFitReport& fit = *simulation.fit;
  auto& costs = json["costs"];
  costs = {{"groups", fit.groups},
           {"residual_p50", fit.residual_p50},
           {"residual_p90", fit.residual_p90},
           {"conservation_residual", fit.conservation_residual},
           {"has_gpu_prior", fit.has_gpu_prior}};
  auto& parameters = costs["parameters"] = nlohmann::ordered_json::array();
  for (const simulator::FittedParameter& parameter : fit.parameters)
    parameters.push_back({{"name", parameter.name},
                          {"value", parameter.value},
                          {"sigma", parameter.sigma},
                          {"at_bound", parameter.at_bound},
                          {"source", source_name(parameter.source)}});
  auto& answers = json["answers"] = nlohmann::ordered_json::array();
  for (const Answer& answer : simulation.answers) {
    nlohmann::ordered_json entry;
    entry["strategy"] = answer.strategy;
    entry["machine"] = answer.machine;
    entry["rounds_source"] = round_source_name(answer.source);
    entry["status"] = answer_status_name(answer.status);
    entry["output_tokens"] = answer.tokens;
    entry["mean_accepted_length"] = answer.mean_accepted_length;
    entry["acceptance_rate"] = answer.acceptance_rate;
    entry["steps_a_round"] = answer.steps_per_round;
    entry["target_step_ns"] = answer.target_step_ns;
    entry["draft_cost_coefficient"] = answer.c;
    entry["verification_cost"] = answer.v;
    entry["overhead"] = answer.o;
    entry["vanilla_tokens_per_second"] = answer.vanilla_tokens_per_second;
    entry["tokens_per_second"] = answer.tokens_per_second;
    entry["speedup"] = answer.speedup.min_drafted.total.value;
    entry["speedup_most_drafted"] = answer.speedup.max_drafted
                                        ? nlohmann::ordered_json(answer.speedup.max_drafted->total.value)
                                        : nlohmann::ordered_json(nullptr);
    entry["request_mean"] = answer.speedup.min_drafted.request_mean.value;
    entry["interval_80"] = interval_json(interval_of(answer, 80));
    entry["interval_95"] = interval_json(interval_of(answer, 95));
    entry["no_interval_reason"] = answer.speedup.min_drafted.total.no_interval_reason;
    entry["variance_budget"] = nullptr;
    if (answer.budget)
      entry["variance_budget"] = {
          {"sigma", answer.budget->sigma},       {"acceptance", answer.budget->acceptance},
          {"fit", answer.budget->fit},           {"width", answer.budget->width},
          {"transfer", answer.budget->transfer}, {"interaction", answer.budget->interaction}};
    entry["notes"] = answer.notes;
    auto& notes = entry["cost_notes"] = nlohmann::ordered_json::array();
    for (const simulator::CostNote& note : answer.cost_notes) notes.push_back(note.text);
    answers.push_back(std::move(entry));
  }
  auto& refusals = json["refusals"] = nlohmann::ordered_json::array();
  for (const Refusal& refusal : simulation.refusals)
    refusals.push_back(
        {{"strategy", refusal.strategy}, {"machine", refusal.machine}, {"reason", refusal.reason}});
  return json_text(json);
}

std::string simulate_csv(const Simulation& simulation) {
  std::string text;
  for (const Answer& answer : simulation.answers) {
    const auto narrow = interval_of(answer, 80);
    const auto wide = interval_of(answer, 95);
    const auto end = [](const std::optional<simulator::Interval>& interval, bool low) {
      return interval ? nlohmann::ordered_json(low ? interval->low : interval->high)
                      : nlohmann::ordered_json(nullptr);
    };
    nlohmann::ordered_json row;
    row["strategy"] = answer.strategy;
    row["machine"] = answer.machine;
    row["rounds_source"] = round_source_name(answer.source);
    row["status"] = answer_status_name(answer.status);
    row["mean_accepted_length"] = answer.mean_accepted_length;
    row["acceptance_rate"] = answer.acceptance_rate;
    row["draft_cost_coefficient"] = answer.c;
    row["verification_cost"] = answer.v;
    row["overhead"] = answer.o;
    row["vanilla_tokens_per_second"] = answer.vanilla_tokens_per_second;
    row["tokens_per_second"] = answer.tokens_per_second;
    row["speedup"] = answer.speedup.min_drafted.total.value;
    row["speedup_most_drafted"] = answer.speedup.max_drafted
                                      ? nlohmann::ordered_json(answer.speedup.max_drafted->total.value)
                                      : nlohmann::ordered_json(nullptr);
    row["interval_80_low"] = end(narrow, true);
    row["interval_80_high"] = end(narrow, false);
    row["interval_95_low"] = end(wide, true);
    row["interval_95_high"] = end(wide, false);
    if (text.empty()) text = csv_header(row);
    text += csv_line(row);
  }
  return text;
}

}  // namespace draftscope::cli
