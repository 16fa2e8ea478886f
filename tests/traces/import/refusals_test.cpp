// SPDX-License-Identifier: GPL-3.0-or-later
// What is refused: in one line that names file and place, with nothing left behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "imported.h"

namespace draftscope::traces {
namespace {

using ::testing::HasSubstr;

struct Refusal {
  ImportFormat format;
  std::string_view text;
  std::string_view words;  ///< in the message, behind the file's name
};

class Refused : public ::testing::TestWithParam<Refusal> {};

TEST_P(Refused, InOneLineThatLeavesNothing) {
  const ImportFolder folder;
  const auto file = folder.write("input", GetParam().text);
  ImportOptions options;
  options.format = GetParam().format;
  const auto imported = import_recordings({file}, options, folder / "out.dstrace");
  ASSERT_FALSE(imported);
  EXPECT_THAT(imported.error().message, HasSubstr(file.string()));
  EXPECT_THAT(imported.error().message, HasSubstr(std::string(GetParam().words)));
  EXPECT_EQ(imported.error().message.find('\n'), std::string::npos);
  EXPECT_EQ(folder.files(), 1U) << "the input alone";
}

constexpr auto spec_bench = ImportFormat::spec_bench;
constexpr auto acceptance = ImportFormat::acceptance;
constexpr auto chrome = ImportFormat::chrome;

INSTANTIATE_TEST_SUITE_P(
    Input, Refused,
    ::testing::Values(
        Refusal{spec_bench, "", "is empty"},
        Refusal{spec_bench, "{\"question_id\":1,", "line 1: is not JSON"},
        Refusal{spec_bench, "[1]", "line 1: is array, expected a JSON object"},
        Refusal{spec_bench, "{\"question_id\":\"one\"}", "question_id is 'one', expected an integer"},
        Refusal{spec_bench, "{\"question_id\":-1}", "question_id is -1, expected an integer from 0"},
        Refusal{spec_bench, "{\"question_id\":1e999}", "number that is too large"},
        Refusal{spec_bench, "{\"question_id\":1,\"category\":\"\xff\"}", "line 1: is not JSON"},
        Refusal{spec_bench, "{\"question_id\":1}", "choices is missing"},
        Refusal{spec_bench, R"({"question_id":1,"choices":[{"turns":["a"],"new_tokens":[1,2]}]})",
                "new_tokens has 2 entries, expected one a turn (1)"},
        Refusal{spec_bench,
                R"({"question_id":1,"choices":[{"turns":["a"],"new_tokens":[1],"accept_lengths":[-3]}]})",
                "accept_lengths[0] is -3"},
        Refusal{spec_bench, R"({"question_id":1,"choices":[{"turns":["a"],"new_tokens":[99999999]}]})",
                "new_tokens[0] is 99999999"},
        Refusal{spec_bench,
                R"({"question_id":1,"choices":[{"turns":["a"],"new_tokens":[1],"wall_time":[-1]}]})",
                "wall_time[0] is -1, expected a duration"},
        Refusal{ImportFormat::swift, R"({"model_id":"x"})", "choices is missing"},
        Refusal{ImportFormat::layerskip, R"({"acceptance_rate":{"mean":0.5)",
                "object 1: ends early, expected a whole JSON object"},
        Refusal{ImportFormat::layerskip, R"({"a":1}{"acceptance_rate":3})",
                "acceptance_rate is 3, expected an object"},
        Refusal{ImportFormat::layerskip, "exit_layer,x\n1,2\n", "the column num_speculations is missing"},
        Refusal{acceptance, R"({"accepted":[3],"drafted":[2]})", "accepts 3 draft tokens, expected at most"},
        Refusal{acceptance, R"({"accepted":[1],"drafted":[2,2]})", "draft lengths of 2 rounds"},
        Refusal{acceptance, R"({"acceptance":[[0,1]]})", "acceptance[0][1] is 1 behind a 0"},
        Refusal{acceptance, R"({"id":1})", "has none of per_step_accepted"},
        Refusal{chrome, R"([{"ph":"X","ts":1,"dur":1,"name":"a"})", "is not JSON at byte"},
        Refusal{chrome, R"({"a":1})", "has no traceEvents"}, Refusal{chrome, "[3]", "event 1 is no object"},
        Refusal{chrome, R"([{"ph":"X","ts":-1,"dur":1}])", "event 1: ts is -1, expected microseconds"},
        Refusal{chrome, R"([{"ph":"X","ts":"now","dur":1}])", "event 1: ts is no number"},
        Refusal{chrome, R"([{"ph":"X","ts":1e30,"dur":1}])", "event 1: ts is 1e30"},
        Refusal{chrome, R"([{"ph":"X","ts":1,"name":"a"}])", "event 1 (\"a\") has no dur"},
        Refusal{chrome, R"([{"ph":"E","pid":1,"tid":2,"ts":1}])",
                "event 1 ends what never began on thread 1/2"},
        Refusal{chrome, R"([{"ph":"B","ts":1,"name":"a"}])", "event 1 (\"a\") begins and never ends"},
        Refusal{chrome, R"([{"ph":"B","ts":1,"name":"a"},{"ph":"E","ts":2,"name":"b"}])",
                "expected the end of \"a\""},
        Refusal{chrome, R"([{"ph":"X","ts":1,"dur":1,"name":"round","args":{"accepted":9}}])",
                "planned is no integer"},
        Refusal{chrome, R"([{"ph":"X","ts":1,"dur":1,"name":"round"}])", "in no request of its thread"},
        Refusal{ImportFormat::nsys, "not a database", "file is not a database"}));

TEST(Import, LeavesTheOldFileWhereANewOneIsRefused) {
  const ImportFolder folder;
  const auto old = folder.write("out.dstrace", "old");
  ImportOptions options;
  EXPECT_FALSE(import_recordings({fixture("chrome/pairs.json")}, options, old))
      << "replacing was not asked for";
  options.overwrite = true;
  EXPECT_FALSE(import_recordings({folder.write("bad.json", "[")}, options, old));
  std::ostringstream text;
  text << std::ifstream(old).rdbuf();
  EXPECT_EQ(text.str(), "old");
  EXPECT_TRUE(import_recordings({fixture("chrome/pairs.json")}, options, old));
}

TEST(Import, StopsWhenTheCallerSaysSoAndLeavesNothing) {
  const ImportFolder folder;
  for (const char* const name : {"chrome/pairs.json", "swift/answers.jsonl", "layerskip/sweep.csv"}) {
    const auto imported = import_recordings({fixture(name)}, {}, folder / "out.dstrace",
                                            [](std::int64_t, std::int64_t) { return false; });
    ASSERT_FALSE(imported) << name;
    EXPECT_EQ(imported.error().message, "import cancelled");
    EXPECT_EQ(folder.files(), 0U);
  }
}

TEST(Import, KeepsTimelinesApartAndRunsDistinct) {
  const ImportFolder folder;
  EXPECT_FALSE(
      import_recordings({fixture("chrome/pairs.json"), fixture("swift/answers.jsonl")}, {}, folder / "a"));
  EXPECT_FALSE(
      import_recordings({fixture("swift/answers.jsonl"), fixture("swift/answers.jsonl")}, {}, folder / "b"));
  EXPECT_EQ(folder.files(), 0U);
}

TEST(Import, TellsTheFormatFromTheFilesBeginning) {
  for (const auto& [name, format] : std::vector<std::pair<std::string, ImportFormat>>{
           {"spec_bench/vanilla.jsonl", ImportFormat::spec_bench},
           {"swift/answers.jsonl", ImportFormat::swift},
           {"layerskip/benchmark.json", ImportFormat::layerskip},
           {"layerskip/sweep.csv", ImportFormat::layerskip},
           {"acceptance/per_step.jsonl", ImportFormat::acceptance},
           {"chrome/pairs.json", ImportFormat::chrome},
           {"chrome/rounds.json", ImportFormat::chrome},
           {"nsys/two_rounds.sqlite", ImportFormat::nsys}}) {
    const auto found = detect_import_format(fixture(name));
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(*found, format) << name;
  }
  const ImportFolder folder;
  EXPECT_THAT(detect_import_format(folder.write("packed.gz", "\x1f\x8b\x08")).error().message,
              HasSubstr("compressed"));
  EXPECT_FALSE(detect_import_format(folder / "absent"));
}

}  // namespace
}  // namespace draftscope::traces
