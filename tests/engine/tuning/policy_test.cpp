// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/counter_random.h>
#include <draftscope/engine/search.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "example_policy.h"

namespace draftscope::engine {
namespace {

using ::testing::HasSubstr;

/// A policy in which each part may be missing, with texts that JSON has to escape.
Policy random_policy(std::uint64_t seed) {
  CounterRandom random(seed, 0);
  const auto text = [&] {
    constexpr std::string_view letters = "ab,=:\"\\\n\t/7{}[]";
    std::string chosen;
    for (std::size_t i = random.index(9); i > 0; --i) chosen += letters[random.index(letters.size())];
    return chosen;
  };
  const auto measured = [&] {
    Measurement one{.score = 4.0 * random.uniform() - 1.0,
                    .acceptance_rate = random.uniform(),
                    .tokens_per_round = 9.0 * random.uniform()};
    if (random.index(2) == 0)
      one.tokens_per_second = one.vanilla_tokens_per_second = 100.0 * random.uniform();
    return one;
  };
  const auto set = [&] {
    speculation::SublayerMask mask(4);
    for (std::int32_t layer = 0; layer < 4; ++layer) {
      if (random.index(2) == 0) mask.skip_attention(layer);
      if (random.index(2) == 0) mask.skip_mlp(layer);
    }
    return mask;
  };
  Policy policy;
  policy.model = model_facts(small_shape(), text());
  for (Facts* facts : {&policy.machine, &policy.prompts, &policy.settings})
    for (std::size_t i = random.index(4); i > 0; --i)
      (*facts)["k" + text()] = random.index(2) == 0 ? text() : std::to_string(random.index(1000));
  policy.strategy = "s" + text();
  for (std::size_t i = 1 + random.index(3); i > 0; --i) policy.repeats.push_back(measured());
  policy.finished = random.index(2) == 0;
  for (std::size_t i = random.index(3); i > 0; --i) policy.finalists.push_back({text(), {measured()}});
  if (random.index(2) == 0) policy.skip_set = set();
  for (std::size_t i = random.index(3); i > 0; --i) {
    Trial trial{text(), 1 + static_cast<std::int32_t>(random.index(9)), measured(), std::nullopt};
    if (random.index(2) == 0)
      trial.candidate =
          Candidate{set(), {random.uniform(), 1.0}, static_cast<CandidateOrigin>(random.index(4))};
    if (random.index(2) == 0) {
      trial.scored_by = ScoredBy::teacher_forced;
      trial.agreement = random.uniform();
    }
    policy.trials.push_back(std::move(trial));
  }
  policy.tool_version = text();
  policy.date = text();
  policy.command_line = text();
  return policy;
}

TEST(PolicyFile, AnyIsReadAsItWasWritten) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Policy policy = random_policy(seed);
    const std::string text = policy_json(policy);
    const auto read = parse_policy(text, "policy.json");
    ASSERT_TRUE(read) << seed << ": " << read.error().message;
    EXPECT_EQ(policy_json(*read), text) << seed;
    EXPECT_EQ(read->repeats, policy.repeats) << seed;
    EXPECT_EQ(read->finalists, policy.finalists) << seed;
    EXPECT_EQ(read->skip_set, policy.skip_set) << seed;
    EXPECT_EQ(read->settings, policy.settings) << seed;
    EXPECT_EQ(read->trials.size(), policy.trials.size()) << seed;
  }
}

TEST(PolicyFile, OfAnOlderVersionWasDecoded) {
  auto old = nlohmann::json::parse(policy_json(example_policy()));
  for (auto& trial : old["trials"]) EXPECT_EQ(trial.erase("scored_by"), 1U);
  const auto read = parse_policy(old.dump(), "old.json");
  ASSERT_TRUE(read) << read.error().message;
  for (const Trial& trial : read->trials) {
    EXPECT_EQ(trial.scored_by, ScoredBy::decoded);
    EXPECT_FALSE(trial.agreement);
  }
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
    // Score and skip sets may be null, and older files name no finalists.
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
