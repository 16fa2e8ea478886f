// SPDX-License-Identifier: GPL-3.0-or-later
// Specifications as text and as JSON: typed values, defaults that follow from the model, refusals. Every
// refusal: tests/engine/strategies/parameters_test.cpp.
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
  EXPECT_EQ(made->integer("gamma"), 18);  // the preset's
  EXPECT_EQ(made->number("epsilon"), 1e-3);
  EXPECT_EQ(made->number("beta1"), 0.5);  // the part's
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

TEST(Specification, WritesOutEverySoManiethLayer) {
  const auto layers = [](const std::string& text, std::int32_t n_layers) {
    return parse_strategy("draft-verify:skip-attention=" + text, n_layers)->text("skip-attention");
  };
  EXPECT_EQ(layers("every-2", 8), "1+3+5+7");
  EXPECT_EQ(layers("every-3", 8), "2+5");
  EXPECT_EQ(layers("every-1", 2), "0+1");
  EXPECT_EQ(layers("every-9", 8), "none");
  EXPECT_EQ(layers("3+5", 8), "3+5");
  const auto made = parse_strategy("draft-verify:skip-attention=every-2", 4);
  EXPECT_EQ(made->given(), "draft-verify:skip-attention=every-2");
  EXPECT_EQ(nlohmann::json::parse(made->json())["skip-attention"], "1+3");
}

TEST(Specification, IsRefusedAsJsonToo) {
  const auto error = [](std::string_view json) {
    return parse_strategy_json("fs", json, 12).error().message;
  };
  EXPECT_THAT(error("[1"), HasSubstr("strategy fs: parameters are \"[1\", expected a JSON object"));
  EXPECT_THAT(error(R"({"gamma":true})"), HasSubstr("\"gamma\" is neither a number nor a string"));
  EXPECT_THAT(error(R"({"gama":3})"), HasSubstr("unknown parameter \"gama\", expected one of: exit, gamma"));
  EXPECT_THAT(error(R"({"gamma":3.5})"), HasSubstr("gamma is \"3.5\", expected an integer from 1 to 63"));
  EXPECT_THAT(parse_strategy_json("fst", "{}", 12).error().message, HasSubstr("unknown name \"fst\""));
}

TEST(Specification, NamesTheLayersThatAModelLacks) {
  EXPECT_EQ(parse_strategy("layerskip", 1).error().message,
            "strategy layerskip: the model has 1 layer, expected at least 2");
  EXPECT_EQ(parse_strategy("swift", 2).error().message,
            "strategy swift: the model has 2 layers, expected at least 3 (first and last are kept)");
}

}  // namespace
}  // namespace draftscope::speculation
