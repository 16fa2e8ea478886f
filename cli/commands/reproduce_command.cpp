// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands/commands.h"

#include <draftscope/base/atomic_file.h>
#include <draftscope/base/closest_names.h>
#include <draftscope/base/descriptor.h>
#include <draftscope/base/quote.h>
#include <draftscope/base/text_file.h>
#include <draftscope/engine/checkpoint.h>
#include <draftscope/speculation/policy_file.h>
#include <draftscope/traces/prompt_file.h>
#include <draftscope/traces/reader.h>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "options/numbers.h"
#include "options/unread_options.h"
#include "program.h"
#include "report/chart_svg.h"
#include "report/report_json.h"
#include "reproduce/experiments.h"
#include "reproduce/figures.h"
#include "reproduce/reproduction.h"
#include "reproduce/steps.h"
#include "terminal/glyphs.h"
#include "terminal/messages.h"
#include "terminal/numbers.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

namespace fs = std::filesystem;

/// File of the folder with what the steps print.
constexpr const char* output_name = "output.txt";
constexpr const char* shipped_prompts = "traces/prompts/sample.jsonl";
constexpr const char* shipped_tune_prompts = "traces/prompts/calibration.jsonl";

struct ReproduceOptions {
  std::string name;
  ReproduceSettings settings;
  std::string device;
  std::optional<std::int32_t> threads;
  std::string output;
  bool list = false;
  bool dry_run = false;
  bool overwrite = false;
  bool json = false;
  bool quiet = false;
};

/// Sends standard output to a file while it lives: what a step prints is no part of the command's output.
class OutputTo {
 public:
  explicit OutputTo(const fs::path& file)
      : kept_(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)) {
    std::fflush(stdout);
    const Descriptor opened(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    if (kept_.number() < 0 || opened.number() < 0 || ::dup2(opened.number(), STDOUT_FILENO) < 0)
      error_ = errno;
  }
  OutputTo(const OutputTo&) = delete;
  OutputTo& operator=(const OutputTo&) = delete;
  ~OutputTo() {
    std::fflush(stdout);
    if (kept_.number() >= 0) ::dup2(kept_.number(), STDOUT_FILENO);
  }

  /// Number of the error for which nothing was sent to the file; 0 = none.
  [[nodiscard]] int error() const { return error_; }

 private:
  Descriptor kept_;
  int error_ = 0;
};

/// Number of settings, as far as it does not depend on the model or the prompts.
std::string points_of(const ExperimentRow& experiment) {
  const std::size_t settings = experiment.settings.size();
  if (experiment.printer == Printer::curve) {
    if (experiment.axis.values == std::vector<std::string>{"exits"})
      return fmt::format("{} settings and up to one an exit", settings - 1);
    return fmt::format("{} settings", settings + experiment.axis.values.size() - 1);
  }
  const auto by_category = static_cast<std::size_t>(
      std::count_if(experiment.settings.begin(), experiment.settings.end(),
                    [&](const SettingRow& setting) { return is_by_category(experiment, setting); }));
  const std::size_t others = settings - by_category;
  std::string text = counted(others, "setting");
  if (by_category > 0) text += fmt::format(" and {} for each category", by_category);
  return text;
}

bool drafts_with_other_model(const ExperimentRow& experiment) {
  return std::any_of(experiment.settings.begin(), experiment.settings.end(),
                     [](const SettingRow& row) { return row.strategy.find("{draft}") != std::string::npos; });
}

/// Text of the searches, second model and settings that a row needs.
std::string needs_of(const ExperimentRow& experiment) {
  std::string needs;
  for (const SearchRow& search : experiment.searches)
    needs += fmt::format("{}{}, ", search.arguments[1], search.by_category ? " for each category" : "");
  if (needs.empty() && experiment.settings.empty()) return "nothing";
  if (experiment.settings.empty()) return needs.substr(0, needs.size() - 2);
  if (drafts_with_other_model(experiment)) needs += "--draft-model, ";
  return needs + points_of(experiment);
}

std::string list_text() {
  Table table({"name", "publication", "item", "needs"}, {});
  for (const ExperimentRow& experiment : experiments())
    table.add_row({experiment.name, experiment.document, experiment.item, needs_of(experiment)});
  return table.text() +
         "\nWith a demo model on one core each takes seconds to two minutes; times grow with prompts, tokens "
         "and settings.\n";
}

std::string list_json() {
  Json json = new_document();
  json["experiments"] = json_list(experiments(), [](const ExperimentRow& experiment) -> Json {
    return {{"experiment", experiment.name},
            {"document", experiment.document},
            {"item", experiment.item},
            {"needs", needs_of(experiment)}};
  });
  return json_text(json);
}

