// SPDX-License-Identifier: GPL-3.0-or-later
// What the stand-in refuses of NCCL's calls.

#include <cuda_runtime.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nccl.h>

#include <cstring>
#include <span>
#include <string>

#include "stand_in.h"
#include "two_processes.h"

namespace draftscope::cuda_stand_in {
namespace {

using testing::HasSubstr;

constexpr std::size_t held_bytes = 256;

/// A device's memory and stream, and a group of ranks that it is in.
class GroupOfRanks {
 public:
  /// Joins all ranks that `others` connects; without it, a group of this rank alone.
  explicit GroupOfRanks(engine::Collective* others = nullptr) {
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    EXPECT_EQ(cudaMalloc(&memory, held_bytes), cudaSuccess);
    EXPECT_EQ(cudaHostAlloc(&host, held_bytes, cudaHostAllocDefault), cudaSuccess);
    const int rank = others == nullptr ? 0 : others->rank();
    ncclUniqueId id{};
    if (rank == 0) {
      EXPECT_EQ(ncclGetUniqueId(&id), ncclSuccess);
    }
    if (others != nullptr) {
      EXPECT_TRUE(others->broadcast(std::as_writable_bytes(std::span(&id, 1))));
    }
    EXPECT_EQ(ncclCommInitRank(&group, others == nullptr ? 1 : others->size(), id, rank), ncclSuccess)
        << words();
  }
  GroupOfRanks(const GroupOfRanks&) = delete;
  GroupOfRanks& operator=(const GroupOfRanks&) = delete;
  ~GroupOfRanks() {
    (void)cudaFree(memory);
    (void)cudaFreeHost(host);
    if (group != nullptr) (void)ncclCommDestroy(group);
    (void)cudaStreamDestroy(stream);
  }
  [[nodiscard]] ncclResult_t gather(std::size_t count, ncclDataType_t type = ncclUint8, std::size_t own = 0) {
    return ncclAllGather(static_cast<std::byte*>(memory) + own, memory, count, type, group, stream);
  }
  [[nodiscard]] static std::string words() { return ncclGetLastError(nullptr); }

