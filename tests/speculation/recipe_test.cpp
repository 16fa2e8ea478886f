// SPDX-License-Identifier: GPL-3.0-or-later
// The row of docs/recipes/add-a-strategy.md: it is the one below, it decodes losslessly, and the simulator
// says why it replays nothing.
#include <draftscope/engine/decode.h>
#include <draftscope/engine/random.h>
#include <draftscope/engine/strategy.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "rounds/replay/policy_choice.h"
#include "toy_backend.h"

namespace draftscope {
namespace {

speculation::StrategyRow recipe_row() {
  // clang-format off
  return
    // The recipe begins.
    {.name = "every-second",
     .summary = "skips every second layer, with a length that grows on a full accept",
     .parts = {"skip-set", "fs", "none", "chain"},
     .defaults = {{"skip-attention", "every-2"}, {"skip-mlp", "every-2"}, {"gamma", "4"}}}
    // The recipe ends.
    ;
  // clang-format on
}

std::string text_of(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(std::string(DRAFTSCOPE_SOURCE_DIR) + "/" + file).rdbuf();
  return text.str();
}

class Recipe : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(catalogue_.add(recipe_row())); }
  [[nodiscard]] Result<speculation::StrategySpecification> parse(std::string_view text) const {
    return speculation::parse_strategy(text, 8, catalogue_);
  }

 private:
  speculation::StrategyCatalogue catalogue_ = speculation::strategy_catalogue();
};

TEST_F(Recipe, ShowsTheRowThatIsTestedHere) {
  const std::string source = text_of("tests/speculation/recipe_test.cpp");
  const std::string begin = "// The recipe begins.\n";
  const std::size_t first = source.find(begin) + begin.size();
  const std::string row = source.substr(first, source.find("    // The recipe ends.") - first);
  ASSERT_THAT(row, testing::HasSubstr("every-second"));
  EXPECT_THAT(text_of("docs/recipes/add-a-strategy.md"), testing::HasSubstr(row));
}

TEST_F(Recipe, SkipsEverySecondLayerWithALengthByFs) {
  const auto parsed = parse("every-second:max-gamma=9");
  ASSERT_TRUE(parsed) << parsed.error().message;
  speculation::ModelShape shape;
  shape.n_layers = 8;
  const auto made = engine::make_strategy(*parsed, shape);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->specification, "every-second:max-gamma=9");
  const engine::RoundPlan plan = made->strategy->plan({});
  speculation::SublayerMask expected(8);
  for (const std::int32_t layer : {1, 3, 5, 7}) expected.skip_attention(layer).skip_mlp(layer);
  ASSERT_NE(plan.mask, nullptr);
  EXPECT_EQ(*plan.mask, expected);
  EXPECT_EQ(plan.draft_length, 4);
}

class CountAccepted final : public engine::DecodeListener {
 public:
  void on_round(const engine::RoundReport& report) override { accepted += report.round.accepted; }
  std::int64_t accepted = 0;
};

std::vector<std::int32_t> decoded(const speculation::StrategySpecification& specification, std::uint32_t seed,
                                  std::int64_t& accepted) {
  engine::ToyBackend backend({.n_layers = 8, .cache_rows = 128, .seed = seed, .agreement = 0.8});
  auto made = engine::make_strategy(specification, backend.shape());
  EXPECT_TRUE(made) << made.error().message;
  CountAccepted count;
  const std::vector<std::int32_t> prompt{1, 2, 3};
  engine::SeededChooser chooser(seed, 0);
  const auto result =
      engine::decode(backend, *made->strategy, {.prompt = prompt, .max_new_tokens = 60}, chooser, count);
  EXPECT_TRUE(result) << result.error().message;
  accepted += count.accepted;
  return result ? result->tokens : std::vector<std::int32_t>();
}

TEST_F(Recipe, DecodesWhatVanillaDoes) {
  std::int64_t accepted = 0;
  for (std::uint32_t seed = 1; seed <= 20; ++seed)
    EXPECT_EQ(decoded(*parse("every-second"), seed, accepted), decoded(*parse("vanilla"), seed, accepted));
  EXPECT_GT(accepted, 20) << "the drafts were never right";
}

TEST_F(Recipe, IsRefusedByTheSimulatorWithItsMasksReason) {
  const auto choice = simulator::policy_of(*parse("every-second"), {.n_layers = 8, .head_in_layers = 1.0});
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->policy, nullptr);
  EXPECT_EQ(choice->reason,
            speculation::strategy_catalogue().find_part(speculation::PartKind::mask, "skip-set")->no_replay);
}

}  // namespace
}  // namespace draftscope
