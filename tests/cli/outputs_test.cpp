// SPDX-License-Identifier: GPL-3.0-or-later
// Outputs that a command must refuse: an empty name, its own input, somebody's folder or device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "printed.h"
#include "trace_files.h"

namespace draftscope::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// A command that writes, without its output.
struct Writing {
  std::vector<std::string> arguments;
  std::string output = "--output";
};

class Outputs : public ::testing::Test {
 protected:
  Outputs() {
    write_trace(trace_, small_recording(), small_spans());
    fs::copy_file(DRAFTSCOPE_SOURCE_DIR "/traces/prompts/demo.jsonl", prompts_);
    std::ofstream(answers_) << "{\"question_id\": 1, \"choices\": []}\n";
    writings_ = {{words_of("record --model {} --prompts {} --strategy vanilla", {model_, prompts_})},
                 {words_of("import {} --from spec-bench", {answers_})},
                 {words_of("merge {}", {trace_})},
                 {words_of("export {} --to perfetto", {trace_})},
                 {words_of("export {} --to spec-bench", {trace_})},
                 {words_of("simulate {} --strategy dv:exit=2", {trace_})},
                 {words_of("simulate {}", {trace_}), "--write"},
                 {words_of("advise {}", {trace_})},
                 {words_of("calibrate")},
                 {words_of("tune --model {} --prompts {} --search grid", {model_, prompts_})}};
  }

  [[nodiscard]] std::string refusal(const Writing& writing, const std::string& output,
                                    bool overwrite = true) const {
    std::vector<std::string> arguments = writing.arguments;
    arguments.insert(arguments.end(), {writing.output, output});
    if (overwrite) arguments.emplace_back("--overwrite");
    const CommandResult result = run_command(arguments);
    EXPECT_EQ(result.exit_code, 1) << writing.arguments.front() << " " << output << ": " << result.err;
    EXPECT_EQ(result.out, "");
    return result.err;
  }

  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& file : fs::directory_iterator(folder_ / "")) names.push_back(file.path());
    std::sort(names.begin(), names.end());
    return names;
  }

  TemporaryFolder folder_;
  std::string trace_ = (folder_ / "small.dstrace").string();
  std::string prompts_ = (folder_ / "prompts.jsonl").string();
  std::string answers_ = (folder_ / "answers.jsonl").string();
  std::string model_ = DRAFTSCOPE_SOURCE_DIR "/models/demo-layerskip";
  std::vector<Writing> writings_;
};

TEST_F(Outputs, ThatNameNoFileAreRefusedByEveryCommand) {
  const std::vector<std::string> before = files();
  for (const Writing& writing : writings_) {
    EXPECT_THAT(refusal(writing, ""), HasSubstr("found an empty name")) << writing.arguments.front();
    EXPECT_THAT(refusal(writing, ":memory:"), HasSubstr("names no file")) << writing.arguments.front();
    EXPECT_THAT(refusal(writing, "file:x"), HasSubstr("names no file")) << writing.arguments.front();
    EXPECT_THAT(refusal(writing, (folder_ / "absent" / "x").string()), HasSubstr("found no folder"));
    EXPECT_THAT(refusal(writing, "/dev/null"), HasSubstr("expected")) << writing.arguments.front();
  }
  EXPECT_EQ(files(), before);
}

TEST_F(Outputs, ThatAreInputsAreRefusedByEveryCommand) {
  for (const Writing& writing : writings_)
    for (const std::string& input : {trace_, prompts_, answers_}) {
      const auto& arguments = writing.arguments;
      if (std::find(arguments.begin(), arguments.end(), input) == arguments.end()) continue;
      const std::string before = bytes_of(input);
      const std::string link = input + ".link";
      fs::create_hard_link(input, link);
      for (const std::string& name : {input, link})
        EXPECT_THAT(refusal(writing, name), HasSubstr("is the same file as the input"))
            << arguments.front() << " " << name;
      fs::remove(link);
      EXPECT_EQ(bytes_of(input), before) << arguments.front();
    }
}

TEST_F(Outputs, ThatAStrategyOrAModelIsReadFromAreRefused) {
  const std::string policy = (folder_ / "policy.json").string();
  std::ofstream(policy) << "{}";
  const Writing tuned{
      words_of("record --model {} --prompts {} --strategy tuned:policy={}", {model_, prompts_, policy})};
  EXPECT_THAT(refusal(tuned, policy), HasSubstr("is the same file as the input"));
  const fs::path model = folder_ / "model";
  fs::copy(model_, model);
  const Writing own{words_of("record --model {} --prompts {} --strategy vanilla", {model, prompts_})};
  for (const char* file : {"config.json", "model.safetensors", "tokenizer.json"})
    EXPECT_THAT(refusal(own, (model / file).string()), HasSubstr("is the same file as the input")) << file;
  EXPECT_EQ(bytes_of(policy), "{}");
}

