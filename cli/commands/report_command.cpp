// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands/commands.h"

#include <draftscope/simulator/analysis/decisions.h>
#include <draftscope/simulator/analysis/operations.h>

#include <draftscope/speculation/policy_file.h>

#include <fstream>
#include <memory>

#include "options/numbers.h"
#include "report/curve_report.h"
#include "report/device_report.h"
#include "report/report_json.h"
#include "report/reports.h"

namespace draftscope::cli {

namespace {

struct ReportCommandOptions {
  std::string file;
  std::string by;
  std::string as;
  std::string over;
  DeviceReportOptions of_device;
  bool svg = false;
  bool decisions = false;
  bool device = false;
  bool brief = false;
  bool json = false;
  bool csv = false;
  bool quiet = false;
};

/// A policy is a JSON object; a trace is not.
bool is_json_object(const std::string& file) {
  return std::ifstream(file).peek() == '{';
}

std::vector<std::string> phase_words() {
  std::vector<std::string> words;
  words.reserve(traces::phase_count);
  for (int phase = 0; phase < traces::phase_count; ++phase)
    words.emplace_back(traces::phase_name(static_cast<traces::Phase>(phase)));
  return words;
}

/// Fails if an import lacks what the options ask for: runs, or rounds.
Result<void> check_content(const ReportCommandOptions& options,
                           const simulator::MeasuredRecording& measured) {
  const bool is_whole = options.by != "stretch" && !options.decisions;
  const bool is_plain =
      is_whole && options.by.empty() && options.as.empty() && options.over.empty() && !options.csv;
  if (measured.timeline && !is_plain)
    return fail("{}: holds a timeline without runs, expected runs for these options", options.file);
  if (measured.recording->rounds.empty() && !is_whole)
    return fail("{}: holds no rounds, expected some for {}", options.file,
                options.decisions ? "--decisions" : "--by stretch");
  return {};
}

Result<int> report(const ReportCommandOptions& options) {
  if (options.decisions && is_json_object(options.file)) {
    DRAFTSCOPE_TRY_ASSIGN(const speculation::PolicyFile policy, speculation::read_policy(options.file));
    return print_out(options.json ? history_json(policy) : history_text(policy, glyphs_for_stdout()));
  }
  DRAFTSCOPE_TRY_ASSIGN(const simulator::MeasuredRecording measured,
                        simulator::measure_recording(options.file));
  DRAFTSCOPE_TRY(check_content(options, measured));
  if (!options.as.empty()) {
    const auto asked = conventions_named(options.as);
    if (options.by == "operation" || options.by == "stretch")
      return fail("--as {}: found --by {}, expected --by category, or none", options.as, options.by);
    const bool by_category = !options.by.empty();
    if (options.json) return print_out(conventions_json(measured, asked, by_category));
    if (options.csv) return print_out(conventions_csv(measured, asked, by_category));
    return print_out(conventions_text(measured, asked, {by_category, options.quiet}, glyphs_for_stdout()));
  }
  if (options.decisions) {
    DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(options.file));
    DRAFTSCOPE_TRY_ASSIGN(const auto runs, simulator::read_decisions(reader, *measured.recording));
    return print_out(options.json ? decisions_json(measured, runs)
                                  : decisions_text(measured, runs, glyphs_for_stdout()));
  }
  if (!options.over.empty()) {
    DRAFTSCOPE_TRY_ASSIGN(const auto curves, runs_over(measured, options.over));
    if (options.json) return print_out(over_json(measured, curves, options.over));
    if (options.svg) return print_out(over_svg(curves, options.over));
    return print_out(over_text(measured, curves, options.over, glyphs_for_stdout()));
  }
  if (options.device) {
    DRAFTSCOPE_TRY_ASSIGN(const DeviceReport device, read_device_report(measured, options.of_device));
    return print_out(options.json ? device_json(measured, device)
                                  : device_text(measured, device, options.quiet, glyphs_for_stdout()));
  }
  if (options.brief && !measured.timeline) return print_out(brief_text(measured, glyphs_for_stdout()));
  if (options.by == "operation") {
    DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(options.file));
    DRAFTSCOPE_TRY_ASSIGN(const auto operations, simulator::read_operations(reader, *measured.recording));
    DRAFTSCOPE_TRY_ASSIGN(const auto times, simulator::read_operation_times(reader, *measured.recording));
    if (operations.rows.empty() && times.empty())
      return fail(
          "{}: no device was recorded, expected one for --by operation (record --device cuda, or --level ops "
          "for the kinds of a processor's operations)",
          options.file);
    if (operations.rows.empty() && options.csv)
      return fail("--csv: found no device in {}, expected one for --by operation (--json has the kinds)",
                  options.file);
    if (options.json) return print_out(operations_json(measured, operations, times));
    if (options.csv) return print_out(operations_csv(measured, operations));
    const Glyphs glyphs = glyphs_for_stdout();
    const std::string kinds = operation_times_text(measured, times, glyphs);
    if (operations.rows.empty()) return print_out(header_text(measured, glyphs) + kinds);
    return print_out(operations_text(measured, operations, options.quiet, glyphs) + kinds);
  }
  if (options.by == "stretch") {
    const auto stretches = simulator::stretches_of(*measured.recording);
    if (options.json) return print_out(stretches_json(measured, stretches));
    if (options.csv) return print_out(stretches_csv(measured, stretches));
    return print_out(stretches_text(measured, stretches, options.quiet, glyphs_for_stdout()));
  }
  const bool by_category = !options.by.empty();
  if (options.json) return print_out(report_json(measured, by_category));
  if (options.csv) return print_out(report_csv(measured, by_category));
  return print_out(report_text(measured, {by_category, options.quiet}, glyphs_for_stdout()));
}

}  // namespace

