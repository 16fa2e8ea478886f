// SPDX-License-Identifier: GPL-3.0-or-later
// The backend's own host code on ranks: two processes, each with a device of its own, and how they end.

#include <draftscope/engine/cuda_backend.h>
#include <draftscope/engine/ranks/lead_and_follow.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "small_backend.h"
#include "stand_in.h"
#include "two_processes.h"

namespace draftscope::cuda_stand_in {
namespace {

using namespace draftscope::engine;
using testing::HasSubstr;

constexpr int ended_well = 0;
constexpr int ended_badly = 7;

/// A rank's part of the small model, made as a command makes it.
Result<std::unique_ptr<Backend>> join(Collective& ranks) {
  auto made = make_cuda_backend(shared_checkpoint(), {.cache_rows = 160, .ranks = &ranks});
  const Result<void> own = made ? Result<void>{} : Result<void>(tl::unexpected(made.error()));
  DRAFTSCOPE_TRY(agree_to_begin(ranks, own, "small"));
  return made;
}

int follow_rank_zero(Collective& ranks, const Failure& failure) {
  reset({}, failure);
  auto backend = join(ranks);
  const bool ended = backend && follow(**backend, ranks);
  backend = fail("ended");
  if (live().all() != 0) return 1;
  return ended ? ended_well : ended_badly;
}

struct TwoTexts {
  Result<std::vector<std::int32_t>> text;
  int other = -1;
};

/// A text of two ranks, of which one may have a call that fails.
TwoTexts text_of_two(const std::string& strategy, std::size_t prompt, double temperature = 0.0,
                     const Failure& of_first = {}, const Failure& of_other = {}) {
  TwoTexts ended{fail("not decoded"), -1};
  ended.other = on_two_processes(
      [&](Collective& ranks) {
        reset({}, of_first);
        auto own = join(ranks);
        if (!own) {
          ended.text = tl::unexpected(own.error());
          return;
        }
        const auto backend = lead(*std::move(own), ranks);
        ended.text = text_of(*backend, strategy, prompt, 6, temperature);
      },
      [&](Collective& ranks) { return follow_rank_zero(ranks, of_other); });
  EXPECT_EQ(live().all(), 0U);
  return ended;
}

TEST(CudaRanks, TwoProcessesDecodeTheTextOfOneRank) {
  for (const std::size_t prompt : {std::size_t{5}, std::size_t{70}}) {
    SCOPED_TRACE(prompt);
    reset({});
    const auto alone = text_on_one_rank("vanilla", prompt, 6);
    ASSERT_TRUE(alone) << alone.error().message;
    for (const char* strategy :
         {"vanilla", "layerskip:exit=1,gamma=2", "mix:mask=exit,exit=1,shape=tree,gamma=2"}) {
      SCOPED_TRACE(strategy);
      const TwoTexts two = text_of_two(strategy, prompt);
      ASSERT_TRUE(two.text) << two.text.error().message;
      EXPECT_EQ(*two.text, *alone);
      EXPECT_EQ(two.other, ended_well);
    }
  }
  reset({});
  const auto sampled = text_on_one_rank("layerskip:exit=1,gamma=2", 5, 6, 0.9);
  ASSERT_TRUE(sampled) << sampled.error().message;
  EXPECT_EQ(text_of_two("layerskip:exit=1,gamma=2", 5, 0.9).text, *sampled);
}

TEST(CudaRanks, ARankWhoseCallFailsEndsTheOther) {
  struct Case {
    const char* call;
    std::int64_t nth;
    const char* line;  ///< of rank 0 where the call is rank 1's
  };
  const Case cases[] = {{"cudaGetDeviceCount", 1, "rank 1: cuda backend: "},
                        {"ncclCommInitRank", 1, "cuda backend: NCCL: an exchange between ranks"},
                        {"ncclAllGather", 1, "cuda backend: NCCL: an exchange between ranks"},
                        {"cudaMalloc", 3, "rank 1: cuda backend: "},
                        {"cudaGraphLaunch", 2, "rank 1 has ended"},
                        {"cudaStreamQuery", 6, "has ended"},
                        {"cudaMemcpyAsync", 32, "rank 1 has ended"}};
  for (const Case& each : cases) {
    SCOPED_TRACE(each.call);
    const TwoTexts other = text_of_two("vanilla", 5, 0.0, {}, {.call = each.call, .nth = each.nth});
    ASSERT_FALSE(other.text);
    EXPECT_THAT(other.text.error().message, HasSubstr(each.line));
    EXPECT_EQ(other.text.error().message.find('\n'), std::string::npos);
    EXPECT_EQ(other.other, ended_badly);
    const TwoTexts first = text_of_two("vanilla", 5, 0.0, {.call = each.call, .nth = each.nth});
    ASSERT_FALSE(first.text);
    EXPECT_THAT(first.text.error().message, HasSubstr("cuda backend: "));
    EXPECT_EQ(first.other, ended_badly);
  }
}

}  // namespace
}  // namespace draftscope::cuda_stand_in
