// SPDX-License-Identifier: GPL-3.0-or-later
// Prices of mixtures of experts and hybrids against tokens per second that others published, one request at
// a time. Assumed before any price was compared: vLLM and SGLang are `serving` engines and llama.cpp and its
// kin `graph`; a round with an acceptance rate drafts its whole length.
#include <draftscope/simulator/prices/cost_model.h>
#include <draftscope/simulator/prices/layer_plan.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "mixed_limits.h"
#include "prices/mixed_models.h"
#include "prices/passes/cost_prices.h"

namespace draftscope::simulator {
namespace {

struct PublishedRate {
  const char* config;
  const char* gpu;
  const char* weights;
  const char* host;
  double context;  ///< Prompt and half the output.
  double tokens_per_second;
  const char* source;
};

constexpr std::array<PublishedRate, 9> published_rates{{
    {qwen3_30b_a3b, "A100-SXM4-80GB", "bf16", "serving", 192, 103.9, "tenstorrent/tt-inference-server#340"},
    {qwen3_30b_a3b, "A100-SXM4-80GB", "bf16", "serving", 4160, 96.9, "tenstorrent/tt-inference-server#340"},
    {qwen3_30b_a3b, "H20-96GB", "bf16", "serving", 15000, 137.2, "vllm-project/vllm-ascend#4656"},
    {qwen35_27b, "H200-SXM5-141GB", "fp8", "serving", 4608, 96.4, "sgl-project/sglang#34307"},
    {qwen35_27b, "RTX 5090", "q4_k", "graph", 512, 74.5, "sudoingX/qwen38-mtp#43"},
    {qwen35_27b, "RTX 5090", "q5_k", "graph", 512, 66.3, "sudoingX/qwen38-mtp#15"},
    {qwen35_27b, "RTX 4090", "q4_k", "graph", 512, 47.7, "sudoingX/qwen38-mtp#5"},
    {qwen35_27b, "RTX 3090", "q4_k", "graph", 512, 41.3, "sudoingX/qwen38-mtp#21"},
    {gpt_oss_20b, "RTX 5090", "nvfp4", "graph", 512, 345.0, "kekzl/imp#573"},
}};

/// Next-token drafts of a fixed length, and tokens per second with them over those without.
struct PublishedSpeedup {
  const char* gpu;
  const char* weights;
  std::int32_t length;
  double acceptance_rate;  ///< Accepted / drafted.
  double speedup;
  const char* source;
};

constexpr std::array<PublishedSpeedup, 5> published_speedups{{
    {"RTX 5090", "q5_k", 2, 0.809, 129.4 / 66.3, "sudoingX/qwen38-mtp#15"},
    {"RTX 5090", "q5_k", 4, 0.638, 144.2 / 66.3, "sudoingX/qwen38-mtp#15"},
    {"RTX 5090", "q4_k", 4, 0.690, 169.1 / 74.5, "sudoingX/qwen38-mtp#43"},
    {"RTX 4090", "q4_k", 2, 0.560, 76.3 / 47.7, "sudoingX/qwen38-mtp#5"},
    {"RTX 3090", "q4_k", 4, 0.648, 52.8 / 31.9, "sudoingX/qwen38-mtp#42"},
}};

Prices priced(const char* config, const char* gpu, const char* weights, const char* host, double context,
              bool drafts) {
  const PlannedModel model = *parse_planned_model(config, "config.json");
  Scenario scenario;
  scenario.gpu = *find_gpu(gpu);
  scenario.shape = model.shape;
  scenario.plan = model.plan;
  scenario.weights = *parse_weight_type(weights);
  scenario.host = *find_host_time(host);
  scenario.context = context;
  if (drafts) scenario.draft_cost = *parse_draft_cost("mtp");
  const auto found = prices(cost_model_of(*scenario.gpu, scenario.shape, scenario.weights), scenario);
  EXPECT_TRUE(found) << found.error().message;
  return found ? *found : Prices{};
}

struct Errors {
  double mean = 0.0;
  double greatest = 0.0;
};

Errors errors_of(const std::vector<double>& ratios) {
  Errors errors;
  for (const double ratio : ratios) {
    errors.mean += std::abs(ratio - 1.0) / static_cast<double>(ratios.size());
    errors.greatest = std::max(errors.greatest, std::abs(ratio - 1.0));
  }
  return errors;
}

TEST(MixedModels, PublishedRatesAreNear) {
  std::vector<double> ratios;
  for (const PublishedRate& row : published_rates) {
    const Prices prices = priced(row.config, row.gpu, row.weights, row.host, row.context, false);
    const double rate = 1e9 / (prices.target_step.at(row.context) + prices.step_round_ns);
    ratios.push_back(rate / row.tokens_per_second);
    fmt::print("{} {}: {:.1f} tok/s, published {:.1f} ({:+.1f} %), {}\n", row.gpu, row.weights, rate,
               row.tokens_per_second, 100.0 * (ratios.back() - 1.0), row.source);
  }
  const Errors errors = errors_of(ratios);
  fmt::print("mean {:.3f}, greatest {:.3f}\n", errors.mean, errors.greatest);
  // Missed: experts under vLLM take longer than their kernels' law, which knows no cost of sorting rows.
  EXPECT_GT(errors.mean, max_vanilla_mean_error);
  EXPECT_LE(errors.mean, found_vanilla_mean_error + found_digits);
}

TEST(MixedModels, PublishedSpeedupsOfNextTokenLayersAreNear) {
  std::vector<double> ratios;
  for (const PublishedSpeedup& row : published_speedups) {
    constexpr double context = 512.0;
    const Prices prices = priced(qwen35_27b, row.gpu, row.weights, "graph", context, true);
    const DraftPrices& draft = prices.drafts[1];
    const double vanilla_ns = prices.target_step.at(context) + prices.step_round_ns;
    const double round_ns = row.length * draft.step.at(context) +
                            draft.verify[static_cast<std::size_t>(row.length) + 1].at(context) +
                            prices.round_ns;
    const double speedup = (1.0 + row.length * row.acceptance_rate) * vanilla_ns / round_ns;
    ratios.push_back(speedup / row.speedup);
    fmt::print("{} {} {}: {:.2f}x, published {:.2f}x ({:+.1f} %), draft {:.3f}, verification {:.2f}, {}\n",
               row.gpu, row.weights, row.length, speedup, row.speedup, 100.0 * (ratios.back() - 1.0),
               draft.step.at(context) / vanilla_ns,
               draft.verify[static_cast<std::size_t>(row.length) + 1].at(context) / vanilla_ns, row.source);
  }
  const Errors errors = errors_of(ratios);
  fmt::print("mean {:.3f}, greatest {:.3f}\n", errors.mean, errors.greatest);
  EXPECT_LE(errors.mean, max_mtp_mean_error);
  EXPECT_LE(errors.mean, found_mtp_mean_error + found_digits);
  // Missed on a card that was held to 250 W, where further rows are not free.
  EXPECT_GT(errors.greatest, max_mtp_greatest_error);
  EXPECT_LE(errors.greatest, found_mtp_greatest_error + found_digits);
}

}  // namespace
}  // namespace draftscope::simulator
