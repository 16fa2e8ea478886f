// SPDX-License-Identifier: GPL-3.0-or-later
// Tests how skip_layers.json is read, and what is refused.

#include <draftscope/engine/skip_set.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../../temporary_folder.h"

namespace draftscope::engine {
namespace {

using ::testing::HasSubstr;

TEST(SkipSet, IsReadFromTheFormOfThePublishedFiles) {
  const draftscope::test::TemporaryFolder folder;
  const auto file = folder / "skip_layers.json";
  draftscope::test::write_bytes(file, R"({
  "llama-2-13b": {
    "attention": [3, 5, 37],
    "mlp": [6, 35]
  },
  "llama-2-13b_cnndm": {
    "attention":  [2],
    "mlp": []
  }
})");
  const auto set = read_skip_set(file, "llama-2-13b", 40).value();
  EXPECT_EQ(set, speculation::SublayerMask(40)
                     .skip_attention(3)
                     .skip_attention(5)
                     .skip_attention(37)
                     .skip_mlp(6)
                     .skip_mlp(35));
  EXPECT_EQ(read_skip_set(file, "llama-2-13b_cnndm", 40).value(),
            speculation::SublayerMask(40).skip_attention(2));
}

struct BadFile {
  const char* text;
  const char* complaint;
};

class BadSkipSet : public ::testing::TestWithParam<BadFile> {};

TEST_P(BadSkipSet, IsRefusedInOneLine) {
  const draftscope::test::TemporaryFolder folder;
  const auto file = folder / "skip_layers.json";
  draftscope::test::write_bytes(file, GetParam().text);
  const auto set = read_skip_set(file, "m", 8);
  ASSERT_FALSE(set);
  EXPECT_THAT(set.error().message, HasSubstr(GetParam().complaint));
  EXPECT_THAT(set.error().message, ::testing::StartsWith(file.string()));
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
