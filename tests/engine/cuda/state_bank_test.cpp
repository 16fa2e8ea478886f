// SPDX-License-Identifier: GPL-3.0-or-later
// States that stay on the device equal the states that would have been downloaded: to the bit where passes
// read them, and by their cosines.

#include <draftscope/engine/probe.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "cuda_device.h"
#include "cuda_shapes.h"
#include "random_model.h"

namespace draftscope::engine::test {
namespace {

constexpr std::int32_t room = 64;  // Cache rows.

std::vector<float> random_states(Random& random, std::size_t n, std::size_t d_model) {
  std::normal_distribution<float> value(0.1F, 1.0F);
  std::vector<float> states(n * d_model);
  for (float& number : states) number = value(random);
  return states;
}

Outputs outputs_of(Backend& backend, const Batch& batch) {
  Outputs outputs;
  const auto done = backend.forward(batch, outputs);
  EXPECT_TRUE(done) << done.error().message;
  return outputs;
}

std::vector<Row> rows_of(std::int32_t first, std::size_t n) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < n; ++i)
    rows.push_back({.token = -1,
                    .hidden = first + static_cast<std::int32_t>(i),
                    .position = static_cast<std::int32_t>(i)});
  return rows;
}

class StateBankOnTheDevice : public testing::Test {
 protected:
  StateBankOnTheDevice() {
    shape_.n_layers = 3;
    shape_.sliding_window = 0;
    checkpoint_ = random_checkpoint(shape_, DType::bf16, 7);
    backend_ = backend_on_device(checkpoint_, {.cache_rows = room});
  }
  /// Expects that states in the bank, given by their rows, lead to the same logits as the same states
  /// uploaded.
  void expect_logits_of(std::span<const Row> kept, std::span<const float> states, LayerRange layers) {
    Batch batch{.rows = kept, .reads_kept = true, .layers = layers};
    batch.wanted.head = true;
    batch.wanted.logits = true;
    const std::vector<float> found = outputs_of(*backend_, batch).logits;
    const std::vector<Row> uploaded = rows_of(0, kept.size());
    batch.rows = uploaded;
    batch.reads_kept = false;
    batch.hidden = states.first(kept.size() * d_model());
    EXPECT_EQ(found, outputs_of(*backend_, batch).logits) << kept.size() << " states";
  }
  [[nodiscard]] std::size_t d_model() const { return static_cast<std::size_t>(shape_.d_model); }
  StateBank& bank() { return *backend_->states(); }

  Random random_{51};
  speculation::ModelShape shape_ = random_cuda_shape(random_);
  Checkpoint checkpoint_;
  std::unique_ptr<Backend> backend_;
};

TEST_F(StateBankOnTheDevice, IsReadByPassesAsUploadedStatesAre) {
  for (const std::size_t n : {std::size_t{1}, std::size_t{7}, std::size_t{20}}) {
    const std::vector<float> states = random_states(random_, n, d_model());
    const auto first = bank().reserve(static_cast<std::int32_t>(n) + 2);
    ASSERT_TRUE(first) << first.error().message;
    ASSERT_TRUE(bank().put(*first + 2, states));
    expect_logits_of(rows_of(*first + 2, n), states, {1, 3});
  }
}

TEST_F(StateBankOnTheDevice, HoldsWhatPassesLeaveThere) {
  const std::vector<std::int32_t> boundaries = {0, 1, 3};
  for (const std::int32_t n : {1, 5, 33}) {
    const OwnedBatch chained = chain(shape_, random_, n, 0);
    Batch batch = chained.view();
    batch.wanted = {.hidden_after = boundaries};
    const Outputs given = outputs_of(*backend_, batch);
    const auto first = bank().reserve(3 * n);
    ASSERT_TRUE(first);
    batch.wanted.keep_at = *first;
    EXPECT_TRUE(outputs_of(*backend_, batch).hidden.empty());
    expect_logits_of(rows_of(*first, static_cast<std::size_t>(std::min(3 * n, 64))), given.hidden, {3, 3});
  }
}

