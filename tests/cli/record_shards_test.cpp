// SPDX-License-Identifier: GPL-3.0-or-later
// A recording made in parts must equal the recording made as a whole.
#include <draftscope/traces/reader.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>

#include "printed.h"
#include "trace_files.h"

namespace draftscope::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class Shards : public ::testing::Test {
 protected:
  [[nodiscard]] CommandResult record(const std::string& further = "") const {
    return run_command(record_arguments(
        output_,
        "--limit 5 --max-tokens 12 --repeats 2 --temperature 0.8 -s vanilla -s layerskip:exit=7,gamma=4 " +
            further));
  }

  /// Texts and rounds, which do not depend on clocks, by run, question and repeat.
  using Key = std::tuple<std::string, std::int64_t, std::int32_t>;
  using Told = std::map<Key, std::string>;
  static Told told_by(const fs::path& path) {
    auto reader = traces::Reader::open(path);
    EXPECT_TRUE(reader);
    const auto recording = reader->recording();
    EXPECT_TRUE(recording) << path;
    std::map<traces::RequestId, Key> keys;
    Told told;
    for (const traces::Request& request : recording->requests) {
      const auto run = std::ranges::find(recording->runs, request.run_id, &traces::Run::id);
      const auto prompt = std::ranges::find(recording->prompts, request.prompt_id, &traces::Prompt::id);
      keys[request.id] = {run->specification, prompt->question_id, request.repeat};
      told[keys[request.id]] = request.text;
    }
    for (const traces::Round& round : recording->rounds)
      told[keys[round.request_id]] += fmt::format("|{} {} {}", round.drafted, round.accepted, round.emitted);
    return told;
  }

  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_ / ""), {}));
  }

  TemporaryFolder folder_;
  std::string output_ = (folder_ / "run.dstrace").string();
};

TEST_F(Shards, AreTogetherWhatOneProcessRecords) {
  expect_success(record());
  const Told whole = told_by(output_);
  EXPECT_EQ(whole.size(), 5U * 2U * 2U);
  fs::remove(output_);
  const fs::path scratch = folder_ / "scratch";
  fs::create_directory(scratch);
  std::vector<std::string> merge = words_of("merge --output {}", {output_});
  for (const char* shard : {"3/3", "1/3", "2/3"}) {
    // The output's folder by another name is as good as any.
    const fs::path folder = shard[0] == '2' ? folder_ / "." : scratch;
    expect_success(record(fmt::format("--shard {} --scratch {}", shard, folder.string())));
    const fs::path file = folder_ / fmt::format("run.{}-of-3.dstrace", shard[0]);
    EXPECT_TRUE(fs::exists(file));
    merge.push_back(file.string());
  }
  EXPECT_TRUE(fs::is_empty(scratch));
  EXPECT_FALSE(fs::exists(output_));
  const CommandResult merged = run_command(merge);
  ASSERT_EQ(merged.exit_code, 0) << merged.err;
  EXPECT_THAT(merged.out, HasSubstr("3 shards: 20 requests"));
  EXPECT_EQ(told_by(output_), whole);
}

TEST_F(Shards, AreNamedWhereTheyAreMissing) {
  expect_success(record("--shard 1/2"));
  expect_success(run_line("merge {} --partial --output {}", folder_ / "run.1-of-2.dstrace", output_));
  const std::string note = "merged from 1 of 2 shards, without the prompts of 2/2";
  for (const char* const command : {"report", "inspect", "explain"}) {
    EXPECT_THAT(printed_text(std::string(command) + " {}", output_), HasSubstr(note)) << command;
    EXPECT_THAT(printed_json(std::string(command) + " {} --json", output_).dump(), HasSubstr(note))
        << command;
  }
}

TEST_F(Shards, ThatAreRecordedAreNotRecordedAgain) {
  expect_success(record("--shard 2/4"));
  const fs::path file = folder_ / "run.2-of-4.dstrace";
  const std::string before = bytes_of(file);
  const CommandResult again = record("--shard 2/4");
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_THAT(again.err, HasSubstr("is there already"));
  EXPECT_EQ(bytes_of(file), before);
  expect_success(record("--shard 2/4 --overwrite"));
  EXPECT_NE(bytes_of(file), before);
  // The file of a killed task is overwritten, and a file that is no shard of this experiment is kept.
  fs::rename(file, file.string() + ".partial");
  expect_success(record("--shard 2/4"));
  EXPECT_EQ(files(), 1U);
  fs::rename(file, folder_ / "run.3-of-4.dstrace");
  expect_one_line(record("--shard 3/4"), "is shard 2/4, expected 3/4 (--overwrite replaces it)");
}

TEST_F(Shards, AreRefusedInOneLine) {
  const auto expect_refused = [&](const std::string& further, const char* why) {
    expect_one_line(record(further), why);
    EXPECT_EQ(files(), 0U) << why;
  };
  expect_refused("--shard 0/4", "shard: found '0/4', expected I/N with 1 <= I <= N");
  expect_refused("--shard 6/6", "found 5 questions, expected at least 6 for shard 6/6");
  expect_usage_error(record("--scratch /tmp"), "found --scratch, expected it only with --shard");
  expect_refused("--shard 1/2 --scratch /absent/folder", "found no folder");
  expect_refused("--shard task", "shard: found no task of Slurm or MPI in the environment, expected I/N");
}

}  // namespace
}  // namespace draftscope::cli
