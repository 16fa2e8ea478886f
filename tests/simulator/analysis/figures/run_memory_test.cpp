// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/figures.h>
#include <gtest/gtest.h>

#include <string>

namespace draftscope::simulator {
namespace {

std::optional<RunMemory> of(const std::string& text, traces::RunId run = 2) {
  return run_memory({{"run_memory", text}}, run);
}

TEST(RunMemory, IsReadAsItWasWritten) {
  const auto memory = of(
      R"({"1":{},"2":{"peak_bytes":100,"weight_bytes":40,"draft_weight_bytes":10,"kv_bytes":20,"workspace_bytes":5}})");
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->peak_bytes, 100);
  EXPECT_EQ(memory->draft_weight_bytes, 10);
  EXPECT_EQ(memory->other_bytes(), 25);
}

TEST(RunMemory, HasNoRestBelowNothing) {
  const auto resident = of(
      R"({"2":{"peak_bytes":30,"weight_bytes":40,"draft_weight_bytes":0,"kv_bytes":20,"workspace_bytes":5}})");
  EXPECT_EQ(resident->other_bytes(), 0);
  const auto unknown = of(
      R"({"2":{"peak_bytes":0,"weight_bytes":40,"draft_weight_bytes":0,"kv_bytes":20,"workspace_bytes":5}})");
  EXPECT_FALSE(unknown->peak_bytes);
  EXPECT_FALSE(unknown->other_bytes());
}

TEST(RunMemory, IsAbsentWhereItIsMissingOrDamaged) {
  EXPECT_FALSE(run_memory({}, 1));
  for (
      const std::string text :
      {"", "[]", "{}", R"({"2":3})", R"({"2":{"weight_bytes":1}})",
       R"({"2":{"weight_bytes":-1,"draft_weight_bytes":0,"kv_bytes":0,"workspace_bytes":0}})",
       R"({"2":{"weight_bytes":1e300,"draft_weight_bytes":0,"kv_bytes":0,"workspace_bytes":0}})",
       R"({"2":{"weight_bytes":18446744073709551615,"draft_weight_bytes":0,"kv_bytes":0,"workspace_bytes":0}})"})
    EXPECT_FALSE(of(text)) << text;
}

}  // namespace
}  // namespace draftscope::simulator