TEST_F(StateBankOnTheDevice, HoldsTheStatesOfARoundUntilTheNext) {
  std::vector<std::int32_t> boundaries(4);
  std::iota(boundaries.begin(), boundaries.end(), 0);
  for (const bool above : {false, true}) {
    const OwnedBatch prompt = chain(shape_, random_, 6, 0);
    ASSERT_FALSE(outputs_of(*backend_, prompt.view()).logits.empty());
    const auto mask = speculation::SublayerMask::early_exit(3, 2);
    ChainRound round{.root = 3, .root_position = 6, .draft_length = 4, .mask = &mask, .layers = {0, 2}};
    round.above_exit = above;
    round.states = boundaries;
    ChainRoundOutputs given;
    ASSERT_TRUE(backend_->chain_round(round, given));
    round.keeps_states = true;
    ChainRoundOutputs kept;
    ASSERT_TRUE(backend_->chain_round(round, kept));
    EXPECT_TRUE(kept.hidden.empty());
    const auto rows = static_cast<std::int32_t>(kept.verified.size());
    ASSERT_EQ(rows, 5);
    std::vector<Row> numbers;
    for (const std::int32_t boundary : boundaries)
      for (std::int32_t row = 0; row < rows; ++row)
        numbers.push_back({.token = -1, .hidden = bank().of_round(boundary, row), .position = 0});
    expect_logits_of(numbers, given.hidden, {3, 3});
  }
}

TEST_F(StateBankOnTheDevice, ComparesAndMovesAsTheHostDoes) {
  constexpr std::int32_t n = 40;
  std::vector<float> states = random_states(random_, n, d_model());
  std::fill_n(states.begin() + static_cast<std::ptrdiff_t>(3 * d_model()), d_model(), 0.0F);
  states[5 * d_model()] = std::numeric_limits<float>::quiet_NaN();
  states[6 * d_model()] = std::numeric_limits<float>::infinity();
  HostStates host(d_model());
  std::vector<double> expected;
  std::vector<double> found;
  std::vector<StatePair> pairs;
  std::vector<StateMove> moves;
  for (int i = 0; i < 500; ++i) pairs.push_back({pick(random_, 0, 2 * n - 1), pick(random_, 0, 2 * n - 1)});
  for (std::int32_t i = 0; i < n; ++i) moves.push_back({pick(random_, 0, n - 1), n + i});
  const std::int32_t first = bank().reserve(2 * n).value();
  const auto at = [&](std::vector<StatePair> those) {
    for (StatePair& pair : those) pair = {pair.a + first, pair.b + first};
    return those;
  };
  ASSERT_EQ(host.reserve(2 * n).value(), 0);
  for (StateBank* const each : {static_cast<StateBank*>(&host), &bank()}) {
    const std::int32_t from = each == &host ? 0 : first;
    std::vector<StateMove> own = moves;
    for (StateMove& move : own) move = {move.from + from, move.to + from};
    ASSERT_TRUE(each->put(from, states));
    ASSERT_TRUE(each->move(own));
  }
  ASSERT_TRUE(host.compare(pairs, expected));
  ASSERT_TRUE(bank().compare(at(pairs), found));
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-5) << i;
}

TEST_F(StateBankOnTheDevice, RefusesNumbersThatItHasNot) {
  const std::int32_t first = bank().reserve(4).value();
  const std::vector<float> states = random_states(random_, 3, d_model());
  EXPECT_FALSE(bank().put(first + 2, states));
  EXPECT_FALSE(bank().put(first - 1, states));
  std::vector<double> cosines;
  EXPECT_FALSE(bank().compare(std::vector{StatePair{0, first + 4}}, cosines));
  EXPECT_FALSE(bank().move(std::vector{StateMove{-1, first}}));
  const std::vector<Row> rows = rows_of(first + 3, 2);
  Outputs outputs;
  Batch batch{.rows = rows, .reads_kept = true, .layers = {0, 3}};
  const auto read = backend_->forward(batch, outputs);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "batch.rows[1].hidden is " + std::to_string(first + 4) +
                                      ", expected a row of the bank of states, which has " +
                                      std::to_string(first + 4));
  const std::vector<Row> fine = rows_of(first, 2);
  const std::vector<std::int32_t> boundaries = {1, 3};
  batch.rows = fine;
  batch.wanted = {.hidden_after = boundaries, .keep_at = first + 1};
  EXPECT_FALSE(backend_->forward(batch, outputs));
}

}  // namespace
}  // namespace draftscope::engine::test