Result<const ExperimentRow*> experiment_named(const std::string& name) {
  std::vector<std::string> names;
  for (const ExperimentRow& experiment : experiments()) {
    if (experiment.name == name) return &experiment;
    names.push_back(experiment.name);
  }
  return fail("{} is no experiment, expected one of reproduce --list; closest: {}", quote(name),
              closest_names(name, names));
}

/// Categories of the prompts, in order of their first appearance.
std::vector<std::string> categories_of(std::span<const traces::Question> questions) {
  std::vector<std::string> categories;
  for (const traces::Question& question : questions) insert_once(categories, question.category);
  return categories;
}

Result<void> write_text(const fs::path& file, const std::string& text) {
  DRAFTSCOPE_TRY_ASSIGN(AtomicFile out, AtomicFile::create(file));
  out.write(text);
  return out.commit();
}

Result<void> write_prompts(std::span<const traces::Question> questions, const CategoryPrompts& prompts) {
  std::string text;
  for (const traces::Question& question : questions) {
    if (question.category != prompts.category) continue;
    const nlohmann::ordered_json line{
        {"question_id", question.question_id}, {"category", question.category}, {"turns", question.turns}};
    text += line.dump() + '\n';
  }
  return write_text(prompts.file, text);
}

/// Whether a step has made a file in the folder: each is a .json or a .dstrace.
Result<bool> has_results(const fs::path& folder) {
  std::error_code error;
  bool found = false;
  for (fs::directory_iterator entry(folder, error), end; !error && !found && entry != end;
       entry.increment(error))
    found = entry->path().extension() == ".json" || entry->path().extension() == ".dstrace";
  if (error) return fail("{}: can't be read: {}", folder.string(), error.message());
  return found;
}

/// Removes a step's file, with the log of a recording.
void remove_output(const Step& step) {
  std::error_code ignored;
  for (const char* const suffix : {"-wal", "-shm", "-journal", ""})
    fs::remove(step.output.string() + suffix, ignored);
}

/// Notes in the folder what its files are made with. Errors: some were made with something else.
Result<void> begin_folder(const ReproduceOptions& options, const Plan& plan, const std::string& made_with) {
  const fs::path& folder = options.settings.folder;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return fail("{}: can't be made: {}", folder.string(), error.message());
  const fs::path file = folder / "commands.sh";
  if (fs::exists(file, error) && !options.overwrite) {
    DRAFTSCOPE_TRY_ASSIGN(const std::string found, read_text_file(file, max_settings_bytes));
    if (found == made_with) return {};
    DRAFTSCOPE_TRY_ASSIGN(const bool has_some, has_results(folder));
    if (has_some)
      return fail(
          "{}: found the commands of another call, expected those of this one (--overwrite replaces "
          "the folder's files)",
          file.string());
  }
  if (options.overwrite)
    for (const std::vector<Step>& steps : {plan.searches, plan.prediction, plan.recording})
      for (const Step& step : steps) remove_output(step);
  fs::remove(folder / output_name, error);
  return write_text(file, made_with);
}

/// Whether a step's file is whole: a finished search, a closed recording of all requests, a prediction.
/// Errors: it can't be read.
Result<bool> is_whole(const Step& step) {
  if (step.arguments.front() == "tune") {
    DRAFTSCOPE_TRY_ASSIGN(const speculation::PolicyFile policy, speculation::read_policy(step.output));
    return policy.finished;
  }
  if (step.arguments.front() != "record") return true;
  DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(step.output));
  DRAFTSCOPE_TRY_ASSIGN(const traces::Recording recording, reader.outline());
  return recording.closed_cleanly && !recording.meta.contains("requests_planned");
}

bool is_there(const Step& step) {
  std::error_code ignored;
  return fs::exists(step.output, ignored);
}

bool is_done(const Step& step) {
  return is_there(step) && is_whole(step).value_or(false);
}

/// Removes the files of steps that rest on one that is to run, even if this call ends before their turn.
void remove_outdated(const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    if (!is_there(step)) continue;
    remove_output(step);
    print_note(fmt::format("{}: rests on a step that runs again; made again", step.output.string()));
  }
}

/// Arguments of a step that is not done: an unfinished search goes on, half a recording is replaced.
std::vector<std::string> arguments_for(const Step& step) {
  std::vector<std::string> arguments = step.arguments;
  const std::string file = step.output.string();
  if (!is_there(step)) {
    remove_output(step);
  } else if (const auto whole = is_whole(step); !whole) {
    remove_output(step);
    print_note(fmt::format("{}; made again", whole.error().message));
  } else if (arguments.front() == "tune") {
    arguments.emplace_back("--resume");
    print_note(fmt::format("{}: found a search that has not ended; it goes on", file));
  } else {
    arguments.emplace_back("--overwrite");  // Refuses a file into which somebody records.
    print_note(fmt::format("{}: found a recording that had not ended; made again", file));
  }
  return arguments;
}

