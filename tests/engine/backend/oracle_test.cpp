// SPDX-License-Identifier: GPL-3.0-or-later
// Compares forward() with fp64 on random shapes, types, masks, layer ranges, chains and trees.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <cmath>

#include "oracle.h"
#include "tested_backend.h"

namespace draftscope::engine::test {
namespace {

/// Largest difference, relative to the largest magnitude of the reference.
double relative_error(std::span<const float> found, const Eigen::VectorXd& expected) {
  double worst = 0.0;
  for (Eigen::Index i = 0; i < expected.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(found[static_cast<std::size_t>(i)]) - expected[i]));
  return worst / std::max(expected.cwiseAbs().maxCoeff(), 1e-3);
}

// In fp32 the sums round. In 16 bits a value midway between two bf16 neighbours may fall to the other side in
// fp32, which moves the input of one product by 2^-8 of itself. The residual stream carries a few of these
// differences.
double tolerance(DType dtype) {
  return dtype == DType::f32 ? 2e-4 : 3e-2;
}

void expect_close(const Outputs& outputs, const Oracle::Result& expected, const OwnedBatch& batch,
                  const speculation::ModelShape& shape, DType dtype) {
  const auto d_model = static_cast<std::size_t>(shape.d_model);
  const std::size_t n = batch.rows.size();
  ASSERT_EQ(outputs.hidden.size(), batch.hidden_after.size() * n * d_model);
  for (std::size_t b = 0; b < expected.hidden.size(); ++b)
    for (std::size_t i = 0; i < n; ++i)
      ASSERT_LT(
          relative_error({outputs.hidden.data() + (b * n + i) * d_model, d_model}, expected.hidden[b][i]),
          tolerance(dtype))
          << "hidden state " << batch.hidden_after[b] << " of row " << i;
  const auto vocab = static_cast<std::size_t>(shape.vocab);
  ASSERT_EQ(outputs.logits.size(), expected.logits.size() * vocab);
  for (std::size_t i = 0; i < expected.logits.size(); ++i)
    ASSERT_LT(relative_error({outputs.logits.data() + i * vocab, vocab}, expected.logits[i]),
              tolerance(dtype))
        << "logits of head row " << i;
}

void expect_top_of_logits(const Outputs& outputs, std::size_t head_rows, std::size_t vocab, std::size_t k) {
  ASSERT_EQ(outputs.top.size(), head_rows * k);
  for (std::size_t i = 0; i < head_rows; ++i) {
    const std::span<const float> logits{outputs.logits.data() + i * vocab, vocab};
    std::vector<std::int32_t> order(vocab);
    for (std::size_t t = 0; t < vocab; ++t) order[t] = static_cast<std::int32_t>(t);
    std::ranges::stable_sort(order, [&](std::int32_t a, std::int32_t b) {
      return logits[static_cast<std::size_t>(a)] > logits[static_cast<std::size_t>(b)];
    });
    double total = 0.0;
    for (const float logit : logits)
      total += std::exp(static_cast<double>(logit - logits[static_cast<std::size_t>(order[0])]));
    for (std::size_t j = 0; j < k; ++j) {
      const TopToken& top = outputs.top[i * k + j];
      ASSERT_EQ(top.token, order[j]);
      ASSERT_EQ(top.logit, logits[static_cast<std::size_t>(order[j])]);
      const double probability =
          std::exp(static_cast<double>(top.logit - logits[static_cast<std::size_t>(order[0])])) / total;
      ASSERT_NEAR(static_cast<double>(top.probability), probability, 1e-5);
    }
  }
}

class OracleTest : public testing::TestWithParam<TestedBackend> {};

/// Tests one model with a prompt and one batch after it.
void expect_agreement(const TestedBackend& tested, const speculation::ModelShape& shape, Random& random) {
  const DType dtype = tested.dtype;
  const Checkpoint checkpoint = random_checkpoint(shape, dtype, random());
  const auto backend = tested.make(checkpoint, pick(random, 1, 3), 80);
  Oracle oracle(checkpoint, 80);
  Outputs outputs;
  const std::int32_t context = pick(random, 1, 30);
  const OwnedBatch prompt = chain(shape, random, context, 0);
  ASSERT_TRUE(backend->forward(prompt.view(), outputs));
  oracle.forward(prompt.view());

  OwnedBatch batch = chance(random, 0.5) ? tree(shape, random, pick(random, 1, 40), context)
                                         : chain(shape, random, pick(random, 1, 40), context);
  if (chance(random, 0.6)) batch.mask = random_mask(random, shape.n_layers, 0.4);
  if (chance(random, 0.4)) {
    batch.layers.begin = pick(random, 0, shape.n_layers);
    batch.layers.end = pick(random, batch.layers.begin, shape.n_layers);
  }
  const auto n = static_cast<std::int32_t>(batch.rows.size());
  if (chance(random, 0.4)) {
    std::normal_distribution<float> normal;
    for (std::int32_t i = 0; i < 5 * shape.d_model; ++i) batch.hidden.push_back(normal(random));
    for (Row& row : batch.rows)
      if (chance(random, 0.5)) row = {-1, pick(random, 0, 4), row.position};
  }
  for (std::int32_t b = batch.layers.begin; b <= batch.layers.end; ++b)
    if (chance(random, 0.7)) batch.hidden_after.push_back(b);
  batch.wanted.head_from = pick(random, 0, n - 1);
  batch.wanted.top_k = pick(random, 0, std::min(shape.vocab, 7));
  const auto done = backend->forward(batch.view(), outputs);
  ASSERT_TRUE(done) << done.error().message;
  expect_close(outputs, oracle.forward(batch.view()), batch, shape, dtype);
  expect_top_of_logits(outputs, static_cast<std::size_t>(n - batch.wanted.head_from),
                       static_cast<std::size_t>(shape.vocab), static_cast<std::size_t>(batch.wanted.top_k));
}

TEST_P(OracleTest, AgreesOnRandomShapesMasksRangesChainsAndTrees) {
  Random random(2026);
  for (int round = 0; round < 16; ++round) {
    SCOPED_TRACE(round);
    const speculation::ModelShape shape = GetParam().shape(random);
    expect_agreement(GetParam(), shape, random);
    if (HasFatalFailure()) return;
  }
}

TEST_P(OracleTest, AgreesOnEveryFamily) {
  Random random(2028);
  for (const speculation::ModelFamily& family : speculation::model_families()) {
    if (!GetParam().computes(family)) continue;
    for (int round = 0; round < 2; ++round) {
      SCOPED_TRACE(testing::Message() << family.architecture << ' ' << round);
      const speculation::ModelShape shape = of_family(GetParam().shape(random), family, random);
      expect_agreement(GetParam(), shape, random);
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, OracleTest, testing::ValuesIn(tested_backends()),
                         [](const auto& parameters) { return parameters.param.name; });

}  // namespace
}  // namespace draftscope::engine::test
