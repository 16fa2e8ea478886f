// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/prices/cost_model.h>
#include <draftscope/simulator/prices/layer_plan.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "prices/mixed_models.h"
#include "prices/passes/cost_prices.h"

namespace draftscope::simulator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

PlannedModel parsed(std::string_view text) {
  auto model = parse_planned_model(text, "config.json");
  EXPECT_TRUE(model) << model.error().message;
  return model ? *model : PlannedModel{};
}

Scenario scenario_of(const PlannedModel& model, double context = 1024.0) {
  Scenario scenario;
  scenario.shape = model.shape;
  scenario.plan = model.plan;
  scenario.gpu = *find_gpu("H200");
  scenario.context = context;
  return scenario;
}

Prices priced(const Scenario& scenario) {
  auto found = prices(cost_model_of(*scenario.gpu, scenario.shape, scenario.weights), scenario);
  EXPECT_TRUE(found) << found.error().message;
  return found ? *found : Prices{};
}

std::string refusal(std::string_view text) {
  const auto model = parse_planned_model(text, "config.json");
  EXPECT_FALSE(model);
  return model ? "" : model.error().message;
}

TEST(DistinctExperts, AreWhatIndependentRowsChoose) {
  std::mt19937 random(1);
  for (const auto& [experts, used, rows] : {std::tuple{8, 2, 3}, {128, 8, 5}, {32, 4, 16}, {6, 6, 2}}) {
    double sum = 0.0;
    constexpr int trials = 2000;
    for (int trial = 0; trial < trials; ++trial) {
      std::set<int> chosen;
      for (int row = 0; row < rows; ++row) {
        std::vector<int> order(static_cast<std::size_t>(experts));
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random);
        chosen.insert(order.begin(), order.begin() + used);
      }
      sum += static_cast<double>(chosen.size());
    }
    EXPECT_NEAR(distinct_experts(experts, used, rows), sum / trials, 0.02 * experts) << experts;
    EXPECT_NEAR(distinct_experts(experts, used, 1), used, 1e-9);
    EXPECT_LE(distinct_experts(experts, used, rows), std::min(experts, used * rows) + 1e-9);
    EXPECT_NEAR(distinct_experts(experts, used, 1e6), experts, 1e-6);
  }
}

TEST(LayerPlan, HoldsTheParametersThatModelCardsState) {
  for (const auto& [config, billions] : {std::pair{mixtral_8x7b, 46.70},
                                         {qwen3_30b_a3b, 30.53},
                                         {gpt_oss_20b, 20.91},
                                         {olmoe_7b, 6.92},
                                         {lfm2_8b_a1b, 8.34},
                                         {jamba_v01, 51.57}}) {
    Scenario scenario = scenario_of(parsed(config));
    EXPECT_NEAR(memory_need(scenario).weights / 2e9, billions, 0.005 * billions) << config;
  }
}

TEST(LayerPlan, OfLayersAlikeHasThePricesOfTheShape) {
  ModelShape shape;
  shape.n_layers = 32, shape.d_model = 4096, shape.n_heads = 32, shape.n_kv_heads = 8, shape.head_dim = 128;
  shape.d_ff = 14336, shape.vocab = 128256;
  Scenario plain = scenario_of({shape, std::nullopt});
  Scenario planned = plain;
  planned.plan = LayerPlan{.mixers = {{.count = 32,
                                       .input_columns = 4096,
                                       .kv_columns = 2048,
                                       .output_depth = 4096,
                                       .kv_values = 2048,
                                       .n_kv_heads = 8}},
                           .mlps = {{.count = 32, .dense_width = 14336}}};
  for (const std::int32_t batch : {1, 7})
    for (const std::int32_t gpus : {1, 4}) {
      for (Scenario* const scenario : {&plain, &planned})
        scenario->batch = batch, scenario->tensor_parallel = gpus;
      const Prices a = priced(plain);
      const Prices b = priced(planned);
      EXPECT_NEAR(b.target_step.at(500.0) / a.target_step.at(500.0), 1.0, 1e-9);
      EXPECT_NEAR(b.drafts[4].verify[9].at(500.0) / a.drafts[4].verify[9].at(500.0), 1.0, 1e-9);
      EXPECT_NEAR(memory_need(planned).total() / memory_need(plain).total(), 1.0, 1e-9);
    }
}

