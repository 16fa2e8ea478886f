// SPDX-License-Identifier: GPL-3.0-or-later
// Specifications as text and as JSON: typed values, defaults that depend on the model, refusals.
// tests/engine/strategies/parameters_test.cpp tests every refusal.
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace draftscope::speculation {
namespace {

using testing::HasSubstr;

TEST(Specification, HasTypedValuesAndDefaults) {
  const auto made = parse_strategy("dv:exit=4,epsilon=1e-3", 12);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->name(), "dv");
  EXPECT_EQ(made->part(PartKind::stop), "adaptive");
  EXPECT_EQ(made->integer("exit"), 4);
  EXPECT_EQ(made->integer("gamma"), 18);  // the preset's default
  EXPECT_EQ(made->number("epsilon"), 1e-3);
  EXPECT_EQ(made->number("beta1"), 0.5);  // the part's default
  EXPECT_EQ(made->text("rule"), "del");
  EXPECT_EQ(made->given(), "dv:exit=4,epsilon=1e-3");
}

TEST(Specification, FillsInDefaultsThatFollowFromTheModel) {
  for (const auto& [n_layers, exit] : {std::pair{2, 1}, {3, 1}, {8, 2}, {12, 3}, {80, 20}})
    EXPECT_EQ(parse_strategy("layerskip", n_layers)->integer("exit"), exit) << n_layers;
  for (const auto& [n_layers, skip] : {std::pair{1, 0}, {2, 1}, {9, 4}})
    EXPECT_EQ(parse_strategy("clasp", n_layers)->integer("skip"), skip) << n_layers;
}

TEST(Specification, IsTheSameFromTextAndJson) {
  for (const char* text :
       {"vanilla", "layerskip:verify=above-exit,exit=7", "fs:min-gamma=0,gamma=0", "dv:beta1=0.25", "swift",
        "clasp:skip=12", "del:mode=published", "mix:mask=del,length=fs,stop=threshold,threshold=0.125",
        "prompt-lookup:match=longest", "draft-verify:skip-attention=every-4,skip-mlp=none"}) {
    const auto from_text = parse_strategy(text, 12);
    ASSERT_TRUE(from_text) << from_text.error().message;
    const auto from_json = parse_strategy_json(from_text->name(), from_text->json(), 12);
    ASSERT_TRUE(from_json) << from_json.error().message;
    EXPECT_EQ(from_json->json(), from_text->json()) << text;
    EXPECT_EQ(from_json->parts(), from_text->parts()) << text;
    EXPECT_EQ(parse_strategy(from_text->given(), 12)->json(), from_text->json()) << text;
  }
}

TEST(Specification, ReadsWhatEarlierTracesHold) {
  const auto made = parse_strategy_json("fs", R"({"exit":3,"gamma":7,"least":2,"longest":20})", 12);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->integer("min-gamma"), 2);
  EXPECT_EQ(made->integer("max-gamma"), 20);
}

// An earlier version had only one behaviour for a parameter that it did not record, whatever the default is
// today.
TEST(Specification, ReadsWhatEarlierTracesDoNotHold) {
  const auto value = [](std::string_view strategy, std::string_view parameter) {
    const auto recorded = parse_strategy_json(strategy, "{}", 12);
    EXPECT_TRUE(recorded) << recorded.error().message;
    return recorded->text(parameter);
  };
  EXPECT_EQ(value("layerskip", "verify"), "all-layers");
  EXPECT_EQ(parse_strategy("layerskip", 12)->text("verify"), "above-exit");
  EXPECT_EQ(value("clasp", "unit"), "verifications");
  EXPECT_EQ(parse_strategy("clasp", 12)->text("unit"), "tokens");
  EXPECT_EQ(value("swift", "scored-on"), "first");
  EXPECT_EQ(parse_strategy("swift", 12)->text("scored-on"), "latest");
  EXPECT_EQ(value("del", "exits"), "1+2+3+4+5+6+7+8+9+10+11");
  const auto published = parse_strategy_json("del", R"({"mode":"published"})", 12);
  ASSERT_TRUE(published) << published.error().message;
  EXPECT_EQ(published->text("mode"), "code");
}

TEST(Specification, VerifiesAboveTheExitWhereThePaperDoes) {
  for (const StrategyRow& row : strategy_catalogue().strategies())
    EXPECT_EQ(verifies_above_exit_by_default(row.name),
              row.name == "layerskip" || row.name == "fs" || row.name == "dv" || row.name == "del")
        << row.name;
}

TEST(Specification, ListsEachExitOnceInOrder) {
  for (const char* const exits : {"4+8", "8+4", "4+4+8+4"})
    EXPECT_EQ(parse_strategy(std::string("del:exits=") + exits, 12)->text("exits"), "4+8");
  EXPECT_EQ(parse_strategy("del:exits=0-2", 12)->text("exits"), "1+2")
      << "a range may begin before the first";
}

