// SPDX-License-Identifier: GPL-3.0-or-later
// Texts that the backend's own host code decodes on the stand-in, and the calls that it makes.

#include <draftscope/engine/cuda_backend.h>
#include <draftscope/engine/decode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "cuda/backend.h"
#include "emulated_gpu.h"
#include "small_backend.h"
#include "stand_in.h"

namespace draftscope::cuda_stand_in {
namespace {

using engine::DecodingPasses;
using testing::HasSubstr;

struct Case {
  const char* strategy;
  std::size_t prompt;
  double temperature;
};
constexpr Case cases[] = {{"vanilla", 5, 0.0},
                          {"vanilla", 70, 0.0},  // Uses a library's products.
                          {"layerskip:exit=1,gamma=2", 5, 0.0},
                          {"layerskip:exit=1,gamma=2", 5, 0.9},
                          {"mix:mask=exit,exit=1,shape=tree,gamma=2", 5, 0.0}};

/// Decodes without the runtime, by the backend over the emulated device.
Result<std::vector<std::int32_t>> expected_text(const Case& each) {
  DRAFTSCOPE_TRY_ASSIGN(const auto backend,
                        engine::cuda::make_backend(engine::cuda::emulation::make_emulated_gpu(),
                                                   small_checkpoint(), {.cache_rows = 160}));
  return text_of(*backend, each.strategy, each.prompt, 6, each.temperature);
}

class CudaHostCode : public testing::TestWithParam<DecodingPasses> {};

TEST_P(CudaHostCode, DecodesWhatTheEmulatedDeviceDoes) {
  for (const Case& each : cases) {
    SCOPED_TRACE(testing::Message() << each.strategy << ", prompt " << each.prompt);
    reset({});
    const auto text = text_on_device(each.strategy, each.prompt, 6, each.temperature, GetParam());
    ASSERT_TRUE(text) << text.error().message;
    const auto expected = expected_text(each);
    ASSERT_TRUE(expected) << expected.error().message;
    EXPECT_EQ(*text, *expected);
    EXPECT_EQ(live().all(), 0U);
  }
}

std::map<std::string, std::int64_t> calls_of_text(const char* strategy, std::int32_t tokens,
                                                  DecodingPasses passes) {
  reset({});
  EXPECT_TRUE(text_on_device(strategy, 5, tokens, 0.0, passes));
  return calls();
}

/// All memory that a text needs is allocated before its first token, however long the text is.
TEST_P(CudaHostCode, TakesNoMemoryForATokenAndCopiesThroughPageLockedMemory) {
  for (const char* strategy : {"vanilla", "layerskip:exit=1,gamma=2"}) {
    auto few = calls_of_text(strategy, 3, GetParam());
    auto many = calls_of_text(strategy, 12, GetParam());
    for (const char* call : {"cudaMalloc", "cudaHostAlloc", "cudaFree", "cudaFreeHost"})
      EXPECT_EQ(few.at(call), many.at(call)) << strategy << ", " << call;
    EXPECT_GT(many.at("cudaLaunchKernelExC"), few.at("cudaLaunchKernelExC"));
    EXPECT_GT(many.at("cudaMemcpyAsync"), few.at("cudaMemcpyAsync"));
  }
}

INSTANTIATE_TEST_SUITE_P(Passes, CudaHostCode,
                         testing::Values(DecodingPasses::programs, DecodingPasses::plain),
                         [](const auto& parameter) {
                           return parameter.param == DecodingPasses::plain ? "plain" : "programs";
                         });

std::string error_with(const Settings& settings) {
  reset(settings);
  const auto text = text_on_device("vanilla", 5, 2);
  EXPECT_EQ(live().all(), 0U);
  return text ? "no error" : text.error().message;
}

TEST(CudaHostCalls, SayInALineWhatADeviceLacks) {
  EXPECT_THAT(error_with({.devices = 0}), HasSubstr("no CUDA device"));
  EXPECT_THAT(error_with({.memory_bytes = std::size_t{80} << 20U}), HasSubstr("of device memory"));
  EXPECT_THAT(error_with({.memory_bytes = std::size_t{20} << 20U}), HasSubstr("out of memory"));
  EXPECT_THAT(error_with({.major = 5}), HasSubstr("compute capability 5.0"));
}

}  // namespace
}  // namespace draftscope::cuda_stand_in
