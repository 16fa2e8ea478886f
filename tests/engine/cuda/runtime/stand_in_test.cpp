// SPDX-License-Identifier: GPL-3.0-or-later
// What the stand-in refuses that a program must not ask of a driver.

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <string>

#include "kernel_registry.h"
#include "stand_in.h"

namespace draftscope::cuda_stand_in {
namespace {

using engine::cuda::Kernel;
using testing::HasSubstr;

class CudaStandIn : public testing::Test {
 protected:
  void SetUp() override {
    reset({});
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&device_, bytes), cudaSuccess);
    ASSERT_EQ(cudaHostAlloc(&host_, bytes, cudaHostAllocDefault), cudaSuccess);
    std::memset(host_, 7, bytes);
  }
  void TearDown() override {
    (void)cudaStreamSynchronize(stream_);
    (void)cudaFree(device_);
    (void)cudaFreeHost(host_);
    (void)cudaStreamDestroy(stream_);
    EXPECT_EQ(live().all(), 0U);
  }
  cudaError_t up(const void* from, std::size_t n = bytes) {
    return cudaMemcpyAsync(device_, from, n, cudaMemcpyHostToDevice, stream_);
  }
  cudaError_t down(void* to, std::size_t n = bytes) {
    return cudaMemcpyAsync(to, device_, n, cudaMemcpyDeviceToHost, stream_);
  }
  static std::string words(cudaError_t error) { return cudaGetErrorString(error); }

  static constexpr std::size_t bytes = 256;
  cudaStream_t stream_ = nullptr;
  void* device_ = nullptr;
  void* host_ = nullptr;
};

TEST_F(CudaStandIn, CopiesWhenItIsWaitedFor) {
  ASSERT_EQ(up(host_), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  ASSERT_EQ(down(host_), cudaSuccess);
  EXPECT_NE(static_cast<unsigned char*>(host_)[0], 7);  // nobody has waited
  ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(static_cast<unsigned char*>(host_)[255], 7);
}

TEST_F(CudaStandIn, FindsWhatChangesBeforeItIsCopied) {
  ASSERT_EQ(up(host_), cudaSuccess);
  static_cast<char*>(host_)[5] = 8;
  const cudaError_t error = cudaStreamSynchronize(stream_);
  EXPECT_EQ(error, cudaErrorLaunchFailure);
  EXPECT_THAT(words(error), HasSubstr("changed before the copy was waited for"));
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaErrorLaunchFailure);  // it stays
}

TEST_F(CudaStandIn, RefusesMemoryThatCopiesMustNotUse) {
  std::array<char, bytes> pageable{};
  EXPECT_THAT(words(up(pageable.data())), HasSubstr("not page-locked"));
  EXPECT_THAT(words(down(pageable.data())), HasSubstr("not page-locked"));
  EXPECT_THAT(words(up(host_, bytes + 1)), HasSubstr("beyond device memory"));
  EXPECT_THAT(words(cudaMemsetAsync(device_, 0, bytes + 1, stream_)), HasSubstr("beyond device memory"));
  void* gone = nullptr;
  ASSERT_EQ(cudaHostAlloc(&gone, bytes, 0), cudaSuccess);
  std::memset(gone, 1, bytes);
  ASSERT_EQ(up(gone), cudaSuccess);
  EXPECT_THAT(words(cudaFreeHost(gone)), HasSubstr("a copy still uses"));
  EXPECT_THAT(words(up(gone)), HasSubstr("not page-locked"));
  EXPECT_EQ(cudaFree(static_cast<char*>(device_) + 1), cudaErrorInvalidValue);
}

TEST_F(CudaStandIn, RefusesCallsThatHaveNoPlaceInACapture) {
  const auto spoils = [&](auto call) {
    EXPECT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    EXPECT_EQ(call(), cudaErrorStreamCaptureUnsupported);
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaErrorStreamCaptureInvalidated);
    EXPECT_EQ(graph, nullptr);
  };
  void* more = nullptr;
  spoils([&] { return cudaMalloc(&more, 8); });
  spoils([&] { return cudaStreamSynchronize(stream_); });
  spoils([&] { return cudaHostAlloc(&more, 8, 0); });
  spoils([&] { return cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal); });
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaErrorInvalidValue);  // none has begun
}

TEST_F(CudaStandIn, RunsAGraphAsOftenAsItIsLaunched) {
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  ASSERT_EQ(cudaMemsetAsync(device_, 3, bytes, stream_), cudaSuccess);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaErrorInvalidValue);
  for (int times = 0; times < 2; ++times) {
    ASSERT_EQ(cudaMemsetAsync(device_, 0, bytes, stream_), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);
    ASSERT_EQ(down(host_), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
    EXPECT_EQ(static_cast<char*>(host_)[9], 3);
  }
  ASSERT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(executable, stream_), cudaErrorInvalidResourceHandle);
}

