// SPDX-License-Identifier: GPL-3.0-or-later
#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "example_policy.h"

namespace draftscope::engine {
namespace {

using ::testing::HasSubstr;

TEST(PolicyFile, IsReadAsItWasWritten) {
  const Policy policy = example_policy();
  const std::string text = policy_json(policy);
  const auto read = parse_policy(text, "policy.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(policy_json(*read), text);
  EXPECT_EQ(read->repeats, policy.repeats);
  EXPECT_EQ(read->finalists, policy.finalists);
  EXPECT_EQ(read->skip_set, policy.skip_set);
  EXPECT_EQ(read->prompts, policy.prompts);
  EXPECT_EQ(read->settings, policy.settings);
  ASSERT_EQ(read->trials.size(), 3U);
  EXPECT_EQ(read->trials[0].candidate->point, policy.trials[0].candidate->point);
  EXPECT_EQ(read->trials[1].candidate->mask, policy.trials[1].candidate->mask);
  EXPECT_FALSE(read->trials[2].candidate);
}

TEST(PolicyFile, HoldsTheSpreadOfItsRepeats) {
  const auto json = nlohmann::json::parse(policy_json(example_policy()));
  EXPECT_EQ(json["score"]["median"], 1.25);
  EXPECT_EQ(json["score"]["minimum"], 0.1 + 0.2);
  EXPECT_EQ(json["score"]["maximum"], 1.25);
  EXPECT_EQ(score_spread({{1.0}, {2.0}, {4.0}, {3.0}})->median, 2.5);
  EXPECT_FALSE(score_spread({}));
}

TEST(PolicyFile, CutOffAnywhereIsOneLineThatNamesIt) {
  std::string text = policy_json(example_policy());
  text.resize(text.find_last_of('}'));
  for (std::size_t length = 0; length <= text.size(); ++length) {
    const auto read = parse_policy(text.substr(0, length), "cut.json");
    ASSERT_FALSE(read) << length;
    EXPECT_THAT(read.error().message, HasSubstr("cut.json"));
    EXPECT_EQ(std::count(read.error().message.begin(), read.error().message.end(), '\n'), 0);
  }
}

TEST(PolicyFile, IsRefusedWhereAFieldIsWrong) {
  struct Refusal {
    const char* pointer;
    nlohmann::json value;
    const char* message;
  };
  const Refusal refusals[] = {
      {"/draftscope_policy", 2, "draftscope_policy"},
      {"/finished", "yes", "finished"},
      {"/strategy", 7, "strategy"},
      {"/strategy", "", "without strategy"},
      {"/extra", 1, "unknown field 'extra'"},
      {"/score/extra", 1, "unknown field score.'extra'"},
      {"/score/repeats/0/score", "high", "score.repeats[0].score"},
      {"/finalists", 1, "finalists"},
      {"/finalists/0", 1, "finalists[0]"},
      {"/finalists/1/extra", 1, "unknown field finalists[1].'extra'"},
      {"/finalists/1/setting", 1, "finalists[1].setting"},
      {"/finalists/1/score", nullptr, "finalists[1].score"},
      {"/finalists/0/score/repeats/2/score", "high", "finalists[0].score.repeats[2].score"},
      {"/skip_sets", nlohmann::json::object(), "skip_sets"},
      {"/skip_sets/default/mlp", {4}, "skip_sets.default"},
      {"/model", 1, "model"},
      {"/model/n_layers", 0, "n_layers"},
      {"/machine/threads", nlohmann::json::array(), "machine.threads"},
      {"/trials", 3, "trials"},
      {"/trials/0", 3, "trials[0]"},
      {"/trials/1/extra", 3, "unknown field trials[1].'extra'"},
      {"/trials/1/prompts", 0, "trials[1].prompts"},
      {"/trials/1/origin", "luck", "trials[1].origin"},
      {"/trials/1/point", "0", "trials[1].point"},
      {"/trials/1/skipped/attention", {9}, "trials[1].skipped"},
      {"/trials/2/score", nullptr, "trials[2].score"},
  };
  const auto good = nlohmann::json::parse(policy_json(example_policy()));
  for (const Refusal& refusal : refusals) {
    auto bad = good;
    bad[nlohmann::json::json_pointer(refusal.pointer)] = refusal.value;
    const auto read = parse_policy(bad.dump(), "bad.json");
    ASSERT_FALSE(read) << refusal.pointer;
    EXPECT_THAT(read.error().message, ::testing::StartsWith("bad.json: ")) << refusal.pointer;
    EXPECT_THAT(read.error().message, HasSubstr(refusal.message)) << refusal.pointer;
  }
  for (const auto& [key, value] : good.items()) {
    // Null before there is one; older files name no finalists.
    if (key == "score" || key == "skip_sets" || key == "finalists") continue;
    auto bad = good;
    bad.erase(key);
    EXPECT_FALSE(parse_policy(bad.dump(), "bad.json")) << key;
  }
  EXPECT_THAT(parse_policy(R"({"llama": {"attention": [], "mlp": []}})", "other.json").error().message,
              HasSubstr("expected a policy of draftscope tune"));
}

}  // namespace
}  // namespace draftscope::engine
