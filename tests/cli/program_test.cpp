// SPDX-License-Identifier: GPL-3.0-or-later
// Behaviour of the program in a shell, in a batch system or with a full disk: a clear exit code, at most one
// line, and nothing lost.
#include <draftscope/traces/reader.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "../value_of.h"
#include "printed.h"
#include "process.h"
#include "trace_files.h"

namespace draftscope::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* model = DRAFTSCOPE_SOURCE_DIR "/models/demo-layerskip";
constexpr const char* sample = DRAFTSCOPE_SOURCE_DIR "/traces/samples/early-exit.dstrace";

std::vector<std::string> recording(const std::filesystem::path& output, int tokens = 8, int repeats = 1) {
  return record_arguments(
      output, fmt::format("--limit 2 --strategy vanilla --max-tokens {} --repeats {}", tokens, repeats));
}

void expect_sound(const std::filesystem::path& trace) {
  auto reader = value_of(traces::Reader::open(trace));
  const auto violations = value_of(reader.validate());
  EXPECT_TRUE(violations.empty()) << violations.front().rule;
}

std::int64_t lines_of(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n');
}

class Program : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
};

TEST_F(Program, FailsAsEverWithoutAStderr) {
  const std::vector<std::string> refused{"report", (folder_ / "absent").string()};
  EXPECT_EQ(run_process(refused, [] { ::close(STDERR_FILENO); }).exit_code, 1);
  EXPECT_EQ(run_process(refused, [] { redirect(STDERR_FILENO, "/dev/full", O_WRONLY); }).exit_code, 1);
  EXPECT_EQ(run_process({"nosuch"}, [] { ::close(STDERR_FILENO); }).exit_code, 2);
}

TEST_F(Program, KeepsMessagesOutOfFilesThatTookAClosedStreamsNumber) {
  const auto output = folder_ / "run.dstrace";
  const ProcessResult result = run_process(recording(output), [] {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(stream);
  });
  EXPECT_EQ(result.exit_code, 0);
  expect_sound(output);
}

TEST_F(Program, SaysThatItsOutputCouldNotBeWritten) {
  for (const auto& command :
       {words_of("--help"), words_of("--version"), words_of("record --help"), words_of("strategies"),
        words_of("report {}", {sample}), words_of("report {} --json", {sample}),
        words_of("explain {}", {sample}), words_of("inspect {}", {sample}),
        words_of("generate --model {} --prompt x -n 4", {model})}) {
    const ProcessResult full = run_process(command, [] { redirect(STDOUT_FILENO, "/dev/full", O_WRONLY); });
    EXPECT_EQ(full.exit_code, 1) << command.front();
    EXPECT_THAT(full.err, HasSubstr("standard output: can't be written: No space left on device"))
        << command.front();
    EXPECT_EQ(lines_of(full.err), 1) << command.front() << full.err;
    const ProcessResult closed = run_process(command, [] { ::close(STDOUT_FILENO); });
    EXPECT_EQ(closed.exit_code, 1) << command.front();
    const ProcessResult unread = run_process(command, [] {
      int ends[2] = {-1, -1};
      if (::pipe(ends) != 0) ::_exit(126);
      ::close(ends[0]);
      ::dup2(ends[1], STDOUT_FILENO);
    });
    EXPECT_EQ(unread.exit_code, 1) << command.front() << ": nobody reads";
  }
}

TEST_F(Program, LetsNoControlCharacterReachTheTerminal) {
  const ProcessResult result =
      run_process({"report", (folder_ / "a\033[31m\nb\xc2\x9b\xff\xe2\x80\xae").string()});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("a\\x1b[31m\\x0ab\\xc2\\x9b\\xff\\xe2\\x80\\xae: no such file\n"));
  EXPECT_EQ(lines_of(result.err), 1);
}

TEST_F(Program, CutsAMessageThatHasNoEnd) {
  const ProcessResult result = run_process({"record", "--no-" + std::string(100'000, 'x')});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_LE(result.err.size(), 1'100U);
  EXPECT_EQ(lines_of(result.err), 1);
}

TEST_F(Program, EndsWellOnEverySignalThatAsksItTo) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const auto output = folder_ / ("signal" + std::to_string(signal));
    const ProcessResult result =
        run_and_signal(recording(output, 200, 1000), signal, [&] { return std::filesystem::exists(output); });
    EXPECT_EQ(result.exit_code, 128 + signal);
    EXPECT_THAT(result.err, StartsWith("interrupted: "));
    expect_sound(output);
    EXPECT_FALSE(std::filesystem::exists(output.string() + "-wal")) << "the trace was closed";
    traces::Reader reader = value_of(traces::Reader::open(output));
    EXPECT_EQ(value_of(reader.outline()).meta.at("requests_planned"), "2000");
  }
}