TEST_F(Outputs, ThatExistAreKeptUnlessToldOtherwise) {
  const std::string old = (folder_ / "old").string();
  std::ofstream(old) << "old";
  for (const Writing& writing : writings_) {
    EXPECT_THAT(refusal(writing, old, false), HasSubstr("expected")) << writing.arguments.front();
    EXPECT_EQ(bytes_of(old), "old");
  }
}

TEST_F(Outputs, ThatWouldTakeSomebodysFilesForTheirLogAreRefused) {
  const std::string notes = (folder_ / "notes").string();
  for (const char* suffix : {"-journal", "-wal", "-shm"}) {
    std::ofstream(notes + suffix) << "mine";
    for (const bool overwrite : {false, true})
      for (const Writing& writing : writings_) {
        const std::string& name = writing.arguments.front();
        if (name != "record" && name != "import" && writing.output != "--write") continue;
        EXPECT_THAT(refusal(writing, notes, overwrite), HasSubstr(std::string("notes") + suffix)) << name;
      }
    EXPECT_EQ(bytes_of(notes + suffix), "mine");
    fs::remove(notes + suffix);
  }
  EXPECT_FALSE(fs::exists(notes));
}

TEST_F(Outputs, AreKeptWhereALaterPromptIsTooLong) {
  const std::string old = (folder_ / "old.dstrace").string();
  fs::copy_file(trace_, old);
  std::ofstream(prompts_, std::ios::app)
      << R"({"question_id": 4711, "category": "long", "turns": [")" << std::string(60'000, 'x') << "\"]}\n";
  const std::string message = refusal(writings_.front(), old);
  EXPECT_THAT(message, HasSubstr("prompts.jsonl: question 4711, turn 1: prompt: found "));
  EXPECT_THAT(message, HasSubstr("(the context"));
  EXPECT_EQ(bytes_of(old), bytes_of(trace_));
}

/// The test covers every option and argument that takes a small file.
TEST_F(Outputs, AreNotBegunWhereAnInputIsNoRegularFile) {
  const std::string pipe = (folder_ / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::string output = (folder_ / "output").string();
  const std::string sample = DRAFTSCOPE_SOURCE_DIR "/traces/samples/early-exit.dstrace";
  for (const std::string& odd : {pipe, std::string("/dev/zero"), (folder_ / "").string()}) {
    SCOPED_TRACE(odd);
    const auto expect_refused = [](const auto&... line_and_values) {
      expect_one_line(run_line(line_and_values...), "regular file");
    };
    expect_refused("record --model {} --strategy vanilla --output {} --prompts {}", model_, output, odd);
    expect_refused("tune --model {} --search grid --output {} --prompts {}", model_, output, odd);
    expect_refused("generate --model {} --prompt-file {}", model_, odd);
    expect_refused("simulate {} --gpu-spec {}", sample, odd);
    expect_refused("simulate {} --calibration {}", sample, odd);
    expect_refused("merge --output {} {}", output, odd);
    expect_refused("import --output {} {}", output, odd);
    expect_refused("import --output {} --from layerskip {}", output, odd);
    expect_refused("validate {}", odd);
    expect_refused("reproduce clasp-figure-4c -o {} --prompts {}", output, odd);
    expect_refused("report {}", odd);
    expect_refused("inspect {}", odd);
    expect_refused("generate --model {} --prompt x --strategy tuned:policy={}", model_, odd);
  }
  EXPECT_FALSE(fs::exists(output));
}

TEST_F(Outputs, AreNotBegunWhereATokenizerIsAPipe) {
  const fs::path model = folder_ / "model";
  fs::copy(model_, model);
  for (const char* file : {"tokenizer.json", "tokenizer_config.json", "config.json"}) {
    fs::remove(model / file);
    ASSERT_EQ(::mkfifo((model / file).c_str(), 0600), 0);
    expect_one_line(run_line("generate --model {} --prompt x", model), "expected a regular file");
    fs::remove(model / file);
    fs::copy_file(fs::path(model_) / file, model / file);
  }
}

}  // namespace
}  // namespace draftscope::cli