TEST(Experts, MakeRowsDearerUntilAllAreRead) {
  const Prices few = priced(scenario_of(parsed(qwen3_30b_a3b)));
  const auto step_ns = [](const Prices& prices) { return prices.target_step.at(100.0); };
  const auto rows_ns = [](const Prices& prices, std::size_t rows) {
    return prices.drafts[1].verify[rows].at(100.0);
  };
  for (std::size_t rows = 3; rows < 17; ++rows) EXPECT_GT(rows_ns(few, rows), rows_ns(few, rows - 1));
  EXPECT_GT(rows_ns(few, 8), 2.0 * step_ns(few));
  EXPECT_LT(rows_ns(few, 8), 8.0 * step_ns(few));
  // A batch's rows choose as a round's do.
  Scenario batch = scenario_of(parsed(qwen3_30b_a3b));
  batch.batch = 8;
  EXPECT_NEAR(8.0 * step_ns(priced(batch)) / rows_ns(few, 8), 1.0, 0.1);
}

TEST(Windows, BoundTheKeysAndValuesThatAPassReads) {
  const PlannedModel model = parsed(gpt_oss_20b);
  Scenario scenario = scenario_of(model, 8000.0);
  const Prices bounded = priced(scenario);
  for (MixerKind& kind : scenario.plan->mixers) kind.window = 0;
  const Prices whole = priced(scenario);
  EXPECT_NEAR(bounded.target_step.ns_per_context_row / whole.target_step.ns_per_context_row, 0.5, 1e-9);
  EXPECT_LT(bounded.target_step.at(8000.0), whole.target_step.at(8000.0));
}

TEST(States, AreReadOnceAndWrittenForEachRow) {
  const PlannedModel model = parsed(qwen35_27b);
  ASSERT_TRUE(model.plan && model.plan->has_states());
  ASSERT_EQ(model.plan->mixers.size(), 2U);
  EXPECT_EQ(model.plan->mixers[0].count, 48);
  // 48 heads of 128 × 128 numbers of 4 bytes, and the last three inputs of a convolution of 10,240 columns.
  EXPECT_DOUBLE_EQ(model.plan->mixers[0].state_bytes, 48 * 128 * 128 * 4 + 10240 * 3 * 2);
  Scenario scenario = scenario_of(model);
  const auto growth = [&] {
    const Prices prices = priced(scenario);
    return prices.drafts[1].verify[5].ns - prices.drafts[1].verify[4].ns;
  };
  const double with = growth();
  scenario.plan->mixers[0].state_bytes = 0.0;
  EXPECT_GT(with, growth());
}

TEST(NextTokenLayer, CostsALayerAJoinAndTheHead) {
  const PlannedModel model = parsed(qwen35_27b);
  ASSERT_TRUE(model.plan->next_token);
  Scenario scenario = scenario_of(model);
  scenario.draft_cost = *parse_draft_cost("mtp");
  const Prices prices = priced(scenario);
  const double share = prices.drafts[1].step.at(100.0) / prices.target_step.at(100.0);
  // Weights of one layer, the join and the head, of 64 layers and the head.
  EXPECT_GT(share, 0.05);
  EXPECT_LT(share, 0.12);
  scenario.draft_cost->vocabulary = 32000;
  EXPECT_LT(priced(scenario).drafts[1].step.at(100.0), prices.drafts[1].step.at(100.0));
  scenario.plan->next_token.reset();
  EXPECT_THAT(check_scenario(scenario).error().message, HasSubstr("no next-token layer"));
}