TEST_F(Program, GoesOnWhereHangupIsIgnored) {
  const auto output = folder_ / "run.dstrace";
  const ProcessResult result = run_and_signal(
      recording(output, 24, 3), SIGHUP, [&] { return std::filesystem::exists(output); },
      [] { std::signal(SIGHUP, SIG_IGN); });
  EXPECT_EQ(result.exit_code, 0) << result.err;
  expect_sound(output);
}

TEST_F(Program, SaysWhichFileReachedTheSizeLimit) {
  for (const rlim_t bytes : {rlim_t{4096}, rlim_t{65536}, rlim_t{262144}}) {
    const auto output = folder_ / ("limit" + std::to_string(bytes));
    const ProcessResult result = run_process(recording(output, 100, 20), [bytes] {
      const struct rlimit limit { bytes, bytes };
      ::setrlimit(RLIMIT_FSIZE, &limit);
    });
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_EQ(lines_of(result.err), 1) << result.err;
    EXPECT_THAT(result.err, HasSubstr(output.filename().string())) << result.err;
    if (std::filesystem::exists(output)) expect_sound(output);
    for (const auto& file : std::filesystem::directory_iterator(output.parent_path()))
      EXPECT_THAT(file.path().filename().string(), Not(HasSubstr(".partial")));
  }
}

TEST_F(Program, ClosesTheTraceWhenItsWeightsAreShortened) {
  for (const std::uintmax_t bytes : {std::uintmax_t{0}, std::uintmax_t{5'000'000}}) {
    const auto own = folder_ / ("model" + std::to_string(bytes));
    std::filesystem::copy(model, own);
    const auto output = folder_ / ("run" + std::to_string(bytes));
    std::vector<std::string> arguments = recording(output, 200, 1000);
    arguments[2] = own.string();
    const auto shorten = [&] {
      if (!std::filesystem::exists(output)) return false;
      std::filesystem::resize_file(own / "model.safetensors", bytes);
      return true;
    };
    const ProcessResult result = run_and_signal(arguments, SIGCONT, shorten);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, HasSubstr("model.safetensors: can't be read any more from byte "));
    EXPECT_EQ(lines_of(result.err), 1) << result.err;
    expect_sound(output);
    EXPECT_FALSE(std::filesystem::exists(output.string() + "-wal")) << "the trace was closed";
  }
}

TEST_F(Program, SaysThatItsWeightsWereChanged) {
  const auto own = folder_ / "model";
  std::filesystem::copy(model, own);
  const auto output = folder_ / "run";
  std::vector<std::string> arguments = recording(output, 200, 1000);
  arguments[2] = own.string();
  const auto change = [&] {
    if (!std::filesystem::exists(output)) return false;
    std::fstream file(own / "model.safetensors", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(1'000'000);
    file << "other weights";
    return true;
  };
  const ProcessResult result = run_and_signal(arguments, SIGCONT, change);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("model.safetensors: was changed while it was used"));
  expect_sound(output);
}

TEST_F(Program, SaysInALineThatADeviceIsNotThere) {
  for (auto arguments : {recording(folder_ / "run.dstrace"),
                         words_of("serve --model {} --strategy vanilla --port 0 --output {}",
                                  {model, folder_ / "served.dstrace"})}) {
    arguments.insert(arguments.end(), {"--device", "cuda:99"});
    const ProcessResult result = run_process(arguments);
    EXPECT_EQ(result.exit_code, 1) << arguments.front();
    EXPECT_EQ(lines_of(result.err), 1) << result.err;
    EXPECT_THAT(result.err, HasSubstr("expected")) << arguments.front();
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / ""));
}

TEST_F(Program, SaysWhatIsNoCommandAndNoOption) {
  const ProcessResult command = run_process({"repotr", "x"});
  EXPECT_EQ(command.exit_code, 2);
  EXPECT_THAT(command.err, StartsWith("draftscope: 'repotr' is no command, expected report"));
  const ProcessResult option = run_process({"record", "--promtps", "x", "--model", "x"});
  EXPECT_EQ(option.exit_code, 2);
  EXPECT_THAT(option.err, StartsWith("draftscope: record: '--promtps' is no option, expected --prompts"));
  const ProcessResult further = run_process({"report", sample, "further"});
  EXPECT_THAT(further.err, HasSubstr("found 'further', expected no further argument"));
  EXPECT_THAT(run_process({}).err, HasSubstr("found no command, expected one of generate, chat, record"));
  for (const ProcessResult& result : {command, option, further}) EXPECT_EQ(lines_of(result.err), 1);
}

}  // namespace
}  // namespace draftscope::cli