/// A graph with a loop whose body sets memory, and that sets it again behind the loop.
class LoopedGraph {
 public:
  explicit LoopedGraph(cudaStream_t stream) : stream_(stream) {
    EXPECT_EQ(cudaGraphCreate(&graph_, 0), cudaSuccess);
    EXPECT_EQ(cudaGraphConditionalHandleCreate(&handle_, graph_, 1, cudaGraphCondAssignDefault), cudaSuccess);
    params_.type = cudaGraphNodeTypeConditional;
    params_.conditional.handle = handle_;
    params_.conditional.type = cudaGraphCondTypeWhile;
    params_.conditional.size = 1;
  }
  ~LoopedGraph() { (void)cudaGraphDestroy(graph_); }
  LoopedGraph(const LoopedGraph&) = delete;
  LoopedGraph& operator=(const LoopedGraph&) = delete;

  cudaError_t add_loop() { return cudaGraphAddNode(&node_, graph_, nullptr, nullptr, 0, &params_); }
  cudaError_t begin(cudaGraph_t graph, std::size_t n_dependencies) {
    return cudaStreamBeginCaptureToGraph(stream_, graph, &node_, nullptr, n_dependencies,
                                         cudaStreamCaptureModeThreadLocal);
  }
  cudaError_t end() {
    cudaGraph_t captured = nullptr;
    return cudaStreamEndCapture(stream_, &captured);
  }
  [[nodiscard]] cudaGraph_t graph() const { return graph_; }
  [[nodiscard]] cudaGraph_t body() const { return params_.conditional.phGraph_out[0]; }
  cudaGraphNodeParams& params() { return params_; }

 private:
  cudaStream_t stream_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphConditionalHandle handle_ = 0;
  cudaGraphNodeParams params_{};
  cudaGraphNode_t node_ = nullptr;
};

TEST_F(CudaStandIn, SaysThatNoKernelEndsALoop) {
  LoopedGraph looped(stream_);
  ASSERT_EQ(looped.add_loop(), cudaSuccess);
  ASSERT_EQ(looped.begin(looped.body(), 0), cudaSuccess);
  ASSERT_EQ(cudaMemsetAsync(device_, 3, bytes, stream_), cudaSuccess);
  ASSERT_EQ(looped.end(), cudaSuccess);
  ASSERT_EQ(looped.begin(looped.graph(), 1), cudaSuccess);
  ASSERT_EQ(cudaMemsetAsync(device_, 4, bytes, stream_), cudaSuccess);
  EXPECT_THAT(words(cudaGraphDestroy(looped.graph())), HasSubstr("a stream captures into"));
  ASSERT_EQ(looped.end(), cudaSuccess);
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&executable, looped.graph(), 0), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);
  const cudaError_t error = cudaStreamSynchronize(stream_);
  EXPECT_THAT(words(error), HasSubstr("no kernel of a graph's loop says whether it goes on"));
  EXPECT_EQ(cudaGraphExecDestroy(executable), error);  // given back nonetheless
}

TEST_F(CudaStandIn, RefusesLoopsThatADriverWouldNotRun) {
  LoopedGraph looped(stream_);
  LoopedGraph other(stream_);
  cudaGraphNode_t node = nullptr;
  EXPECT_THAT(words(cudaGraphAddNode(&node, other.graph(), nullptr, nullptr, 0, &looped.params())),
              HasSubstr("not made for its graph"));
  cudaGraphExec_t executable = nullptr;
  EXPECT_THAT(words(cudaGraphInstantiate(&executable, looped.graph(), 0)),
              HasSubstr("a condition that no node"));
  ASSERT_EQ(looped.add_loop(), cudaSuccess);
  EXPECT_THAT(words(looped.add_loop()), HasSubstr("not the graph's first"));
  EXPECT_THAT(words(looped.begin(looped.graph(), 0)), HasSubstr("does not wait for the graph's last node"));
  EXPECT_THAT(words(looped.begin(looped.body(), 1)), HasSubstr("does not wait for the graph's last node"));
}

/// A launch of one block.
class OneLaunch {
 public:
  OneLaunch(Kernel kernel, cudaStream_t stream) : function_(function_of(kernel)) {
    config_.gridDim = dim3(1);
    config_.blockDim = dim3(static_cast<unsigned>(find_kernel(function_)->threads));
    config_.stream = stream;
  }
  cudaLaunchConfig_t& config() { return config_; }
  [[nodiscard]] const void* function() const { return function_; }
  cudaError_t start() {
    void* arguments = zeros_.data();
    return cudaLaunchKernelExC(&config_, function_, &arguments);
  }

