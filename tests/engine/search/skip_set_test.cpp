// SPDX-License-Identifier: GPL-3.0-or-later
// Tests how skip_layers.json is read and written, and what is refused.

#include <draftscope/engine/skip_set.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scored_sets.h"
#include "scratch_file.h"

namespace draftscope::engine {
namespace {

using ::testing::HasSubstr;

TEST(SkipSet, IsReadFromTheFormOfThePublishedFiles) {
  const ScratchFile file;
  file.write(R"({
  "llama-2-13b": {
    "attention": [3, 5, 37],
    "mlp": [6, 35]
  },
  "llama-2-13b_cnndm": {
    "attention":  [2],
    "mlp": []
  }
})");
  const auto set = read_skip_set(file.path(), "llama-2-13b", 40).value();
  EXPECT_EQ(set, speculation::SublayerMask(40)
                     .skip_attention(3)
                     .skip_attention(5)
                     .skip_attention(37)
                     .skip_mlp(6)
                     .skip_mlp(35));
  EXPECT_EQ(read_skip_set(file.path(), "llama-2-13b_cnndm", 40).value(),
            speculation::SublayerMask(40).skip_attention(2));
}

TEST(SkipSet, IsReadAsItWasWritten) {
  const ScratchFile file;
  const auto sets = {std::pair{"a", best_of_twelve()},
                     std::pair{"quoted \" name", speculation::SublayerMask(12)},
                     std::pair{"all", speculation::SublayerMask::early_exit(12, 0)}};
  for (const auto& [name, set] : sets) ASSERT_TRUE(write_skip_set(file.path(), name, set));
  for (const auto& [name, set] : sets) EXPECT_EQ(read_skip_set(file.path(), name, 12).value(), set) << name;
}

TEST(SkipSet, WritesAListALine) {
  const ScratchFile file;
  ASSERT_TRUE(write_skip_set(file.path(), "demo",
                             speculation::SublayerMask(4).skip_attention(1).skip_attention(2).skip_mlp(3)));
  EXPECT_EQ(file.read(), "{\n  \"demo\": {\n    \"attention\": [1,2],\n    \"mlp\": [3]\n  }\n}\n");
}

TEST(SkipSet, ReplacesOneSetAndLeavesTheOthers) {
  const ScratchFile file;
  file.write(R"({"b": {"attention": [1], "mlp": [0]}, "c": {"note": "not ours"}})");
  ASSERT_TRUE(write_skip_set(file.path(), "b", speculation::SublayerMask(4).skip_mlp(2)));
  ASSERT_TRUE(write_skip_set(file.path(), "a", speculation::SublayerMask(4)));
  EXPECT_EQ(read_skip_set(file.path(), "b", 4).value(), speculation::SublayerMask(4).skip_mlp(2));
  EXPECT_THAT(file.read(), HasSubstr(R"({"note":"not ours"})"));
}

TEST(SkipSet, LeavesAFileAloneThatItCannotRead) {
  const ScratchFile file;
  file.write("[1, 2]");
  EXPECT_THAT(write_skip_set(file.path(), "a", speculation::SublayerMask(4)).error().message,
              HasSubstr("expected a JSON object"));
  EXPECT_EQ(file.read(), "[1, 2]");
}

TEST(SkipSet, RefusesToWriteANameThatIsNoText) {
  const ScratchFile file;
  EXPECT_THAT(write_skip_set(file.path(), "\xff", speculation::SublayerMask(4)).error().message,
              HasSubstr("not UTF-8"));
  EXPECT_FALSE(std::filesystem::exists(file.path()));
}

struct BadFile {
  const char* text;
  const char* complaint;
};

class BadSkipSet : public ::testing::TestWithParam<BadFile> {};

TEST_P(BadSkipSet, IsRefusedInOneLine) {
  const ScratchFile file;
  file.write(GetParam().text);
  const auto set = read_skip_set(file.path(), "m", 8);
  ASSERT_FALSE(set);
  EXPECT_THAT(set.error().message, HasSubstr(GetParam().complaint));
  EXPECT_THAT(set.error().message, ::testing::StartsWith(file.path().string()));
  EXPECT_THAT(set.error().message, ::testing::Not(HasSubstr("\n")));
}

INSTANTIATE_TEST_SUITE_P(
    Files, BadSkipSet,
    ::testing::Values(
        BadFile{"", "not valid JSON"}, BadFile{"{\"m\": ", "not valid JSON"},
        BadFile{"7", "found 7, expected a JSON"},
        BadFile{R"({"m": {"attention": [], "mlp": []}, "m": 1})", "the key 'm' occurs twice"},
        BadFile{"{}", "has no set 'm', expected one of none: the file holds no set"},
        BadFile{R"({"a": 1, "b\n": 2})", R"(has no set 'm', expected one of 'a', 'b\x0a')"},
        BadFile{R"({"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1})", "'f' and 2 more"},
        BadFile{R"({"m": [1, 2]})", "'m' is an array, expected an object"},
        BadFile{R"({"m": {"mlp": []}})", "'m'.attention is missing, expected a list"},
        BadFile{R"({"m": {"attention": []}})", "'m'.mlp is missing, expected a list"},
        BadFile{R"({"m": {"attention": [], "mlp": [], "mlps": []}})", "'m' holds 'mlps', expected"},
        BadFile{R"({"m": {"attention": 3, "mlp": []}})", "'m'.attention is 3, expected a list"},
        BadFile{R"({"m": {"attention": null, "mlp": []}})", "'m'.attention is null, expected a list"},
        BadFile{R"({"m": {"attention": [1, 8], "mlp": []}})",
                "'m'.attention[1] is 8, expected an integer from 0 to 7"},
        BadFile{R"({"m": {"attention": [], "mlp": [-1]}})", "'m'.mlp[0] is -1, expected an integer"},
        BadFile{R"({"m": {"attention": [2.0], "mlp": []}})", "attention[0] is 2.0, expected an integer"},
        BadFile{R"({"m": {"attention": ["2"], "mlp": []}})", "attention[0] is '2', expected an integer"},
        BadFile{R"({"m": {"attention": [true], "mlp": []}})", "attention[0] is true, expected an integer"},
        BadFile{R"({"m": {"attention": [[2]], "mlp": []}})", "attention[0] is an array, expected an integer"},
        BadFile{R"({"m": {"attention": [18446744073709551615], "mlp": []}})",
                "is 18446744073709551615, expected"},
        BadFile{R"({"m": {"attention": [4, 5, 4], "mlp": []}})",
                "'m'.attention[2] is 4 again, expected each layer once"}));

TEST(SkipSet, SaysThatAFileIsNotThere) {
  EXPECT_THAT(read_skip_set("/nowhere/skip_layers.json", "m", 8).error().message,
              HasSubstr("/nowhere/skip_layers.json: no such file"));
}

}  // namespace
}  // namespace draftscope::engine