/// Number of a file on its disk; 0 = there is none.
ino_t number_of(const fs::path& file) {
  struct stat facts {};
  return ::stat(file.c_str(), &facts) == 0 ? facts.st_ino : 0;
}

/// Runs a step unless it is done. Where it does not end, a search is kept, and the recording that it began is
/// removed.
Result<int> run_step(const ReproduceOptions& options, const Step& step) {
  if (is_done(step)) return 0;
  std::vector<std::string> arguments = arguments_for(step);
  if (options.quiet) arguments.emplace_back("-q");
  const fs::path printed = options.settings.folder / output_name;
  const OutputTo output(printed);
  if (output.error() != 0)
    return fail("{}: can't be written: {}", printed.string(),
                std::generic_category().message(output.error()));
  const ino_t found = number_of(step.output);
  const int code = run_program(arguments);
  if (code == 0) return 0;
  const ino_t left = number_of(step.output);
  if (arguments.front() == "tune" && code > exit_usage)
    print_note(fmt::format("reproduce: the same call goes on with {}", step.output.string()));
  if (arguments.front() == "record" && left != 0 && left != found) {
    remove_output(step);
    print_note(fmt::format("reproduce: {} was removed, since it is not whole; the same call records it again",
                           step.output.string()));
  }
  return code;
}

/// Runs steps up to one that fails; returns its exit code.
Result<int> run_steps(const ReproduceOptions& options, const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    DRAFTSCOPE_TRY_ASSIGN(const int code, run_step(options, step));
    // A question without an answer fails a simulation, and is no reason not to measure.
    const bool is_refusal = step.arguments.front() == "simulate" && code <= exit_usage;
    if (code != 0 && !is_refusal) return code;
  }
  return 0;
}

/// Runs the plan, whose recording follows from what its searches find; returns the exit code.
Result<int> make_experiment(const ReproduceOptions& options, const ExperimentRow& experiment,
                            std::span<const traces::Question> tune_questions, PlanInputs inputs, Plan& plan) {
  for (const CategoryPrompts& prompts : plan.category_prompts)
    DRAFTSCOPE_TRY(write_prompts(tune_questions, prompts));
  if (!std::all_of(plan.searches.begin(), plan.searches.end(), is_done)) {
    remove_outdated(plan.prediction);
    remove_outdated(plan.recording);
  }
  DRAFTSCOPE_TRY_ASSIGN(const int searched, run_steps(options, plan.searches));
  if (searched != 0) return searched;
  // A search alone is printed as it is.
  if (!experiment.settings.empty()) DRAFTSCOPE_TRY(keep_skip_sets(plan));
  inputs.has_policies = true;
  DRAFTSCOPE_TRY(plan_recording(experiment, inputs, plan));
  if (!plan.prediction.empty() && !is_done(plan.prediction.front()))
    remove_outdated({plan.prediction.begin() + 1, plan.prediction.end()});
  DRAFTSCOPE_TRY_ASSIGN(const int predicted, run_steps(options, plan.prediction));
  if (predicted != 0) return predicted;
  return run_steps(options, plan.recording);
}

/// Says which of the given options no step of the experiment reads.
void note_unread(const CLI::App& command, const ExperimentRow& experiment, const Plan& plan) {
  const bool searches = !plan.searches.empty();
  const bool records = !plan.recording.empty();
  const bool searches_on_prompts = searches && command.count("--tune-prompts") == 0;
  const std::vector<std::pair<const char*, bool>> is_read{
      {"--model", searches || records},
      {"--device", searches || records},
      {"--threads", searches || records},
      {"--prompts", searches_on_prompts || records},
      {"--tune-prompts", searches},
      {"--draft-model", drafts_with_other_model(experiment)},
      {"--max-tokens", records},
      {"--repeats", records},
      {"--limit", records},
  };
  std::vector<std::string> unread;
  for (const auto& [option, read] : is_read)
    if (!read && command.count(option) > 0) unread.emplace_back(option);
  if (!unread.empty())
    print_note(fmt::format("{} reads nothing of {}", experiment.name, fmt::join(unread, ", ")));
}

