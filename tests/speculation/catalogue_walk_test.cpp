// SPDX-License-Identifier: GPL-3.0-or-later
// Every strategy and every part of the catalogue through the engine and through the simulator: a row that
// either does not know fails.
#include <draftscope/engine/strategy.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rounds/replay/policy_choice.h"
#include "toy_backend.h"

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

/// A policy, or the reason that the catalogue has.
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

/// Decodes, or says in one line what it needs.
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

/// The file or folder without which it cannot be made; empty = none.
std::string needs_of(const std::vector<speculation::ParameterRow>& parameters) {
  for (const speculation::ParameterRow& row : parameters)
    if (row.default_value.empty() && (row.unit == "file" || row.unit == "folder")) return row.name;
  return "";
}

TEST(CatalogueInTheEngine, HasEveryStrategyMade) {
  for (const StrategyRow& row : speculation::strategy_catalogue().strategies())
    expect_made(row.name, needs_of(row.parameters));
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

}  // namespace
}  // namespace draftscope