TEST(LayerPlan, RefusesByItsFieldWhatHasNoPrice) {
  EXPECT_THAT(refusal(R"({"model_type": "deepseek_v3", "kv_lora_rank": 512})"),
              AllOf(HasSubstr("kv_lora_rank is 512"), HasSubstr("latent attention")));
  EXPECT_THAT(refusal(R"({"model_type": "qwen3_moe", "num_experts": 128})"),
              HasSubstr("moe_intermediate_size"));
  EXPECT_THAT(refusal(R"({"model_type": "a_model_of_tomorrow", "num_experts": 4})"),
              HasSubstr("num_experts"));
  EXPECT_THAT(refusal(R"({"model_type": "nemotron_h", "moe_latent_size": 1024})"),
              HasSubstr("moe_latent_size"));
  std::string odd(qwen35_27b);
  odd.replace(odd.find("\"full_attention_interval\": 4"), 28, "\"layer_types\": [\"rotor\"]    ");
  EXPECT_THAT(refusal(odd), HasSubstr("1 layers have a kind, expected num_hidden_layers 64"));
}

TEST(GgufModel, IsThatOfItsConfig) {
  const char* const sizes = R"({"architecture": "qwen35", "block_count": 65, "nextn_predict_layers": 1,
    "embedding_length": 5120, "feed_forward_length": 17408, "attention.head_count": 24,
    "attention.head_count_kv": 4, "attention.key_length": 256, "full_attention_interval": 4,
    "ssm.inner_size": 6144, "ssm.state_size": 128, "ssm.group_count": 16, "ssm.time_step_rank": 48,
    "ssm.conv_kernel": 4, "vocab_size": 248320, "context_length": 262144})";
  const auto model = parse_gguf_model(sizes, "a.gguf");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->plan, parsed(qwen35_27b).plan);
  EXPECT_THAT(parse_gguf_model(R"({"architecture": "rotor", "block_count": 4})", "a.gguf").error().message,
              HasSubstr("general.architecture is 'rotor'"));
}

TEST(LayerPlan, OfADenseGgufFileFollowsItsFamily) {
  for (const char* const name : {"llama", "qwen3", "olmo2", "granite", "smollm3", "exaone4", "hunyuan-dense",
                                 "seed_oss", "arcee", "apertus", "mistral3"}) {
    const bool has_window = name == std::string_view("exaone4");
    const auto model = parse_gguf_model(
        fmt::format(R"({{"architecture": "{}", "block_count": 8, "embedding_length": 64, "vocab_size": 90,
                         "feed_forward_length": 128, "attention.head_count": 4{}}})",
                    name, has_window ? R"(, "attention.sliding_window": 16)" : ""),
        "a.gguf");
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_EQ(model->shape.n_kv_heads, 4) << name;
    EXPECT_EQ(model->shape.head_dim, 16) << name;
    EXPECT_EQ(model->shape.mlp_matrices(), std::string_view(name).starts_with("a") ? 2 : 3) << name;
    ASSERT_EQ(model->plan.has_value(), has_window) << name;
    if (!has_window) continue;
    ASSERT_EQ(model->plan->mixers.size(), 2U);
    EXPECT_EQ(model->plan->mixers[0].window, 16);
    EXPECT_EQ(model->plan->mixers[1].count, 2);
  }
}

TEST(LayerPlan, OfAnyTextIsAPlanOrOneLine) {
  std::mt19937 random(7);
  for (const std::string_view config : {std::string_view(qwen35_27b), std::string_view(jamba_v01)})
    for (int trial = 0; trial < 400; ++trial) {
      std::string text(config);
      for (int edit = 0; edit < 3; ++edit)
        text[random() % text.size()] = "0123456789-.\"{}[],e"[random() % 19];
      const auto model = parse_planned_model(text, "config.json");
      if (!model) {
        EXPECT_EQ(model.error().message.find('\n'), std::string::npos);
      } else if (model->plan) {
        EXPECT_LE(model->plan->mixers.size(), 1024U);
      }
    }
}

}  // namespace
}  // namespace draftscope::simulator
