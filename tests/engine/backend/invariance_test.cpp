// SPDX-License-Identifier: GPL-3.0-or-later
// The outputs of a row are, bit for bit, a function of its own input, position, mask, range and keys.

#include "tested_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <cmath>

#include "../have_same_bits.h"

namespace draftscope::engine::test {
namespace {

constexpr std::int32_t cache_rows = 160;

/// All outputs of a row: hidden states, logits, top tokens.
struct RowOutputs {
  std::vector<float> values;
  friend bool operator==(const RowOutputs& a, const RowOutputs& b) {
    return have_same_bits(a.values, b.values);
  }
};

std::vector<RowOutputs> by_row(const Outputs& outputs, const OwnedBatch& batch,
                               const speculation::ModelShape& shape) {
  const std::size_t n = batch.rows.size();
  const auto d_model = static_cast<std::size_t>(shape.d_model);
  const auto vocab = static_cast<std::size_t>(shape.vocab);
  const auto k = static_cast<std::size_t>(batch.wanted.top_k);
  std::vector<RowOutputs> rows(n);
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<float>& values = rows[i].values;
    for (std::size_t b = 0; b < batch.hidden_after.size(); ++b)
      values.insert(values.end(), outputs.hidden.data() + (b * n + i) * d_model,
                    outputs.hidden.data() + (b * n + i + 1) * d_model);
    values.insert(values.end(), outputs.logits.data() + i * vocab, outputs.logits.data() + (i + 1) * vocab);
    for (std::size_t j = 0; j < k; ++j) {
      const TopToken& top = outputs.top[i * k + j];
      values.insert(values.end(), {static_cast<float>(top.token), top.logit, top.probability});
    }
  }
  return rows;
}

std::vector<RowOutputs> run(Backend& backend, const OwnedBatch& batch) {
  return by_row(outputs_of(backend, batch.view()), batch, backend.shape());
}

bool is_ancestor(const OwnedBatch& batch, std::size_t row, std::size_t of) {
  const std::size_t words = (batch.rows.size() + 63) / 64;
  return (batch.ancestors[of * words + row / 64] >> (row % 64) & 1U) != 0;
}

class InvarianceTest : public testing::TestWithParam<TestedBackend> {
 protected:
  static std::unique_ptr<Backend> backend(const Checkpoint& checkpoint, std::int32_t shares) {
    return GetParam().make(checkpoint, shares, cache_rows);
  }
  static DType dtype() { return GetParam().dtype; }
  static speculation::ModelShape shape(Random& random) { return GetParam().shape(random); }
};

/// Compares a tree after a prompt with its tokens computed one by one.
void expect_paths_as_chains(const TestedBackend& tested, const speculation::ModelShape& shape,
                            Random& random) {
  const Checkpoint checkpoint = random_checkpoint(shape, tested.dtype, random());
  const auto wide = tested.make(checkpoint, pick(random, 1, 4), cache_rows);
  const auto narrow = tested.make(checkpoint, pick(random, 1, 4), cache_rows);
  const std::int32_t context = pick(random, 1, 40);
  OwnedBatch prompt = chain(shape, random, context, 0);
  run(*wide, prompt);
  run(*narrow, prompt);

  OwnedBatch batch = tree(shape, random, pick(random, 2, 64), context);
  for (std::int32_t b = 0; b <= shape.n_layers; ++b) batch.hidden_after.push_back(b);
  batch.wanted.top_k = std::min(shape.vocab, 3);
  if (chance(random, 0.5)) batch.mask = random_mask(random, shape.n_layers, 0.3);
  const std::vector<RowOutputs> together = run(*wide, batch);

  for (int path = 0; path < 3; ++path) {
    const auto leaf =
        static_cast<std::size_t>(pick(random, 0, static_cast<std::int32_t>(batch.rows.size()) - 1));
    std::int32_t place = context;
    for (std::size_t row = 0; row <= leaf; ++row) {
      if (row != leaf && !is_ancestor(batch, row, leaf)) continue;
      OwnedBatch alone = batch;  // a single row, at the next position of a chain
      alone.rows = {batch.rows[row]};
      alone.ancestors.clear();
      alone.committed = alone.first_row = place++;
      ASSERT_EQ(run(*narrow, alone).front(), together[row]) << "row " << row << " of " << batch.rows.size();
    }
  }
}

TEST_P(InvarianceTest, EveryPathOfATreeHasTheBitsOfTheSameTokensOneByOneOnAnyNumberOfShares) {
  Random random(7);
  for (int round = 0; round < 12; ++round) {
    SCOPED_TRACE(round);
    speculation::ModelShape shape = InvarianceTest::shape(random);
    if (round % 3 == 0) shape.d_ff = 8 * pick(random, 125, 187);  // more than one chunk of k
    expect_paths_as_chains(GetParam(), shape, random);
    if (HasFatalFailure()) return;
  }
}

TEST_P(InvarianceTest, SoHasEveryPathOfEveryFamily) {
  Random random(8);
  for (const speculation::ModelFamily& family : speculation::model_families()) {
    if (!GetParam().computes(family)) continue;
    SCOPED_TRACE(family.architecture);
    expect_paths_as_chains(GetParam(), of_family(InvarianceTest::shape(random), family, random), random);
    if (HasFatalFailure()) return;
  }
}

TEST_P(InvarianceTest, APromptHasTheSameBitsHoweverItIsCutIntoBatches) {
  Random random(11);
  for (int round = 0; round < 6; ++round) {
    const speculation::ModelShape shape = InvarianceTest::shape(random);
    const Checkpoint checkpoint = random_checkpoint(shape, dtype(), random());
    const auto whole = backend(checkpoint, 2);
    const auto cut = backend(checkpoint, pick(random, 1, 4));
    OwnedBatch all = chain(shape, random, 64, 0);
    const std::vector<RowOutputs> expected = run(*whole, all);
    for (std::int32_t done = 0; done < 64;) {
      OwnedBatch part = all;
      const std::int32_t n = std::min(64 - done, pick(random, 1, 20));
      part.rows.assign(all.rows.begin() + done, all.rows.begin() + done + n);
      part.committed = chance(random, 0.5) ? done : pick(random, 0, done);
      part.first_row = done;
      const std::vector<RowOutputs> found = run(*cut, part);
      for (std::int32_t i = 0; i < n; ++i)
        ASSERT_EQ(found[static_cast<std::size_t>(i)], expected[static_cast<std::size_t>(done + i)]);
      done += n;
    }
  }
}

TEST_P(InvarianceTest, GarbageBeyondTheCommittedRowsNeverMatters) {
  Random random(13);
  for (int round = 0; round < 8; ++round) {
    const speculation::ModelShape shape = InvarianceTest::shape(random);
    const Checkpoint checkpoint = random_checkpoint(shape, dtype(), random());
    const auto clean = backend(checkpoint, 1);
    const auto dirty = backend(checkpoint, 2);
    OwnedBatch garbage = chain(shape, random, 60, 0);  // another request's rows, rolled back
    if (round % 2 == 0) {
      garbage.hidden.assign(static_cast<std::size_t>(shape.d_model), std::nanf(""));
      for (Row& row : garbage.rows) row = {-1, 0, row.position};
    }
    run(*dirty, garbage);
    OwnedBatch prompt = chain(shape, random, 9, 0);
    ASSERT_EQ(run(*dirty, prompt), run(*clean, prompt));
    OwnedBatch draft = tree(shape, random, 20, 9);
    draft.mask = random_mask(random, shape.n_layers, 0.5);
    run(*dirty, draft);
    const OwnedBatch verify = tree(shape, random, 17, 9);
    ASSERT_EQ(run(*dirty, verify), run(*clean, verify));
  }
}

TEST_P(InvarianceTest, AVerifiedPathMovedToTheCommittedRowsEqualsAChain) {
  Random random(17);
  for (int round = 0; round < 8; ++round) {
    const speculation::ModelShape shape = InvarianceTest::shape(random);
    const Checkpoint checkpoint = random_checkpoint(shape, dtype(), random());
    const auto moved = backend(checkpoint, 2);
    const auto straight = backend(checkpoint, 1);
    const OwnedBatch prompt = chain(shape, random, 5, 0);
    run(*moved, prompt);
    run(*straight, prompt);
    const OwnedBatch batch = tree(shape, random, 30, 5);
    run(*moved, batch);
    std::vector<CacheMove> moves;
    OwnedBatch path = chain(shape, random, 0, 5);
    for (std::size_t row = 0; row < 30; ++row)
      if (row == 29 || is_ancestor(batch, row, 29)) {
        moves.push_back({5 + static_cast<std::int32_t>(row), 5 + static_cast<std::int32_t>(moves.size())});
        path.rows.push_back(batch.rows[row]);
      }
    ASSERT_TRUE(moved->move_cache_rows(moves));
    run(*straight, path);
    const OwnedBatch next = chain(shape, random, 1, 5 + static_cast<std::int32_t>(moves.size()));
    ASSERT_EQ(run(*moved, next), run(*straight, next));
  }
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, InvarianceTest, testing::ValuesIn(tested_backends()),
                         [](const auto& parameters) { return parameters.param.name; });

}  // namespace
}  // namespace draftscope::engine::test
