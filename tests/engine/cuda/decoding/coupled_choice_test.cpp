// SPDX-License-Identifier: GPL-3.0-or-later
// The device's coupled choice is the host's, draw by draw: the same noise and the same kept tokens. That
// includes ties among logits and at the edges of top-k and top-p.

#include <draftscope/engine/sampling.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "cuda/kernels/philox.h"
#include "cuda/launch.h"
#include "emulated_gpu.h"
#include "one_operation.h"
#include "random_model.h"

namespace draftscope::engine::test {
namespace {

using cuda::HeadResult;
using cuda::PassParams;
using cuda::PassState;
using cuda::WarpedRow;

/// Choices of the verification's kernel for every row of logits.
std::vector<std::int32_t> device_choices(const std::vector<float>& logits, std::int32_t vocab,
                                         const SamplingOptions& sampling, CounterKey key,
                                         std::int32_t root_position) {
  const auto rows = static_cast<std::int32_t>(logits.size()) / vocab;
  auto state = std::make_unique<PassState>();
  state->rows = rows;
  state->root_position = root_position;
  state->sampling = {.inverse_temperature = static_cast<float>(1.0 / sampling.temperature),
                     .top_k = sampling.top_k,
                     .top_p = sampling.top_p,
                     .temperature = sampling.temperature,
                     .coupled = 1,
                     .seed = key.seed,
                     .stream = key.stream};
  std::vector<float> values = logits;
  std::vector<HeadResult> heads(static_cast<std::size_t>(rows));
  for (std::size_t row = 0; row < heads.size(); ++row) {
    const auto begin = logits.begin() + static_cast<std::ptrdiff_t>(row) * vocab;
    heads[row].maximum = *std::max_element(begin, begin + vocab);
  }
  std::vector<WarpedRow> warped(heads.size());
  PassParams params{};
  params.model.vocab = vocab;
  params.model.n_heads = params.model.n_kv_heads = 1;
  params.work.state = state.get();
  params.work.logits = values.data();
  params.work.head_results = heads.data();
  params.work.target_rows = warped.data();
  const auto gpu = cuda::emulation::make_emulated_gpu(2);
  EXPECT_TRUE(run_operation(*gpu, cuda::KernelFormat::bf16, params, {.kind = cuda::OperationKind::warp_rows},
                            0, rows, cuda::sampling_shared_bytes));
  std::vector<std::int32_t> choices;
  for (const WarpedRow& row : warped) choices.push_back(row.choice);
  return choices;
}

TEST(CoupledChoice, EqualsTheHostsDrawByDraw) {
  Random random(17);
  std::size_t draws = 0;
  std::size_t beyond_the_best = 0;
  for (int round = 0; round < 40; ++round) {
    SCOPED_TRACE(round);
    const std::int32_t vocab = pick(random, 1, 700);
    const std::int32_t rows = pick(random, 1, 12);
    // Every other round has only a few different values, so that most tokens tie.
    const float step = round % 2 == 0 ? 0.75F : 0.0F;
    std::vector<float> logits(static_cast<std::size_t>(vocab * rows));
    std::normal_distribution<float> normal(0.0F, 2.0F);
    for (float& logit : logits) {
      logit = normal(random);
      if (step > 0.0F) logit = std::round(logit / step) * step;
    }
    SamplingOptions sampling{.temperature = std::uniform_real_distribution<double>(0.05, 2.0)(random),
                             .coupled = true};
    if (chance(random, 0.5)) sampling.top_k = pick(random, 1, vocab + 2);
    if (chance(random, 0.5)) sampling.top_p = std::uniform_real_distribution<double>(0.2, 1.0)(random);
    const CounterKey key{random(), random()};
    const std::int32_t root_position = pick(random, 0, 100000);
    const std::vector<std::int32_t> found = device_choices(logits, vocab, sampling, key, root_position);
    ASSERT_EQ(found.size(), static_cast<std::size_t>(rows));
    Distribution distribution;
    for (std::int32_t row = 0; row < rows; ++row) {
      const auto mine = std::span(logits).subspan(
          static_cast<std::size_t>(row) * static_cast<std::size_t>(vocab), static_cast<std::size_t>(vocab));
      warp(mine, sampling, distribution);
      EXPECT_EQ(found[static_cast<std::size_t>(row)],
                coupled_token(distribution, key, root_position + row + 1));
      ++draws;
      const auto best = std::max_element(mine.begin(), mine.end()) - mine.begin();
      beyond_the_best += found[static_cast<std::size_t>(row)] != best ? 1U : 0U;
    }
  }
  EXPECT_GT(draws, 150U);
  EXPECT_GT(beyond_the_best, draws / 4);
}

TEST(CoupledChoice, DrawsTheHostsNumbers) {
  Random random(19);
  for (int i = 0; i < 500; ++i) {
    const CounterKey key{random(), random()};
    const std::int32_t position = pick(random, 0, 1 << 30);
    const std::int32_t token = pick(random, 0, (1 << 24) - 1);
    EXPECT_EQ(cuda::uniform_draw(key.seed, key.stream, position, cuda::DrawFor::noise, token),
              uniform(key, {DrawPurpose::noise, position, token}));
  }
}

}  // namespace
}  // namespace draftscope::engine::test
