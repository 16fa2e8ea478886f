// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/tuning/pass_costs.h>
#include <gmock/gmock.h>

#include "decoded.h"
#include "small_model.h"

namespace draftscope::engine {
namespace {

using speculation::SublayerMask;

constexpr std::int32_t six_layers = 6;

SublayerMask all_but_the_head() {
  return SublayerMask::early_exit(six_layers, 0);
}

TEST(PassCosts, OfBytesAddUpToAVanillaStep) {
  const Checkpoint checkpoint = small_model({.n_layers = six_layers});
  const auto backend = cpu_backend(checkpoint, 1, 64);
  const PassCosts costs = byte_costs(checkpoint, *backend);
  EXPECT_DOUBLE_EQ(costs.draft_step(SublayerMask(six_layers)), 1.0);
  double saved = 0.0;
  for (std::int32_t layer = 0; layer < six_layers; ++layer) {
    saved += 1.0 - costs.draft_step(SublayerMask(six_layers).skip_attention(layer));
    saved += 1.0 - costs.draft_step(SublayerMask(six_layers).skip_mlp(layer));
  }
  EXPECT_NEAR(costs.draft_step(all_but_the_head()), 1.0 - saved, 1e-9);
  EXPECT_GT(costs.draft_step(all_but_the_head()), 0.0);
  for (const std::int32_t rows : {1, 2, 9, 1000}) EXPECT_EQ(costs.verification(rows), 1.0);
}

TEST(PassCosts, OfTimesAreThoseThatWereMeasuredAndLinearBetween) {
  const PassTimes times{700, 500, {{1, 1000}, {2, 1100}, {4, 1200}, {8, 2000}}};
  const PassCosts costs = timed_costs(times, six_layers, 16.0);
  EXPECT_DOUBLE_EQ(costs.draft_step(SublayerMask(six_layers)), 1.0);
  SublayerMask no_attention(six_layers);
  SublayerMask no_mlp(six_layers);
  for (std::int32_t layer = 0; layer < six_layers; ++layer) {
    no_attention.skip_attention(layer);
    no_mlp.skip_mlp(layer);
  }
  EXPECT_DOUBLE_EQ(costs.draft_step(no_attention), 0.7);
  EXPECT_DOUBLE_EQ(costs.draft_step(no_mlp), 0.5);
  EXPECT_NEAR(costs.draft_step(all_but_the_head()), 0.2, 1e-12);
  EXPECT_DOUBLE_EQ(costs.verification(1), 1.0);
  EXPECT_DOUBLE_EQ(costs.verification(3), 1.15);
  EXPECT_DOUBLE_EQ(costs.verification(8), 2.0);
  EXPECT_DOUBLE_EQ(costs.verification(10), 2.4);
}

TEST(PassCosts, OfNoisyTimesAreNeverNegative) {
  for (const auto& [without_attention, without_mlp] : {std::pair{1200, 900}, {100, 100}, {1200, 1200}}) {
    const PassCosts costs = timed_costs({without_attention, without_mlp, {{1, 1000}}}, six_layers, 16.0);
    EXPECT_GE(costs.draft_step(all_but_the_head()), 0.0);
    EXPECT_GE(costs.draft_step(SublayerMask(six_layers)), costs.draft_step(all_but_the_head()));
    EXPECT_EQ(costs.verification(5), 1.0);
  }
}

TEST(PassTimes, AreReadFromAMachinesFactsAsTheyWereWritten) {
  const Checkpoint checkpoint = small_model({.n_layers = six_layers});
  const auto backend = cpu_backend(checkpoint, 1, 64);
  const auto measured = time_passes(*backend, 10);
  ASSERT_TRUE(measured) << measured.error().message;
  for (const PassTimes& times : {*measured, PassTimes{7, 5, {{1, 10}, {8, 20}}}}) {
    Facts machine{{"processor", "Processor"}};
    EXPECT_FALSE(pass_times_of(machine));
    add_pass_times(times, machine);
    EXPECT_EQ(pass_times_of(machine), times);
    machine["verification_1_ns"] = "0";
    EXPECT_FALSE(pass_times_of(machine));
  }
}

}  // namespace
}  // namespace draftscope::engine
