// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of the catalogue that ships, and the limits for a further row.
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace draftscope::speculation {
namespace {

using testing::HasSubstr;

/// A new strategy may be anywhere among the shipped ones.
TEST(Catalogue, ListsEveryStrategyThatShipsInOrder) {
  const std::vector<std::string> shipped{"vanilla",
                                         "layerskip",
                                         "fs",
                                         "dv",
                                         "draft-verify",
                                         "swift",
                                         "clasp",
                                         "knapspec",
                                         "conflayers",
                                         "del",
                                         "quantised",
                                         "mix",
                                         "two-model",
                                         "mtp",
                                         "prompt-lookup",
                                         "suffix-decoding",
                                         "token-recycling",
                                         "jacobi",
                                         "lookahead",
                                         "cascade",
                                         "auto",
                                         "tuned"};
  std::vector<std::string> listed;
  for (const StrategyRow& row : strategy_catalogue().strategies())
    if (std::find(shipped.begin(), shipped.end(), row.name) != shipped.end()) listed.push_back(row.name);
  EXPECT_EQ(listed, shipped);
}

void expect_complete(const std::string& owner, const std::vector<ParameterRow>& parameters) {
  std::set<std::string> names;
  for (const ParameterRow& row : parameters) {
    const std::string where = owner + ": " + row.name;
    EXPECT_FALSE(row.name.empty()) << owner;
    EXPECT_FALSE(row.meaning.empty()) << where;
    EXPECT_TRUE(names.insert(row.name).second) << where;
    const bool has_bounds = row.type == ParameterType::integer || row.type == ParameterType::number;
    EXPECT_EQ(has_bounds, !row.min.empty()) << where;
    EXPECT_EQ(has_bounds, !row.max.empty()) << where;
    EXPECT_EQ(row.type == ParameterType::choice, !row.choices.empty()) << where;
    EXPECT_EQ(has_bounds || row.type == ParameterType::choice ? row.default_value.empty() : false, false)
        << where;
  }
}

TEST(Catalogue, DescribesEveryParameter) {
  for (const StrategyRow& row : strategy_catalogue().strategies()) {
    EXPECT_FALSE(row.summary.empty()) << row.name;
    expect_complete(row.name, row.parameters);
    EXPECT_EQ(row.replay_needs == ReplayNeeds::shadow_tokens, row.has_parts() && row.no_replay.empty())
        << row.name;
    if (row.replay_needs == ReplayNeeds::impossible) {
      EXPECT_FALSE(row.no_replay.empty()) << row.name;
    }
    EXPECT_THAT(row.no_replay, testing::Not(HasSubstr("\n"))) << row.name;
  }
  for (const PartRow& row : strategy_catalogue().parts()) {
    EXPECT_FALSE(row.summary.empty()) << row.name;
    expect_complete(row.name, row.parameters);
  }
}

TEST(Catalogue, OffersNoChoiceThatIsRefused) {
  for (const StrategyRow& row : strategy_catalogue().strategies())
    for (const ParameterRow& parameter : row.parameters)
      for (const std::string& choice : parameter.choices) {
        const std::string specification = row.name + ':' + parameter.name + '=' + choice;
        const auto parsed = parse_strategy(specification, 12);
        EXPECT_TRUE(parsed) << specification << ": " << parsed.error().message;
      }
}

/// Every mix of parts has its own parameters, and none of them has two meanings.
TEST(Catalogue, MixesEveryPartWithEveryOther) {
  const StrategyCatalogue& catalogue = strategy_catalogue();
  std::size_t mixes = 0;
  for (const std::string& mask : catalogue.part_names(PartKind::mask))
    for (const std::string& length : catalogue.part_names(PartKind::length))
      for (const std::string& stop : catalogue.part_names(PartKind::stop))
        for (const std::string& shape : catalogue.part_names(PartKind::shape)) {
          const std::string text =
              "mix:mask=" + mask + ",length=" + length + ",stop=" + stop + ",shape=" + shape;
          const auto made = parse_strategy(text, 12);
          ASSERT_TRUE(made) << made.error().message;
          EXPECT_EQ(made->parts(), (PartNames{mask, length, stop, shape}));
          EXPECT_EQ(made->no_replay(), catalogue.no_replay_of(made->parts()));
          const auto recorded = parse_strategy_json("mix", made->json(), 12);
          ASSERT_TRUE(recorded) << recorded.error().message;
          EXPECT_EQ(recorded->parts(), made->parts());
          EXPECT_EQ(recorded->json(), made->json());
          expect_complete(text, catalogue.parameters_of(made->parts()));
          ++mixes;
        }
  std::size_t all = 1;
  for (std::size_t kind = 0; kind < part_kind_count; ++kind)
    all *= catalogue.part_names(static_cast<PartKind>(kind)).size();
  EXPECT_EQ(mixes, all);
  EXPECT_GE(mixes, 384U) << "those that ship";
}

TEST(Catalogue, RefusesRowsThatCannotBe) {
  StrategyCatalogue catalogue = strategy_catalogue();
  const auto refusal = [&](StrategyRow row) {
    const auto added = catalogue.add(std::move(row));
    return added ? "" : added.error().message;
  };
  EXPECT_THAT(refusal({.name = "fs"}), HasSubstr("strategy fs: is there already"));
  EXPECT_THAT(refusal({.name = "new", .parts = {"exit", "long", "none", "chain"}}),
              HasSubstr("strategy new: found length=long"));
  EXPECT_THAT(
      refusal(
          {.name = "new", .parts = {"exit", "fixed", "none", "chain"}, .defaults = {{"threshold", "0.5"}}}),
      HasSubstr("default for 'threshold'"));
  EXPECT_EQ(refusal({.name = "new", .parts = {"exit", "fixed", "none", "chain"}}), "");
  EXPECT_EQ(parse_strategy("new", 12, catalogue)->integer("exit"), 3);
}

TEST(Catalogue, KnowsParametersByTheirEarlierNames) {
  EXPECT_EQ(current_parameter_name("fs", "least"), "min-gamma");
  EXPECT_EQ(current_parameter_name("fs", "longest"), "max-gamma");
  EXPECT_EQ(current_parameter_name("del", "most"), "d-max");
  EXPECT_EQ(current_parameter_name("mix", "most"), "d-max");
  EXPECT_EQ(current_parameter_name("fs", "gamma"), "gamma");
  EXPECT_EQ(current_parameter_name("fs", "most"), "most");
  EXPECT_EQ(current_parameter_name("eagle", "least"), "least");
}

}  // namespace
}  // namespace draftscope::speculation
