// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/checked_answer.h>
#include <gtest/gtest.h>

#include <vector>

namespace draftscope::simulator {
namespace {

QuestionKind kind(const std::string& asked, const std::vector<std::string>& recorded) {
  std::vector<StrategySetting> settings;
  for (const std::string& specification : recorded)
    settings.push_back(setting_of_specification(specification));
  return kind_of_setting(setting_of_specification(asked), settings);
}

TEST(QuestionKind, IsWhatTheNearestRecordedSettingDiffersIn) {
  const std::vector<std::string> recorded{"layerskip:exit=4,gamma=6", "layerskip:exit=7,gamma=2",
                                          "dv:exit=7,threshold=0.6"};
  EXPECT_EQ(kind("layerskip:gamma=6,exit=4", recorded), QuestionKind::recorded_again);
  EXPECT_EQ(kind("layerskip:exit=7,gamma=6", recorded), QuestionKind::unseen_length);
  EXPECT_EQ(kind("layerskip:exit=5,gamma=6", recorded), QuestionKind::unseen_exit);
  EXPECT_EQ(kind("layerskip:exit=4,gamma=6,verify=above-exit", recorded), QuestionKind::unseen_rule);
  EXPECT_EQ(kind("dv:exit=7,threshold=0.8", recorded), QuestionKind::unseen_rule);
  EXPECT_EQ(kind("fs:exit=7", recorded), QuestionKind::unseen_strategy);
  EXPECT_EQ(kind("layerskip:exit=4,gamma=6", {}), QuestionKind::unseen_strategy);
}

TEST(QuestionKind, OfARunCountsDefaultsToo) {
  const traces::Run spelled{.strategy = "layerskip",
                            .specification = "layerskip:exit=4,gamma=6",
                            .parameters = R"({"exit":4,"gamma":6})"};
  const traces::Run silent{
      .strategy = "layerskip", .specification = "layerskip:exit=4", .parameters = R"({"exit":4,"gamma":6})"};
  const std::vector<StrategySetting> recorded{setting_of_run(spelled)};
  EXPECT_EQ(kind_of_setting(setting_of_run(silent), recorded), QuestionKind::recorded_again);
}

}  // namespace
}  // namespace draftscope::simulator
