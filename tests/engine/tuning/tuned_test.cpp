// SPDX-License-Identifier: GPL-3.0-or-later
// Tests --strategy tuned:policy=FILE, and the skip set inside a policy and inside a strategy's text.

#include <draftscope/engine/skip_set.h>
#include <draftscope/engine/strategy.h>
#include <draftscope/speculation/skip_set_text.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "example_policy.h"
#include "temporary_folder.h"

namespace draftscope::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string refusal(const std::string& specification, const speculation::ModelShape& shape = small_shape()) {
  const auto made = make_strategy(specification, shape);
  if (made) return "none";
  EXPECT_THAT(made.error().message, Not(HasSubstr("\n")));
  return made.error().message;
}

/// A file with a policy, in a folder of its own.
struct PolicyFile {
  draftscope::test::TemporaryFolder folder;
  std::filesystem::path path = folder / "policy.json";
  std::string parameter = "policy=" + path.string();

  explicit PolicyFile(const Policy& policy = example_policy()) { write(policy); }
  void write(const Policy& policy) const { EXPECT_TRUE(write_policy(path, policy)); }
};

TEST(Tuned, ConfiguresWhatThePolicySays) {
  const PolicyFile file;
  const auto made = make_strategy("tuned:" + file.parameter, small_shape(), {{}, "0123abcd"});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->name, "tuned");
  const auto parameters = nlohmann::json::parse(made->parameters);
  EXPECT_EQ(parameters["parameters"]["gamma"], 4);
  EXPECT_EQ(parameters["parameters"]["skip-attention"], "1+3");
  EXPECT_FALSE(parameters.contains("warning"));
  made->strategy->begin_request({});
  const RoundPlan plan = made->strategy->plan({.remaining_tokens = 9});
  EXPECT_EQ(plan.draft_length, 4);
  ASSERT_NE(plan.mask, nullptr);
  EXPECT_EQ(*plan.mask, *example_policy().skip_set);
}

TEST(Tuned, SaysThatItsPolicyWasMadeForAnotherCheckpoint) {
  const PolicyFile file;
  for (const std::string hash : {"", "0123abcd", "9999"})
    for (const std::string name : {"tuned:", "auto:"}) {
      const auto made = make_strategy(name + file.parameter, small_shape(), {{}, hash});
      ASSERT_TRUE(made) << made.error().message;
      EXPECT_EQ(made->note, hash == "9999" ? file.path.string() +
                                                 ": was made for another checkpoint (small, hash 0123abcd), "
                                                 "so another setting may be faster here"
                                           : "");
      if (name == "auto:") continue;
      const auto parameters = nlohmann::json::parse(made->parameters);
      EXPECT_EQ(parameters.value("warning", ""), made->note) << "a trace has it too";
    }
  EXPECT_EQ(make_strategy("auto", small_shape(), {{}, "9999"}).value().note, "");
}

TEST(Tuned, RefusesAnotherModelsPolicyAndSaysWhatOneWithoutAnEndLacks) {
  const PolicyFile file;
  speculation::ModelShape wider = small_shape();
  wider.d_ff = 32;
  for (const char* name : {"tuned:", "auto:"}) {
    file.write(example_policy());
    EXPECT_THAT(refusal(name + file.parameter, wider), HasSubstr("a model of d_ff '16', expected 32"));
    for (const bool is_shard : {false, true}) {
      Policy policy = example_policy();
      policy.finished = false;
      if (is_shard) policy.settings[policy_shard] = "2/3";
      file.write(policy);
      EXPECT_EQ(refusal(name + file.parameter),
                file.path.string() +
                    (is_shard ? ": is shard 2/3 of a search, expected the policy of all shards (draftscope "
                                "tune --from-shards)"
                              : ": the search is not finished, expected one that is (draftscope tune "
                                "--resume)"));
    }
  }
}

TEST(Tuned, RefusesInOneLine) {
  EXPECT_THAT(refusal("tuned"), HasSubstr("policy is missing"));
  EXPECT_THAT(refusal("tuned:policy=/absent/policy.json"), HasSubstr("/absent/policy.json"));
  const PolicyFile file;
  const std::string specification = "tuned:" + file.parameter;
  Policy policy = example_policy();
  policy.strategy = "turbo:speed=9";
  file.write(policy);
  EXPECT_THAT(refusal(specification), HasSubstr("field strategy: strategy: unknown name 'turbo'"));
  policy.strategy = specification;
  file.write(policy);
  EXPECT_THAT(refusal(specification), HasSubstr("expected another strategy's"));
}

TEST(AutoByPolicy, HoldsInItsParametersWhatThePolicyTaughtIt) {
  const PolicyFile file;
  const auto made = make_strategy("auto:" + file.parameter, small_shape());
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_THAT(made->specification, HasSubstr("policy="));
  const auto parameters = nlohmann::json::parse(made->parameters);
  EXPECT_EQ(parameters["exits"], 2);
  EXPECT_EQ(parameters["skip-attention"], "1+3");
  EXPECT_EQ(parameters["policy"], "none") << "who replays it needs no file";
  EXPECT_THAT(parameters["expected"].get<std::string>(), HasSubstr("skip-set/0."));
  EXPECT_TRUE(speculation::parse_strategy_json("auto", made->parameters, 4));
}

TEST(AutoByPolicy, RefusesInOneLine) {
  EXPECT_THAT(refusal("auto:policy=/absent/policy.json"), HasSubstr("/absent/policy.json"));
  const PolicyFile file;
  Policy policy = example_policy();
  policy.finalists.front().setting = "turbo:speed=9";
  file.write(policy);
  EXPECT_THAT(refusal("auto:" + file.parameter), HasSubstr("unknown name 'turbo'"));
}

TEST(SkipSetOfAPolicy, IsReadByName) {
  const PolicyFile file;
  EXPECT_EQ(read_skip_set(file.path, policy_skip_set, 4).value(), *example_policy().skip_set);
  EXPECT_EQ(read_skip_sets(file.path, 4).value().size(), 1U);
  EXPECT_TRUE(make_strategy("draft-verify:skip-set=" + file.path.string(), small_shape()));
  Policy grid = example_policy();
  grid.skip_set.reset();
  file.write(grid);
  EXPECT_THAT(read_skip_set(file.path, policy_skip_set, 4).error().message,
              HasSubstr("policy without skip_sets"));
}

TEST(SkipSetText, IsReadAsItWasWritten) {
  for (const speculation::SublayerMask& set :
       {speculation::SublayerMask(4), speculation::SublayerMask::early_exit(4, 0),
        *example_policy().skip_set})
    EXPECT_EQ(speculation::parse_skip_set_text(speculation::skip_set_text(set), 4).value(), set);
  EXPECT_EQ(speculation::skip_set_text(speculation::SublayerMask(4)).attention, "none");
}

TEST(SkipSetText, IsRefusedWithTheParametersName) {
  EXPECT_THAT(refusal("draft-verify"), HasSubstr("skip-set is missing"));
  EXPECT_THAT(refusal("draft-verify:skip-set=a.json,skip-mlp=1"), HasSubstr("expected either"));
  for (const char* list : {"4", "-1", "1+", "+1", "1++2", "x", "1.5", "none+1", " 1"})
    EXPECT_THAT(refusal("draft-verify:skip-mlp=" + std::string(list)),
                HasSubstr("strategy draft-verify: skip-mlp is '"))
        << list;
  EXPECT_THAT(refusal("draft-verify:skip-attention=1+2+1"), HasSubstr("skip-attention has layer 1 twice"));
}

}  // namespace
}  // namespace draftscope::engine
