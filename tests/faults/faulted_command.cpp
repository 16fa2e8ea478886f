// SPDX-License-Identifier: GPL-3.0-or-later
#include "faulted_command.h"

#include <draftscope/traces/reader.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>

#include "../cli/command_words.h"
#include "../temporary_folder.h"

namespace draftscope::test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view error_prefix = "draftscope: ";
constexpr std::size_t longest_error = 400;
// Message of the program when a third-party destructor found no memory, so that it could not clean up.
constexpr std::string_view ended_at_once = "files named *.partial may be left";

constexpr const char* model = DRAFTSCOPE_SOURCE_DIR "/models/demo-draft";
constexpr const char* spec_bench = DRAFTSCOPE_SOURCE_DIR "/tests/fuzz/corpus/import/spec_bench/";

using cli::words_of;

std::vector<std::string> record_arguments(const std::string& prompts, const std::string& output) {
  return words_of(
      "record --model {} --prompts {} --max-tokens 6 --threads 2 --strategy vanilla "
      "--strategy layerskip:exit=1,gamma=2 --level ops --shadow --quiet --output {}",
      {model, prompts, output});
}

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
  return text;
}

/// Every file under a folder, by its relative name, with its bytes.
std::map<std::string, std::string> files_in(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = fs::relative(entry.path(), folder).string();
    if (entry.is_regular_file())
      files[name] = bytes_of(entry.path());
    else
      files[name + "/"];
  }
  return files;
}

std::string names_of(const std::map<std::string, std::string>& files) {
  std::string names;
  for (const auto& [name, bytes] : files) names += fmt::format(" {} ({} bytes)", name, bytes.size());
  return names;
}

/// Removes the lines of a prediction that say when and how it was written.
std::string undated(const std::string& prediction) {
  std::istringstream lines(prediction);
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    const auto has = [&](std::string_view key) { return line.find(key) != std::string::npos; };
    if (!has("\"command_line\"") && !has("\"created") && !has("\"digest\"")) kept += line + '\n';
  }
  return kept;
}

/// Parts that two recordings of the same command must have in common: all but times and paths.
struct Recorded {
  std::vector<std::vector<std::int32_t>> tokens;  ///< per request
  std::vector<std::int32_t> accepted;             ///< per round
  bool closed_cleanly = false;
  friend bool operator==(const Recorded&, const Recorded&) = default;
};

Result<Recorded> recorded(const fs::path& path) {
  DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(path));
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<traces::Violation> violations, reader.validate());
  if (!violations.empty())
    return fail("{}: {} row {}: {}", path.string(), violations[0].table, violations[0].row,
                violations[0].rule);
  DRAFTSCOPE_TRY_ASSIGN(const traces::Recording recording, reader.recording());
  Recorded result;
  for (const traces::Request& request : recording.requests) result.tokens.push_back(request.tokens);
  for (const traces::Round& round : recording.rounds) result.accepted.push_back(round.accepted);
  result.closed_cleanly = recording.closed_cleanly;
  return result;
}

}  // namespace

std::vector<FaultedCommand> faulted_commands() {
  const std::string simulate =
      "simulate IN/run.dstrace --strategy layerskip:exit=1,gamma=1 --draws 200 --quiet";
  return {{"start", {"--version"}},
          {"generate", words_of("generate --model {} --strategy layerskip:exit=1,gamma=2 --prompt {} "
                                "--max-tokens 6 --threads 2 --quiet",
                                {model, "def f(x):"})},
          {"record", record_arguments("IN/prompts.jsonl", "OUT/run.dstrace"), Output::recording},
          {"report", words_of("report IN/run.dstrace")},
          {"explain", words_of("explain IN/run.dstrace --measured-only --quiet")},
          {"compare", words_of("compare IN/run.dstrace IN/run.dstrace")},
          {"inspect", words_of("inspect IN/run.dstrace --validate")},
          {"simulate", words_of(simulate)},
          {"simulate_write", words_of(simulate + " --write OUT/predicted.dstrace")},
          {"simulate_output", words_of(simulate + " --output OUT/prediction.json"), Output::prediction},
          {"import", words_of("import {}layerskip_exit=2,gamma=4.jsonl --baseline {}vanilla.jsonl "
                              "--output OUT/imported.dstrace",
                              {spec_bench, spec_bench})},
          {"report_json", words_of("report IN/run.dstrace --by category --json")},
          {"strategies_json", words_of("strategies --json")},
          {"export_perfetto", words_of("export IN/run.dstrace --to perfetto --output OUT/exported")},
          {"export_spec_bench", words_of("export IN/run.dstrace --to spec-bench --output OUT/exported")}};
}

