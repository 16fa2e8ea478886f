// SPDX-License-Identifier: GPL-3.0-or-later
// What the backend's own host code decodes on the stand-in, kernels run as source and as PTX.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "cuda/backend.h"
#include "emulated_gpu.h"
#include "small_backend.h"
#include "stand_in.h"

namespace draftscope::cuda_stand_in {
namespace {

using testing::HasSubstr;

struct Case {
  const char* strategy;
  std::size_t prompt;
  double temperature;
};
constexpr Case cases[] = {{"vanilla", 5, 0.0},
                          {"vanilla", 70, 0.0},  // a library's products
                          {"layerskip:exit=1,gamma=2", 5, 0.0},
                          {"layerskip:exit=1,gamma=2", 5, 0.9},
                          {"mix:mask=exit,exit=1,shape=tree,gamma=2", 5, 0.0}};

/// Without the runtime: the backend over the emulated device alone.
Result<std::vector<std::int32_t>> expected_text(const Case& each) {
  DRAFTSCOPE_TRY_ASSIGN(const auto backend,
                        engine::cuda::make_backend(engine::cuda::emulation::make_emulated_gpu(),
                                                   small_checkpoint(), {.cache_rows = 160}));
  return text_of(*backend, each.strategy, each.prompt, 6, each.temperature);
}

void expect_texts(const Settings& settings) {
  for (const Case& each : cases) {
    SCOPED_TRACE(testing::Message() << each.strategy << ", prompt " << each.prompt);
    reset(settings);
    const auto text = text_on_device(each.strategy, each.prompt, 6, each.temperature);
    ASSERT_TRUE(text) << text.error().message;
    const auto expected = expected_text(each);
    ASSERT_TRUE(expected) << expected.error().message;
    EXPECT_EQ(*text, *expected);
    EXPECT_EQ(live().all(), 0U);
  }
}

TEST(CudaHostCode, DecodesWhatTheEmulatedDeviceDoes) {
  expect_texts({});
  EXPECT_GT(calls().at("cudaGraphLaunch"), 1);
}

TEST(CudaHostCode, DecodesTheSameWithKernelsAsPtx) {
  Settings settings;
  settings.ptx_file = DRAFTSCOPE_KERNELS_PTX;
  expect_texts(settings);
}

TEST(CudaHostCode, MakesGraphsOnceAndCopiesThroughPageLockedMemory) {
  reset({});
  ASSERT_TRUE(text_on_device("vanilla", 5, 3));
  const auto few = calls();
  reset({});
  ASSERT_TRUE(text_on_device("vanilla", 5, 9));
  const auto many = calls();
  EXPECT_EQ(few.at("cudaGraphInstantiate"), many.at("cudaGraphInstantiate"));
  EXPECT_EQ(few.at("cudaMalloc"), many.at("cudaMalloc"));
  EXPECT_EQ(few.at("cudaHostAlloc"), many.at("cudaHostAlloc"));
  EXPECT_GT(many.at("cudaGraphLaunch"), few.at("cudaGraphLaunch"));
}

TEST(CudaHostCode, LaunchesARoundAsOneGraphWhereTheDriverHasLoops) {
  const std::string strategy = "layerskip:exit=1,gamma=4";
  reset({});
  const auto whole = text_on_device(strategy, 5, 9);
  const auto few = calls();
  EXPECT_EQ(live().all(), 0U);
  Settings settings;
  settings.has_loops = false;
  reset(settings);
  const auto in_pieces = text_on_device(strategy, 5, 9);
  const auto many = calls();
  ASSERT_TRUE(whole && in_pieces);
  EXPECT_EQ(*whole, *in_pieces);
  EXPECT_GT(few.at("cudaGraphAddNode"), 0);
  EXPECT_EQ(many.count("cudaGraphAddNode"), 0U);
  // Every graph's work is waited for before the next one's, but for those of a round.
  EXPECT_LE(few.at("cudaGraphLaunch"), few.at("cudaStreamSynchronize"));
  EXPECT_GT(many.at("cudaGraphLaunch"), 2 * few.at("cudaGraphLaunch"));
}

std::string error_with(const Settings& settings) {
  reset(settings);
  const auto text = text_on_device("vanilla", 5, 2);
  EXPECT_EQ(live().all(), 0U);
  return text ? "no error" : text.error().message;
}

TEST(CudaHostCode, SaysInALineWhatADeviceLacks) {
  EXPECT_THAT(error_with({.devices = 0}), HasSubstr("no CUDA device"));
  EXPECT_THAT(error_with({.memory_bytes = std::size_t{80} << 20U}), HasSubstr("of device memory"));
  EXPECT_THAT(error_with({.memory_bytes = std::size_t{20} << 20U}), HasSubstr("out of memory"));
  EXPECT_THAT(error_with({.major = 5}), HasSubstr("compute capability 5.0"));
}

}  // namespace
}  // namespace draftscope::cuda_stand_in
