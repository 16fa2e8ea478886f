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
    writings_ = {{{"record", "--model", model_, "--prompts", prompts_, "--strategy", "vanilla"}},
                 {{"import", answers_, "--from", "spec-bench"}},
                 {{"merge", trace_}},
                 {{"export", trace_, "--to", "chrome"}},
                 {{"export", trace_, "--to", "spec-bench"}},
                 {{"simulate", trace_, "--strategy", "dv:exit=2"}},
                 {{"simulate", trace_}, "--write"},
                 {{"advise", trace_}},
                 {{"calibrate"}},
                 {{"tune", "--model", model_, "--prompts", prompts_, "--search", "grid"}}};
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
    for (const auto& file : fs::directory_iterator(folder_ / "")) names.push_back(file.path().string());
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
      const std::string before = read_file(input);
      const std::string link = input + ".link";
      fs::create_hard_link(input, link);
      for (const std::string& name : {input, link})
        EXPECT_THAT(refusal(writing, name), HasSubstr("is the same file as the input"))
            << arguments.front() << " " << name;
      fs::remove(link);
      EXPECT_EQ(read_file(input), before) << arguments.front();
    }
}

TEST_F(Outputs, ThatAStrategyOrAModelIsReadFromAreRefused) {
  const std::string policy = (folder_ / "policy.json").string();
  std::ofstream(policy) << "{}";
  const Writing tuned{
      {"record", "--model", model_, "--prompts", prompts_, "--strategy", "tuned:policy=" + policy}};
  EXPECT_THAT(refusal(tuned, policy), HasSubstr("is the same file as the input"));
  const fs::path model = folder_ / "model";
  fs::copy(model_, model);
  const Writing own{{"record", "--model", model.string(), "--prompts", prompts_, "--strategy", "vanilla"}};
  for (const char* file : {"config.json", "model.safetensors", "tokenizer.json"})
    EXPECT_THAT(refusal(own, (model / file).string()), HasSubstr("is the same file as the input")) << file;
  EXPECT_EQ(read_file(policy), "{}");
}

TEST_F(Outputs, ThatExistAreKeptUnlessToldOtherwise) {
  const std::string old = (folder_ / "old").string();
  std::ofstream(old) << "old";
  for (const Writing& writing : writings_) {
    EXPECT_THAT(refusal(writing, old, false), HasSubstr("expected")) << writing.arguments.front();
    EXPECT_EQ(read_file(old), "old");
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
    EXPECT_EQ(read_file(notes + suffix), "mine");
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
  EXPECT_EQ(read_file(old), read_file(trace_));
}

/// The test covers every option and argument that takes a small file.
TEST_F(Outputs, AreNotBegunWhereAnInputIsNoRegularFile) {
  const std::string pipe = (folder_ / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::string output = (folder_ / "output").string();
  const std::string sample = DRAFTSCOPE_SOURCE_DIR "/traces/samples/early-exit.dstrace";
  const std::vector<std::vector<std::string>> readings{
      {"record", "--model", model_, "--strategy", "vanilla", "--output", output, "--prompts"},
      {"tune", "--model", model_, "--search", "grid", "--output", output, "--prompts"},
      {"generate", "--model", model_, "--prompt-file"},
      {"simulate", sample, "--gpu-spec"},
      {"simulate", sample, "--calibration"},
      {"merge", "--output", output},
      {"import", "--output", output},
      {"import", "--output", output, "--from", "layerskip"},
      {"validate"},
      {"reproduce", "clasp-figure-4c", "-o", output, "--prompts"},
      {"report"},
      {"inspect"},
      {"generate", "--model", model_, "--prompt", "x", "--strategy"}};
  for (const auto& reading : readings)
    for (const std::string& odd : {pipe, std::string("/dev/zero"), (folder_ / "").string()}) {
      std::vector<std::string> arguments = reading;
      arguments.push_back(arguments.back() == "--strategy" ? "tuned:policy=" + odd : odd);
      const CommandResult result = run_command(arguments);
      SCOPED_TRACE(reading.front() + ' ' + reading.back() + ' ' + odd);
      expect_one_line(result, "regular file");
    }
  EXPECT_FALSE(fs::exists(output));
}

TEST_F(Outputs, AreNotBegunWhereATokenizerIsAPipe) {
  const fs::path model = folder_ / "model";
  fs::copy(model_, model);
  for (const char* file : {"tokenizer.json", "tokenizer_config.json", "config.json"}) {
    fs::remove(model / file);
    ASSERT_EQ(::mkfifo((model / file).c_str(), 0600), 0);
    const CommandResult result = run_command({"generate", "--model", model.string(), "--prompt", "x"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, HasSubstr("expected a regular file")) << file;
    fs::remove(model / file);
    fs::copy_file(fs::path(model_) / file, model / file);
  }
}

}  // namespace
}  // namespace draftscope::cli