 private:
  const void* function_;
  cudaLaunchConfig_t config_{};
  alignas(16) std::array<std::byte, 4096> zeros_{};  // as many as any kernel's parameters take
};

TEST_F(CudaStandIn, HoldsLaunchesAgainstKernelsAndDevice) {
  OneLaunch launch(Kernel::qkv, stream_);
  launch.config().dynamicSmemBytes = std::size_t{64} * 1024;
  EXPECT_THAT(words(launch.start()), HasSubstr("at most 49152, which were asked for"));
  const auto allow = [&](int kilobytes) {
    return cudaFuncSetAttribute(launch.function(), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                kilobytes * 1024);
  };
  EXPECT_EQ(allow(228), cudaErrorInvalidValue);
  EXPECT_EQ(allow(63), cudaSuccess);
  EXPECT_EQ(launch.start(), cudaErrorInvalidValue);
  EXPECT_EQ(OneLaunch(Kernel::qkv, nullptr).start(), cudaErrorInvalidResourceHandle);
  OneLaunch narrow(Kernel::qkv, stream_);
  narrow.config().blockDim = dim3(32);
  EXPECT_EQ(narrow.start(), cudaErrorInvalidConfiguration);
  OneLaunch none(Kernel::qkv, stream_);
  none.config().gridDim = dim3(0);
  EXPECT_EQ(none.start(), cudaErrorInvalidConfiguration);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeCooperative;
  OneLaunch odd(Kernel::qkv, stream_);
  odd.config().attrs = &attribute;
  odd.config().numAttrs = 1;
  EXPECT_THAT(words(odd.start()), HasSubstr("launch attribute"));
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  OneLaunch early(Kernel::make_synthetic, stream_);
  early.config().attrs = &attribute;
  early.config().numAttrs = 1;
  EXPECT_THAT(words(early.start()), HasSubstr("does not wait by itself"));
  int no_kernel = 0;
  void* arguments = nullptr;
  EXPECT_EQ(cudaLaunchKernelExC(&narrow.config(), &no_kernel, &arguments), cudaErrorInvalidDeviceFunction);
}

TEST_F(CudaStandIn, WaitsForEventsAndWhatIsBeforeThem) {
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), cudaSuccess);
  ASSERT_EQ(cudaEventSynchronize(event), cudaSuccess);  // nobody has recorded it
  ASSERT_EQ(up(host_), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(event, stream_), cudaSuccess);
  ASSERT_EQ(cudaEventSynchronize(event), cudaSuccess);
  std::memset(host_, 9, bytes);  // may be used again
  ASSERT_EQ(up(host_), cudaSuccess);
  std::memset(host_, 1, bytes);
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);  // behind it nothing is waited for
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaEventDestroy(event), cudaErrorLaunchFailure);
}

TEST_F(CudaStandIn, GivesProductsNoMemoryOfTheirOwn) {
  cublasHandle_t blas = nullptr;
  ASSERT_EQ(cublasCreate(&blas), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cublasSetStream(blas, stream_), CUBLAS_STATUS_SUCCESS);
  const float one = 1.0F;
  const float zero = 0.0F;
  const auto multiply = [&](int outputs) {
    return cublasGemmEx(blas, CUBLAS_OP_T, CUBLAS_OP_N, outputs, 1, 8, &one, device_, CUDA_R_16BF, 8, device_,
                        CUDA_R_16BF, 8, &zero, device_, CUDA_R_32F, outputs, CUBLAS_COMPUTE_32F,
                        CUBLAS_GEMM_DEFAULT);
  };
  EXPECT_EQ(multiply(4), CUBLAS_STATUS_ALLOC_FAILED);
  ASSERT_EQ(cublasSetWorkspace(blas, device_, bytes), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(multiply(4), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(multiply(400), CUBLAS_STATUS_INVALID_VALUE);
  // A new stream takes the workspace away.
  ASSERT_EQ(cublasSetStream(blas, stream_), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(multiply(4), CUBLAS_STATUS_ALLOC_FAILED);
  ASSERT_EQ(cublasDestroy(blas), CUBLAS_STATUS_SUCCESS);
}

TEST_F(CudaStandIn, TimesBetweenEventsThatWereWaitedFor) {
  std::array<cudaEvent_t, 2> events{};
  for (cudaEvent_t& event : events) ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(events[0], stream_), cudaSuccess);
  ASSERT_EQ(up(host_), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(events[1], stream_), cudaSuccess);
  float milliseconds = -1.0F;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, events[0], events[1]), cudaErrorNotReady);
  ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, events[0], events[1]), cudaSuccess);
  EXPECT_GE(milliseconds, 0.0F);
  for (cudaEvent_t event : events) EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
}

}  // namespace
}  // namespace draftscope::cuda_stand_in