std::optional<std::string> make_inputs(const fs::path& folder) {
  const std::string prompts = folder / "prompts.jsonl";
  std::ofstream(prompts) << R"({"question_id": 1, "category": "code", "turns": ["def f(x):"]})" << '\n'
                         << R"({"question_id": 2, "category": "text", "turns": ["Once"]})" << '\n';
  const cli::ProcessResult ended = cli::run_process(record_arguments(prompts, folder / "run.dstrace"));
  if (ended.exit_code != 0) return fmt::format("exit code {}: {}", ended.exit_code, ended.err);
  return std::nullopt;
}

FaultedRun::FaultedRun(const FaultedCommand& command, const fs::path& inputs, fs::path folder,
                       const std::vector<std::string>& environment, std::int64_t max_file_bytes)
    : kind_(command.output), folder_(std::move(folder)), inputs_(inputs), inputs_before_(files_in(inputs)) {
  fs::create_directories(folder_ / "out");
  fs::create_directories(folder_ / "tmp");
  std::vector<std::string> arguments;
  for (const std::string& argument : command.arguments)
    arguments.push_back(
        replaced(replaced(argument, "IN/", inputs.string() + "/"), "OUT/", (folder_ / "out/").string()));
  std::vector<std::string> variables = environment;
  variables.push_back("TMPDIR=" + (folder_ / "tmp").string());
  ended_ = cli::run_process(
      arguments,
      [max_file_bytes] {
        const rlimit no_core{0, 0};
        ::setrlimit(RLIMIT_CORE, &no_core);
        const rlimit file{static_cast<rlim_t>(max_file_bytes), static_cast<rlim_t>(max_file_bytes)};
        if (max_file_bytes >= 0) ::setrlimit(RLIMIT_FSIZE, &file);
        cli::redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
      },
      variables);
  ended_.out = replaced(std::move(ended_.out), folder_.string(), "…");
}

std::optional<std::string> FaultedRun::objection(const FaultedRun& whole) const {
  if (ended_.exit_code < 0) return fmt::format("signal {}: {}", -ended_.exit_code, ended_.err);
  if (files_in(inputs_) != inputs_before_) return "the inputs are not what they were";
  if (const auto left = files_in(folder_ / "tmp"); !left.empty())
    return "left in the folder for temporary files:" + names_of(left);
  switch (ended_.exit_code) {
    case 0:
      return objection_to_success(whole);
    case 1:
      return objection_to_failure(whole);
    default:
      return fmt::format("exit code {}: {}", ended_.exit_code, ended_.err);
  }
}

std::optional<std::string> FaultedRun::objection_to_success(const FaultedRun& whole) const {
  if (ended_.err != whole.ended_.err) return "succeeds, but says: " + ended_.err;
  if (ended_.out != whole.ended_.out) return "succeeds with another text: " + ended_.out;
  if (kind_ == Output::recording) {
    const auto found = recorded(output() / "run.dstrace");
    if (!found) return "succeeds with a broken trace: " + found.error().message;
    if (*found != recorded(whole.output() / "run.dstrace")) return "succeeds with another recording";
    return std::nullopt;
  }
  std::map<std::string, std::string> files = files_in(output());
  std::map<std::string, std::string> expected = files_in(whole.output());
  if (kind_ == Output::prediction)
    for (auto* both : {&files, &expected})
      for (auto& [name, bytes] : *both) bytes = undated(bytes);
  if (files != expected) return fmt::format("succeeds and leaves:{}", names_of(files));
  return std::nullopt;
}

std::optional<std::string> FaultedRun::objection_to_failure(const FaultedRun& whole) const {
  const std::string& err = ended_.err;
  if (!err.starts_with(error_prefix) || std::count(err.begin(), err.end(), '\n') != 1 || err.back() != '\n' ||
      err.size() == error_prefix.size() + 1 || err.size() > longest_error)
    return fmt::format("fails with other than one line on stderr: {}{}", err, ended_.out);
  if (!whole.ended_.out.starts_with(ended_.out)) return "fails with another text: " + ended_.out;
  std::map<std::string, std::string> files = files_in(output());
  if (kind_ == Output::recording && files.contains("run.dstrace")) {
    const auto found = recorded(output() / "run.dstrace");
    if (!found) return fmt::format("fails ({}) with a broken trace: {}", err, found.error().message);
    for (const char* const name : {"run.dstrace", "run.dstrace-wal", "run.dstrace-shm"}) files.erase(name);
  }
  if (err.find(ended_at_once) != std::string::npos)
    std::erase_if(files, [](const auto& file) { return file.first.find(".partial") != std::string::npos; });
  if (!files.empty()) return fmt::format("fails ({}) and leaves:{}", err, names_of(files));
  return std::nullopt;
}

}  // namespace draftscope::test