TEST(Specification, WritesOutEverySoManiethLayer) {
  const auto layers = [](const std::string& text, std::int32_t n_layers) {
    return parse_strategy("draft-verify:skip-attention=" + text, n_layers)->text("skip-attention");
  };
  EXPECT_EQ(layers("every-2", 8), "1+3+5+7");
  EXPECT_EQ(layers("every-3", 8), "2+5");
  EXPECT_EQ(layers("every-1", 2), "0+1");
  EXPECT_EQ(layers("every-9", 8), "none");
  EXPECT_EQ(layers("3+5", 8), "3+5");
  EXPECT_EQ(layers("2-4", 8), "2+3+4");
  EXPECT_EQ(layers("0+2-3+7", 8), "0+2+3+7");
  EXPECT_EQ(layers("first-3", 8), "0+1+2");
  EXPECT_EQ(layers("middle-3", 8), "2+3+4");
  EXPECT_EQ(layers("last-3", 8), "5+6+7");
  EXPECT_EQ(layers("uniform-3", 8), "1+4+6");
  EXPECT_EQ(layers("uniform-8", 8), "0+1+2+3+4+5+6+7");
  EXPECT_EQ(layers("uniform-0", 8), "none");
  // This is SWIFT's start: every second layer but the last.
  EXPECT_EQ(layers("uniform", 8), "1+3+5");
  EXPECT_EQ(layers("uniform", 7), "1+3+5");
  EXPECT_EQ(layers("random-3", 8), layers("random-3-1", 8));
  EXPECT_NE(layers("random-12", 40), layers("random-12-2", 40));
  EXPECT_EQ(layers("random-8", 8), "0+1+2+3+4+5+6+7");
  const auto made = parse_strategy("draft-verify:skip-attention=every-2", 4);
  EXPECT_EQ(made->given(), "draft-verify:skip-attention=every-2");
  EXPECT_EQ(nlohmann::json::parse(made->json())["skip-attention"], "1+3");
}

TEST(Specification, IsRefusedAsJsonToo) {
  const auto error = [](std::string_view json) {
    return parse_strategy_json("fs", json, 12).error().message;
  };
  EXPECT_THAT(error("[1"), HasSubstr("strategy fs: parameters are '[1', expected a JSON object"));
  EXPECT_THAT(error(R"({"gamma":true})"),
              HasSubstr("'gamma' is of another type, expected a number or a string"));
  EXPECT_THAT(error(R"({"gama":3})"),
              HasSubstr("unknown parameter 'gama', expected one of: exit, weights, gamma"));
  EXPECT_THAT(error(R"({"gamma":3.5})"), HasSubstr("gamma is '3.5', expected an integer from 1 to 63"));
  EXPECT_THAT(parse_strategy_json("fst", "{}", 12).error().message, HasSubstr("unknown name 'fst'"));
}

TEST(Specification, NamesTheLayersThatAModelLacks) {
  EXPECT_EQ(parse_strategy("layerskip", 1).error().message,
            "strategy layerskip: the model has 1 layer, expected at least 2");
  EXPECT_EQ(parse_strategy("swift", 2).error().message,
            "strategy swift: the model has 2 layers, expected at least 3 (first and last are kept)");
}

TEST(Specification, SaysWhatWeightsItDraftsOn) {
  EXPECT_EQ(parse_strategy("quantised", 12)->draft_weights(), WeightFormat::q4_0);
  EXPECT_EQ(parse_strategy("swift:weights=q8_0", 12)->draft_weights(), WeightFormat::q8_0);
  EXPECT_EQ(parse_strategy("swift", 12)->draft_weights(), std::nullopt);
  EXPECT_EQ(parse_strategy("vanilla", 12)->draft_weights(), std::nullopt);
  EXPECT_EQ(parse_strategy("mix:mask=full,weights=as-held", 12)->draft_weights(), std::nullopt);
}

TEST(Specification, VerifiesADraftOnOtherWeightsByAllLayers) {
  EXPECT_EQ(parse_strategy("layerskip:weights=q4_0", 12)->text("verify"), "all-layers");
  EXPECT_EQ(parse_strategy("layerskip:verify=above-exit,weights=q4_0", 12).error().message,
            "strategy layerskip: verify is above-exit, expected all-layers beside weights=q4_0");
}

TEST(Specification, OfADraftOnOtherWeightsIsNoneThatShadowTokensTell) {
  EXPECT_EQ(parse_strategy("layerskip", 12)->no_replay(), "");
  EXPECT_THAT(parse_strategy("layerskip:weights=fp8", 12)->no_replay(), HasSubstr("weights of fewer bits"));
  EXPECT_THAT(parse_strategy("quantised", 12)->no_replay(), HasSubstr("every sublayer"));
}

TEST(WeightFormats, HaveOneRowEachInTheOrderOfTheirNumbers) {
  std::size_t index = 0;
  for (const WeightFormatRow& row : weight_formats()) {
    EXPECT_EQ(static_cast<std::size_t>(row.format), index++) << row.name;
    EXPECT_EQ(&weight_format_row(row.format), &row);
    EXPECT_EQ(parse_weight_format(row.name), row.format);
    EXPECT_GT(row.bits, 0.0);
    EXPECT_FALSE(row.meaning.empty());
  }
  EXPECT_THAT(parse_weight_format("q9").error().message,
              HasSubstr("weights: found 'q9', expected one of: f32"));
}

}  // namespace
}  // namespace draftscope::speculation