Result<int> reproduce(ReproduceOptions& options, const CLI::App& command) {
  if (options.list) return print_out(options.json ? list_json() : list_text());
  if (options.name.empty()) {
    print_error("reproduce: found no NAME, expected one of reproduce --list");
    return exit_usage;
  }
  DRAFTSCOPE_TRY_ASSIGN(const ExperimentRow* const experiment, experiment_named(options.name));
  ReproduceSettings& settings = options.settings;
  if (settings.model.empty()) settings.model = experiment->model;
  if (settings.tune_prompts.empty())
    settings.tune_prompts = settings.prompts.empty() ? shipped_tune_prompts : settings.prompts;
  if (settings.prompts.empty()) settings.prompts = shipped_prompts;
  if (!options.device.empty()) settings.machine.insert(settings.machine.end(), {"--device", options.device});
  if (options.threads)
    settings.machine.insert(settings.machine.end(), {"--threads", fmt::format("{}", *options.threads)});
  settings.folder =
      options.output.empty() ? fs::path("reproduced") / experiment->name : fs::path(options.output);

  std::vector<traces::Question> tune_questions;
  if (!experiment->searches.empty() || !experiment->settings.empty()) {
    DRAFTSCOPE_TRY_ASSIGN(tune_questions, traces::read_questions(settings.tune_prompts));
  }
  const PlanInputs inputs{settings, categories_of(tune_questions), [&]() -> Result<std::int32_t> {
                            DRAFTSCOPE_TRY_ASSIGN(
                                const engine::Checkpoint checkpoint,
                                engine::open_model(settings.model, engine::SyntheticMatrices::by_backend));
                            return checkpoint.shape.n_layers;
                          }};
  Plan plan = plan_searches(*experiment, inputs);
  DRAFTSCOPE_TRY(plan_recording(*experiment, inputs, plan));
  note_unread(command, *experiment, plan);
  const std::string commands = plan_text(plan, settings);
  if (options.dry_run) return print_out(commands);
  DRAFTSCOPE_TRY(begin_folder(options, plan, commands));
  DRAFTSCOPE_TRY_ASSIGN(const int code, make_experiment(options, *experiment, tune_questions, inputs, plan));
  if (code != 0) return code;
  DRAFTSCOPE_TRY_ASSIGN(Reproduction reproduction, read_reproduction(*experiment, plan));
  if (const std::string picture = charts_svg(charts_of(reproduction)); !picture.empty()) {
    reproduction.figure = settings.folder / "figure.svg";
    DRAFTSCOPE_TRY(write_text(reproduction.figure, picture));
  }
  return print_out(options.json ? reproduction_json(reproduction)
                                : reproduction_text(reproduction, glyphs_for_stdout()));
}

}  // namespace

void add_reproduce_command(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<ReproduceOptions>();
  ReproduceSettings& settings = options->settings;
  settings.draft_model = "models/demo-draft";
  CLI::App* command =
      app.add_subcommand("reproduce", "Make a figure or table of a publication again, beside what it prints");
  command->footer(
      "Runs tune, simulate and record as --dry-run prints them, and keeps their files: a step whose file is\n"
      "whole is not run again, and a search that was cut off goes on.\n"
      "What can be predicted is predicted before it is measured.\n"
      "figure.svg draws the figure.\n"
      "Example: draftscope reproduce del-table-1\n"
      "         draftscope reproduce clasp-table-1 --model DIR --prompts FILE --device cuda -n 512 -o clasp");
  command->add_option("NAME", options->name, "An experiment of --list");
  command->add_flag("--list", options->list, "List the experiments and what each needs");
  command->add_flag("--dry-run", options->dry_run, "Print the commands, run nothing");
  command->add_option("-m,--model", settings.model, "Target model; default: a demo model that ships");
  command->add_option("--draft-model", settings.draft_model, "Model that drafts where another model does")
      ->capture_default_str();
  command->add_option("--prompts", settings.prompts,
                      fmt::format("Prompts that are measured; default: {}", shipped_prompts));
  command->add_option("--tune-prompts", settings.tune_prompts,
                      fmt::format("Prompts of searches; default: --prompts, or {}", shipped_tune_prompts));
  command->add_option("--device", options->device, "As of record");
  command->add_option("--threads", options->threads, "As of record")
      ->transform(number_in<std::int32_t>({0, 1024}));
  add_number(*command, "-n,--max-tokens", settings.max_tokens, "Tokens to generate a prompt", {.min = 1});
  add_number(*command, "--repeats", settings.repeats, "Repeats of the recording", {.min = 1});
  add_number(*command, "--limit", settings.limit, "Only the first prompts; 0 = all", {.min = 0});
  command->add_option("-o,--output", options->output, "Folder for all files; default: reproduced/NAME");
  command->add_flag("--overwrite", options->overwrite, "Make files again that are there");
  command->add_flag("--json", options->json, "Print JSON");
  command->add_flag("-q,--quiet", options->quiet, "No progress");
  unread_with(*command, "--list",
              {"NAME", "--dry-run", "--model", "--draft-model", "--prompts", "--tune-prompts", "--device",
               "--threads", "--max-tokens", "--repeats", "--limit", "--output", "--overwrite"});
  unread_with(*command, "--dry-run", {"--json", "--overwrite"});
  command->callback([options, command, &outcome] { finish(outcome, reproduce(*options, *command)); });
}

}  // namespace draftscope::cli
