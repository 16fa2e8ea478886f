// SPDX-License-Identifier: GPL-3.0-or-later
#include "benchmark.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "backend.h"
#include "emulated_gpu.h"
#include "prompts.h"
#include "slow_one_row.h"

namespace draftscope::bench {
namespace {

/// A model small enough for an emulated device, and large enough for its kernels.
engine::Checkpoint small_model() {
  speculation::ModelShape shape;
  shape.name = "small";
  shape.architecture = "LlamaForCausalLM";
  shape.n_layers = 3;
  shape.d_model = 64;
  shape.n_heads = 2;
  shape.n_kv_heads = 1;
  shape.head_dim = 32;
  shape.d_ff = 64;
  shape.vocab = 96;
  shape.max_positions = 128;
  return *engine::make_synthetic(shape, 0.9, 1);
}

Options small_options() {
  Options options;
  options.model = "small";
  options.context = 6;
  options.contexts = {12};
  options.tokens = 6;
  options.repeats = 2;
  options.widths = {8};
  options.exits = {1, 2};
  options.gamma = 2;
  options.probe_bytes = 1 << 20;
  return options;
}

nlohmann::json run_small(const Options& options) {
  const engine::Checkpoint checkpoint = small_model();
  auto backend = engine::cuda::make_backend(engine::cuda::emulation::make_emulated_gpu(1), checkpoint,
                                            {.cache_rows = 64});
  if (!backend) throw std::runtime_error(backend.error().message);
  Rates rates("cpu", options.probe_bytes);
  return Benchmark(checkpoint, **backend, options, std::nullopt).run(rates);
}

TEST(Benchmark, MeasuresEveryFigureThatAResultHas) {
  const nlohmann::json result = run_small(small_options());
  EXPECT_GT(result.at("vanilla").at("tokens_per_s").at("median").get<double>(), 0.0);
  EXPECT_GT(result.at("vanilla").at("share_of_read_bandwidth").get<double>(), 0.0);
  EXPECT_GT(result.at("read_gb_per_s").at("median").get<double>(), 0.0);
  EXPECT_TRUE(result.contains("slow_one_row"));
  std::vector<int> widths;
  for (const auto& width : result.at("verify_widths")) widths.push_back(width.at("rows").get<int>());
  EXPECT_EQ(widths,
            (std::vector<int>{
                1, 2, 3, 8}));  // the constant widths, those that layerskip verifies, and those requested
  EXPECT_EQ(result.at("contexts").size(), 2U);
  ASSERT_EQ(result.at("draft_steps").size(), 2U);
  for (const auto& step : result.at("draft_steps")) {
    EXPECT_EQ(step.at("rounds").size(), 4U);
    EXPECT_GT(step.at("step_seconds").get<double>(), 0.0);
    EXPECT_TRUE(step.contains("outside_share_of_round"));
    for (const auto& round : step.at("rounds"))
      EXPECT_GT(round.at("draft_and_outside_seconds").at("median").get<double>(), 0.0);
  }
  ASSERT_EQ(result.at("layerskip").size(), 2U);
  for (const auto& run : result.at("layerskip")) {
    EXPECT_TRUE(run.at("same_text_as_vanilla").get<bool>());
    EXPECT_GE(run.at("emitted_tokens_per_round").get<double>(), 1.0);
    EXPECT_GT(run.at("speedup_against_prediction").at("median").get<double>(), 0.0);
  }
}

TEST(SlowOneRow, IsSaidOfPassesThatTwoRowsBeat) {
  const std::vector<double> one{6.13e-3, 6.11e-3, 6.18e-3, 6.12e-3, 6.15e-3};
  const auto scaled = [&](double factor) {
    std::vector<double> two = one;
    for (double& seconds : two) seconds *= factor;
    return two;
  };
  for (const double factor : {0.995, 1.0, 1.1, 2.0})
    EXPECT_FALSE(slow_one_row(one, scaled(factor))) << factor;
  for (const double factor : {0.1, 0.8155, 0.98}) EXPECT_TRUE(slow_one_row(one, scaled(factor))) << factor;
  EXPECT_EQ(
      slow_one_row(one, scaled(0.8155)).value(),
      "one row takes 6.13 ms, two rows 5.00: the one-row pass is slow, and every speedup over it is too "
      "large");
}

TEST(SlowOneRow, IsSaidWhereThreeOfFourRepeatsSaySo) {
  for (std::size_t repeats = 1; repeats <= 12; ++repeats)
    for (std::size_t faster = 0; faster <= repeats; ++faster) {
      const std::vector<double> one(repeats, 1.0);
      std::vector<double> two(repeats, 1.01);
      std::fill_n(two.rbegin(), faster, 0.5);
      EXPECT_EQ(slow_one_row(one, two).has_value(), 4 * faster >= 3 * repeats) << faster << " of " << repeats;
    }
}

TEST(Benchmark, TakesThePromptFromAFile) {
  const auto path = std::filesystem::temp_directory_path() / "draftscope-bench-gpu-prompt.txt";
  std::ofstream(path) << "5 4 3 2 1\n0 7";
  EXPECT_EQ(tokens_in(path.string(), 6), (std::vector<std::int32_t>{5, 4, 3, 2, 1, 0}));
  EXPECT_THROW((void)tokens_in(path.string(), 8), std::runtime_error);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace draftscope::bench