void add_report_command(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<ReportCommandOptions>();
  CLI::App* command = app.add_subcommand("report", "Show the measured figures of a recording, run by run");
  command->footer(
      "Speedups are over the vanilla run of the same recording; without one there is none.\n"
      "Keys of --json and columns of --csv: cli/OUTPUT.md.\n"
      "Example: draftscope report demo.dstrace --by category\n"
      "         draftscope report demo.dstrace --as clasp --by category\n"
      "         draftscope report demo.dstrace --over gamma --svg > gamma.svg");
  command->add_option("FILE", options->file, "Trace to read; with --decisions also a policy")->required();
  CLI::Option* by = command->add_option("--by", options->by,
                                        "Also split the figures: category. In place of them: stretch (64 "
                                        "output tokens), or operation (its time)");
  by->check(one_of({"category", "stretch", "operation"}));
  CLI::Option* as = command->add_option("--as", options->as, "Count and average as a publication does");
  as->check(one_of(convention_words()));
  CLI::Option* json = command->add_flag("--json", options->json, "Print JSON");
  CLI::Option* csv = command->add_flag("--csv", options->csv, "Print CSV, one line a run")->excludes(json);
  CLI::Option* over =
      command
          ->add_option("--over", options->over,
                       "Speedup, M and acceptance over a parameter in which alone some runs differ")
          ->excludes(by, as, csv);
  command->add_flag("--svg", options->svg, "Print the curves of --over as a picture")
      ->excludes(json)
      ->needs(over);
  command
      ->add_flag("--decisions", options->decisions,
                 "What strategies decided and why, as series; of a policy of tune, how its search went")
      ->excludes(by, as, over, csv);
  CLI::Option* device =
      command
          ->add_flag("--device", options->device,
                     "What the device did: its time by operation and kernel, bytes and rates, and its gaps")
          ->excludes(by, as, over, csv, "--decisions");
  command->add_option("--run", options->of_device.run, "The run of --device, by its specification")
      ->needs(device);
  command->add_option("--phase", options->of_device.phase, "The phase of --device, such as verify")
      ->check(one_of(phase_words()))
      ->needs(device);
  command
      ->add_flag("--brief", options->brief,
                 "One screen: each strategy with what costs it most, by kind of text, and what won")
      ->excludes(by, as, over, json, csv, "--decisions", device);
  command->add_flag("-q,--quiet", options->quiet, "Print the tables alone, without charts and explanations")
      ->excludes(over, "--decisions", "--brief");
  command->callback([options, &outcome] { finish(outcome, report(*options)); });
}

}  // namespace draftscope::cli
