// SPDX-License-Identifier: GPL-3.0-or-later
// `draftscope chat`, with its lines read from a file.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "printed.h"
#include "process.h"
#include "trace_files.h"

namespace draftscope::cli {
namespace {

using ::testing::HasSubstr;

class ChatCommand : public ::testing::Test {
 protected:
  ChatCommand() {
    give_chat_template(folder_,
                       "{% for m in messages %}# {{ m['role'] }}\n{{ m['content'] }}\n{% endfor %}# code\n");
  }

  /// Runs a chat with these lines as input.
  [[nodiscard]] ProcessResult chat(const std::string& lines, const std::string& more,
                                   const std::string& model = "") const {
    const std::string input = folder_ / "input";
    std::ofstream(input) << lines;
    return run_process(words_of("chat --model {} " + more, {model.empty() ? (folder_ / "").string() : model}),
                       [&input] { redirect(STDIN_FILENO, input.c_str(), O_RDONLY); });
  }

  TemporaryFolder folder_;
};

std::int64_t lines_in(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n');
}

TEST_F(ChatCommand, SaysTheSameUnderEveryStrategyAndSavesIt) {
  std::string expected;
  for (const char* strategy : {"vanilla", "layerskip:exit=7,gamma=5", "swift:every=1", "lookahead"})
    for (const std::string sampling : {"", "--temperature 0.8 --coupled"}) {
      const std::string file =
          (folder_ / (std::string("saved-") + strategy + (sampling.empty() ? "0" : "0.8"))).string();
      const ProcessResult result =
          chat("/system Be brief.\nWrite a function.\n\n/strategy " + std::string(strategy) +
                   "\nAnd a class.\nOnce more.\n/save " + file + "\n/quit\nnever said\n",
               fmt::format("--strategy {} --max-tokens 24 --repetition-penalty 1.1 {}", strategy, sampling));
      EXPECT_EQ(result.exit_code, 0) << result.err;
      std::istringstream lines(bytes_of(file));
      std::vector<nlohmann::json> messages;
      for (std::string line; std::getline(lines, line);) messages.push_back(nlohmann::json::parse(line));
      ASSERT_EQ(messages.size(), 7U);
      EXPECT_EQ(messages[0], (nlohmann::json{{"role", "system"}, {"content", "Be brief."}}));
      std::string replies;
      for (std::size_t i = 2; i < messages.size(); i += 2) {
        EXPECT_EQ(messages[i]["role"], "assistant");
        replies += messages[i]["content"].get<std::string>() + '\n';
      }
      EXPECT_EQ(result.out, replies);
      if (strategy == std::string("vanilla")) expected += result.out;
      EXPECT_THAT(expected, HasSubstr(result.out)) << strategy;
    }
}

TEST_F(ChatCommand, NotesAsOtherCommandsDoThatAPolicyWasMadeForAnotherCheckpoint) {
  const std::string file = folder_ / "policy.json";
  const std::string shipped = DRAFTSCOPE_SOURCE_DIR "/models/demo-layerskip";
  expect_success(run_line(
      "tune --model {} --prompts {} --search skip-set --trials 1 --limit 1 --max-tokens 4 --quiet -o {} "
      "--objective acceptance-model",
      shipped, DRAFTSCOPE_SOURCE_DIR "/traces/prompts/demo.jsonl", file));
  nlohmann::json policy = nlohmann::json::parse(bytes_of(file));
  policy["model"]["checkpoint_hash"] = "0123";
  std::ofstream(file) << policy;
  const std::string strategy = "tuned:policy=" + file;
  const auto expect_noted = [&](const auto& result) {
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.err, testing::StartsWith(file + ": was made for another checkpoint ("));
    EXPECT_EQ(lines_in(result.err), 1) << result.err;
  };
  expect_noted(chat("/quit\n", "--quiet --strategy " + strategy));
  expect_noted(chat("/strategy " + strategy + "\n", "--quiet"));
  expect_noted(run_line("generate --model {} --prompt x -n 2 --quiet --strategy {}", shipped, strategy));
  expect_noted(run_command(record_arguments(folder_ / "run.dstrace",
                                            "--limit 1 -n 2 --repeats 1 --quiet --strategy " + strategy)));
}

TEST_F(ChatCommand, SaysAfterEveryReplyWhatItCost) {
  const ProcessResult result =
      chat("Write a function.\n/strategy layerskip:exit=7\nAnd a class.\n", "--max-tokens 24");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(lines_in(result.err), 2) << result.err;
  const std::string first = result.err.substr(0, result.err.find('\n'));
  const std::string second = result.err.substr(first.size() + 1);
  EXPECT_THAT(first, testing::ContainsRegex("^[0-9]+ tokens · [0-9.]+ tokens/s · ended by "));
  EXPECT_THAT(second,
              testing::ContainsRegex("accepted per round · [0-9.]+x vanilla \\(over 8 steps\\) · ended"));
  EXPECT_EQ(chat("Write a function.\n", "--max-tokens 24 --quiet").err, "");
}

TEST_F(ChatCommand, RefusesALineAndGoesOn) {
  const std::string taken = (folder_ / "taken").string();
  std::ofstream(taken) << "mine";
  for (const std::string& odd :
       {std::string("/nonsense"), std::string("/strategy nope"), std::string("/strategy two-model"),
        std::string("/save"), std::string("/reset all"), "/save " + taken, std::string("\xC3"),
        std::string(5000, 'x')}) {
    const ProcessResult result = chat(odd + "\nWrite\n", "--max-tokens 4 --context 256");
    EXPECT_EQ(result.exit_code, 1) << odd;
    EXPECT_EQ(lines_in(result.err), 2) << "the refusal and the reply's line: " << result.err;
    EXPECT_THAT(result.err, testing::StartsWith("draftscope: ")) << odd;
    EXPECT_GT(result.out.size(), 1U) << odd;
  }
  EXPECT_EQ(bytes_of(taken), "mine");
  EXPECT_THAT(chat(std::string(5000, 'x'), "--context 256").err, HasSubstr("/reset begins anew"));
}

TEST_F(ChatCommand, FillsTheContextAndSaysWhatToDo) {
  const ProcessResult result = chat("Write a function.\n/reset\nWrite\n", "--max-tokens 500 --context 48");
  EXPECT_THAT(result.err, HasSubstr("ended by context · the context is full: /reset begins anew"));
  EXPECT_EQ(lines_in(result.err), 2) << "and after the reset it replies: " << result.err;
}

TEST_F(ChatCommand, JoinsTurnsWhereThereIsNoTemplate) {
  const std::string plain = DRAFTSCOPE_SOURCE_DIR "/models/demo-layerskip";
  const ProcessResult result = chat("def f(x):\ndef g(x):\n", "--max-tokens 8", plain);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("no chat template: it goes on with the turns, joined by blank lines\n"));
  EXPECT_GT(result.out.size(), 2U);
  const ProcessResult refused = chat("x\n", "--system short", plain);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_EQ(lines_in(refused.err), 1) << refused.err;
}

}  // namespace
}  // namespace draftscope::cli