  cudaStream_t stream = nullptr;
  void* memory = nullptr;
  void* host = nullptr;
  ncclComm_t group = nullptr;
};

class NcclStandIn : public testing::Test {
 protected:
  void SetUp() override { reset({}); }
  void TearDown() override { EXPECT_EQ(live().all(), 0U); }
};

TEST_F(NcclStandIn, RefusesOtherExchangesThanOfBytesInTheirPlace) {
  GroupOfRanks ranks;
  EXPECT_EQ(ranks.gather(held_bytes + 1), ncclInvalidArgument);
  EXPECT_THAT(GroupOfRanks::words(), HasSubstr("beyond device memory"));
  EXPECT_EQ(ranks.gather(8, ncclFloat32), ncclInvalidArgument);
  EXPECT_EQ(ranks.gather(0), ncclInvalidArgument);
  EXPECT_EQ(ranks.gather(8, ncclUint8, 8), ncclInvalidArgument);
  EXPECT_THAT(GroupOfRanks::words(), HasSubstr("not in its own place"));
  EXPECT_EQ(ncclAllGather(ranks.memory, ranks.memory, 8, ncclUint8, nullptr, ranks.stream),
            ncclInvalidArgument);
  EXPECT_EQ(ncclAllGather(ranks.memory, ranks.memory, 8, ncclUint8, ranks.group, nullptr),
            ncclInvalidArgument);
  EXPECT_EQ(ranks.gather(held_bytes), ncclSuccess);
  EXPECT_EQ(cudaStreamSynchronize(ranks.stream), cudaSuccess);
}

TEST_F(NcclStandIn, RefusesGroupsThatAreNotThereOrStillUsed) {
  ncclUniqueId id{};
  ncclComm_t group = nullptr;
  EXPECT_EQ(ncclCommInitRank(&group, 1, id, 0), ncclInvalidArgument);
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  EXPECT_EQ(ncclCommInitRank(&group, 2, id, 2), ncclInvalidArgument);
  EXPECT_EQ(ncclCommDestroy(nullptr), ncclInvalidArgument);
  GroupOfRanks ranks;
  ASSERT_EQ(ranks.gather(8), ncclSuccess);
  EXPECT_EQ(ncclCommDestroy(ranks.group), ncclInvalidUsage);
  ASSERT_EQ(cudaStreamSynchronize(ranks.stream), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(ranks.stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  ASSERT_EQ(ranks.gather(8), ncclSuccess);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(ranks.stream, &graph), cudaSuccess);
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(ncclCommDestroy(ranks.group), ncclInvalidUsage);
  EXPECT_EQ(cudaGraphLaunch(executable, ranks.stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(ranks.stream), cudaSuccess);
  ASSERT_EQ(ncclCommAbort(ranks.group), ncclSuccess);
  ranks.group = nullptr;
  EXPECT_EQ(cudaGraphLaunch(executable, ranks.stream), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
}

/// An exchange of `first` bytes by rank 0 where rank 1 exchanges `second`, or ends without; rank 0 finds
/// `words`.
void exchange_unlike(std::size_t first, std::size_t second, const std::string& words) {
  const int other = on_two_processes(
      [&](engine::Collective& ranks) {
        GroupOfRanks group(&ranks);
        EXPECT_EQ(group.gather(first), ncclSuccess);
        EXPECT_EQ(cudaStreamQuery(group.stream), cudaErrorNotReady);
        ncclResult_t found = ncclSuccess;
        while (found == ncclSuccess && cudaStreamQuery(group.stream) == cudaErrorNotReady)
          EXPECT_EQ(ncclCommGetAsyncError(group.group, &found), ncclSuccess);
        EXPECT_EQ(found, ncclRemoteError);
        EXPECT_THAT(GroupOfRanks::words(), HasSubstr(words));
        EXPECT_EQ(cudaStreamQuery(group.stream), cudaErrorNotReady);  // for ever
        EXPECT_EQ(ncclCommAbort(group.group), ncclSuccess);
        group.group = nullptr;
        EXPECT_EQ(cudaStreamQuery(group.stream), cudaSuccess);
      },
      [&](engine::Collective& ranks) {
        GroupOfRanks group(&ranks);
        if (second == 0) return 0;
        const auto done = ncclAllGather(static_cast<std::byte*>(group.memory) + second, group.memory, second,
                                        ncclUint8, group.group, group.stream);
        if (done != ncclSuccess || cudaStreamSynchronize(group.stream) == cudaSuccess) return 2;
        (void)ncclCommAbort(group.group);
        group.group = nullptr;
        return 0;
      });
  EXPECT_EQ(other, 0);
}

TEST_F(NcclStandIn, AnExchangeThatAnotherRankLeavesOrMakesOtherwiseWaitsUntilItIsAborted) {
  exchange_unlike(8, 0, "rank 1 has ended");
  exchange_unlike(8, 16, "rank 1 exchanges 16 bytes as number 1, expected 8 as number 1");
}

TEST_F(NcclStandIn, SaysThatAWaitWouldLastForEver) {
  const int other = on_two_processes(
      [&](engine::Collective& ranks) {
        GroupOfRanks group(&ranks);
        EXPECT_EQ(group.gather(8), ncclSuccess);
        const cudaError_t error = cudaStreamSynchronize(group.stream);
        EXPECT_THAT(cudaGetErrorString(error), HasSubstr("waits for ever for an exchange"));
        (void)ncclCommAbort(group.group);
        group.group = nullptr;
      },
      [&](engine::Collective& ranks) {
        const GroupOfRanks group(&ranks);
        return 0;
      });
  EXPECT_EQ(other, 0);
}

}  // namespace
}  // namespace draftscope::cuda_stand_in
