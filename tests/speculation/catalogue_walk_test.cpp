// SPDX-License-Identifier: GPL-3.0-or-later
// Runs every strategy and every part of the catalogue through the engine and through the simulator: a row
// that either does not know fails.
#include <draftscope/engine/strategy.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "rounds/replay/policy_choice.h"
#include "strategies/predict.h"

namespace draftscope {
namespace {

using simulator::AnswerStatus;
using simulator::policy_of_specification;
using speculation::PartKind;
using speculation::PartRow;
using speculation::StrategyRow;
using testing::AnyOf;
using testing::HasSubstr;

constexpr simulator::ReplayModel model{.n_layers = 8, .head_in_layers = 1.0};

speculation::ModelShape small_shape() {
  speculation::ModelShape shape;
  shape.n_layers = 8;
  shape.d_model = 8;
  shape.d_ff = 8;
  shape.vocab = 16;
  shape.max_positions = 64;
  return shape;
}

/// A mix with this part and the default others.
std::string mix_with(const PartRow& part) {
  return "mix:" + std::string(speculation::part_kind_name(part.kind)) + "=" + part.name;
}

/// Expects a policy, or the reason from the catalogue.
void expect_answer(const std::string& specification, const std::string& reason) {
  const auto choice = policy_of_specification(specification, model);
  ASSERT_TRUE(choice) << specification << ": " << choice.error().message;
  EXPECT_EQ(choice->reason, reason) << specification;
  EXPECT_EQ(choice->policy == nullptr, !reason.empty()) << specification;
  EXPECT_EQ(choice->status, reason.empty() ? AnswerStatus::exact : AnswerStatus::approximate)
      << specification;
}

TEST(CatalogueInTheSimulator, IsAnsweredOrRefusedWithItsReason) {
  for (const StrategyRow& row : speculation::strategy_catalogue().strategies()) {
    if (row.name == "tuned") {
      const auto choice = policy_of_specification(row.name, model);
      ASSERT_FALSE(choice);
      EXPECT_EQ(choice.error().message, "strategy tuned: " + row.no_replay);
      continue;
    }
    expect_answer(row.name, row.no_replay);
  }
}

TEST(CatalogueInTheSimulator, HasEveryPartAnsweredOrRefusedWithItsReason) {
  for (const PartRow& part : speculation::strategy_catalogue().parts())
    expect_answer(mix_with(part), part.no_replay);
}

/// A row that guesses from the text has a replay of texts, and what texts replay drafts without a forward.
TEST(CatalogueInTheSimulator, ReplaysWhatGuessesFromTheTextAndNothingWithAForward) {
  int guessing = 0;
  for (const StrategyRow& row : speculation::strategy_catalogue().strategies()) {
    const bool is_replayed = simulator::strategy_prediction(row.name).text_rounds != nullptr;
    guessing += static_cast<int>(row.guesses_from_text());
    EXPECT_TRUE(is_replayed || !row.guesses_from_text()) << row.name;
    EXPECT_TRUE(!is_replayed || row.draft.layers == 0.0) << row.name << " drafts with a forward";
  }
  EXPECT_GT(guessing, 0);
}

/// Expects that the strategy decodes, or that one line names what it needs.
void expect_made(const std::string& specification, const std::string& needs) {
  const auto made = engine::make_strategy(specification, small_shape());
  if (needs.empty()) {
    ASSERT_TRUE(made) << specification << ": " << made.error().message;
    EXPECT_NE(made->strategy, nullptr) << specification;
    return;
  }
  ASSERT_FALSE(made) << specification;
  EXPECT_THAT(made.error().message, HasSubstr(needs + " is missing, expected a")) << specification;
  EXPECT_THAT(made.error().message, testing::Not(HasSubstr("\n"))) << specification;
}

/// The file or folder without which the strategy cannot be made; empty = none.
std::string needs_of(const std::vector<speculation::ParameterRow>& parameters) {
  for (const speculation::ParameterRow& row : parameters)
    if (row.default_value.empty() && (row.unit == "file" || row.unit == "folder")) return row.name;
  return "";
}

TEST(CatalogueInTheEngine, HasEveryStrategyMade) {
  for (const StrategyRow& row : speculation::strategy_catalogue().strategies()) {
    const std::string needed = needs_of(row.parameters);
    // A second model that no parameter names comes with the checkpoint.
    expect_made(row.name, needed.empty() && row.drafts_with_other_model ? "next-token layer" : needed);
  }
}

TEST(CatalogueInTheEngine, HasEveryPartMade) {
  for (const PartRow& part : speculation::strategy_catalogue().parts())
    expect_made(mix_with(part), needs_of(part.parameters));
}

/// The walk above must be able to fail.
TEST(CatalogueInBoth, DoesNotKnowARowThatNobodyImplements) {
  speculation::StrategyCatalogue catalogue = speculation::strategy_catalogue();
  catalogue.add(PartRow{.kind = PartKind::length, .name = "long", .summary = "a part that nobody knows"});
  ASSERT_TRUE(catalogue.add(StrategyRow{.name = "long", .parts = {"exit", "long", "none", "chain"}}));
  ASSERT_TRUE(catalogue.add(StrategyRow{.name = "other"}));
  for (const char* name : {"long", "other"}) {
    const auto parsed = speculation::parse_strategy(name, 8, catalogue);
    ASSERT_TRUE(parsed) << parsed.error().message;
    const auto made = engine::make_strategy(*parsed, small_shape());
    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().message, AnyOf(HasSubstr("length=long"), HasSubstr("strategy other")));
    const auto choice = simulator::policy_of(*parsed, model);
    ASSERT_FALSE(choice);
    EXPECT_THAT(choice.error().message, AnyOf(HasSubstr("length=long"), HasSubstr("strategy other")));
  }
}

/// The row in docs/recipes/add-a-strategy.md must be the one below. It must draft by its parts, and the
/// simulator must give the reason why it replays nothing. That its parts decode losslessly is a law of every
/// mix.
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

TEST(Recipe, ShowsTheRowThatIsTestedHere) {
  const std::string source = text_of("tests/speculation/catalogue_walk_test.cpp");
  const std::string begin = "// The recipe begins.\n";
  const std::size_t first = source.find(begin) + begin.size();
  const std::string row = source.substr(first, source.find("    // The recipe ends.") - first);
  ASSERT_THAT(row, HasSubstr("every-second"));
  EXPECT_THAT(text_of("docs/recipes/add-a-strategy.md"), HasSubstr(row));
}

TEST(Recipe, SkipsEverySecondLayerWithALengthByFsAndIsNotReplayed) {
  speculation::StrategyCatalogue catalogue = speculation::strategy_catalogue();
  ASSERT_TRUE(catalogue.add(recipe_row()));
  const auto parsed = speculation::parse_strategy("every-second:max-gamma=9", 8, catalogue);
  ASSERT_TRUE(parsed) << parsed.error().message;
  const auto made = engine::make_strategy(*parsed, small_shape());
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->specification, "every-second:max-gamma=9");
  const engine::RoundPlan plan = made->strategy->plan({});
  speculation::SublayerMask expected(8);
  for (const std::int32_t layer : {1, 3, 5, 7}) expected.skip_attention(layer).skip_mlp(layer);
  ASSERT_NE(plan.mask, nullptr);
  EXPECT_EQ(*plan.mask, expected);
  EXPECT_EQ(plan.draft_length, 4);
  const auto choice = simulator::policy_of(*parsed, model);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->policy, nullptr);
  EXPECT_EQ(choice->reason, catalogue.find_part(PartKind::mask, "skip-set")->no_replay);
}

}  // namespace
}  // namespace draftscope
