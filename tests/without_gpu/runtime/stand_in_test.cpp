// SPDX-License-Identifier: GPL-3.0-or-later
// Invalid requests to a driver, which the stand-in refuses.

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
  EXPECT_NE(static_cast<unsigned char*>(host_)[0], 7);  // Nobody has waited yet.
  ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(static_cast<unsigned char*>(host_)[255], 7);
}

TEST_F(CudaStandIn, FindsWhatChangesBeforeItIsCopied) {
  ASSERT_EQ(up(host_), cudaSuccess);
  static_cast<char*>(host_)[5] = 8;
  const cudaError_t error = cudaStreamSynchronize(stream_);
  EXPECT_EQ(error, cudaErrorLaunchFailure);
  EXPECT_THAT(words(error), HasSubstr("changed before the copy was waited for"));
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaErrorLaunchFailure);  // The error stays.
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

/// A launch of one block, for programs together with all other blocks of the grid.
class OneLaunch {
 public:
  OneLaunch(Kernel kernel, cudaStream_t stream) : function_(function_of(kernel)) {
    config_.gridDim = dim3(1);
    config_.blockDim = dim3(static_cast<unsigned>(find_kernel(function_)->threads));
    config_.stream = stream;
    attribute_.id = cudaLaunchAttributeCooperative;
    attribute_.val.cooperative = 1;
    config_.attrs = &attribute_;
    config_.numAttrs = kernel == Kernel::program ? 1 : 0;
  }
  OneLaunch(const OneLaunch&) = delete;
  OneLaunch& operator=(const OneLaunch&) = delete;
  cudaLaunchConfig_t& config() { return config_; }
  cudaLaunchAttribute& attribute() { return attribute_; }
  [[nodiscard]] const void* function() const { return function_; }
  cudaError_t start() {
    void* arguments = zeros_.data();
    return cudaLaunchKernelExC(&config_, function_, &arguments);
  }

 private:
  const void* function_;
  cudaLaunchConfig_t config_{};
  cudaLaunchAttribute attribute_{};
  alignas(16) std::array<std::byte, 4096> zeros_{};  // As many bytes as any kernel's parameters take.
};

TEST_F(CudaStandIn, HoldsLaunchesAgainstKernelsAndDevice) {
  OneLaunch launch(Kernel::program, stream_);
  launch.config().dynamicSmemBytes = std::size_t{64} * 1024;
  EXPECT_THAT(words(launch.start()), HasSubstr("at most 49152, which were asked for"));
  const auto allow = [&](int kilobytes) {
    return cudaFuncSetAttribute(launch.function(), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                kilobytes * 1024);
  };
  EXPECT_EQ(allow(228), cudaErrorInvalidValue);
  EXPECT_EQ(allow(63), cudaSuccess);
  EXPECT_EQ(launch.start(), cudaErrorInvalidValue);
  EXPECT_EQ(OneLaunch(Kernel::select_top, nullptr).start(), cudaErrorInvalidResourceHandle);
  OneLaunch narrow(Kernel::select_top, stream_);
  narrow.config().blockDim = dim3(32);
  EXPECT_EQ(narrow.start(), cudaErrorInvalidConfiguration);
  OneLaunch none(Kernel::select_top, stream_);
  none.config().gridDim = dim3(0);
  EXPECT_EQ(none.start(), cudaErrorInvalidConfiguration);
  int no_kernel = 0;
  void* arguments = nullptr;
  EXPECT_EQ(cudaLaunchKernelExC(&narrow.config(), &no_kernel, &arguments), cudaErrorInvalidDeviceFunction);
}

TEST_F(CudaStandIn, LaunchesProgramsCooperativelyAndNothingElse) {
  // Launches with zeros must not run, so nobody waits for this stream.
  cudaStream_t dropped = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&dropped, cudaStreamNonBlocking), cudaSuccess);
  OneLaunch program(Kernel::program, dropped);
  OneLaunch other(Kernel::select_top, dropped);
  EXPECT_EQ(program.start(), cudaSuccess);
  EXPECT_EQ(other.start(), cudaSuccess);
  program.config().numAttrs = 0;
  EXPECT_THAT(words(program.start()), HasSubstr("not launched cooperatively"));
  program.config().numAttrs = 1;
  program.attribute().val.cooperative = 0;
  EXPECT_THAT(words(program.start()), HasSubstr("not launched cooperatively"));
  other.config().numAttrs = 1;
  EXPECT_THAT(words(other.start()), HasSubstr("what is no program"));
  other.attribute().id = cudaLaunchAttributePriority;
  EXPECT_THAT(words(other.start()), HasSubstr("launch attribute"));
  EXPECT_EQ(cudaStreamDestroy(dropped), cudaSuccess);
}

TEST_F(CudaStandIn, GivesABlockOfAProgramAMultiprocessorOfItsOwn) {
  cudaStream_t dropped = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&dropped, cudaStreamNonBlocking), cudaSuccess);
  const auto multiprocessors = static_cast<unsigned>(Settings().multiprocessors);
  OneLaunch program(Kernel::program, dropped);
  program.config().gridDim = dim3(multiprocessors);
  EXPECT_EQ(program.start(), cudaSuccess);
  program.config().gridDim = dim3(multiprocessors + 1);
  EXPECT_EQ(program.start(), cudaErrorCooperativeLaunchTooLarge);
  OneLaunch other(Kernel::select_top, dropped);
  other.config().gridDim = dim3(multiprocessors + 1);
  EXPECT_EQ(other.start(), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(dropped), cudaSuccess);
}

TEST_F(CudaStandIn, WaitsForEventsAndWhatIsBeforeThem) {
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), cudaSuccess);
  ASSERT_EQ(cudaEventSynchronize(event), cudaSuccess);  // Nobody has recorded it.
  ASSERT_EQ(up(host_), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(event, stream_), cudaSuccess);
  ASSERT_EQ(cudaEventSynchronize(event), cudaSuccess);
  std::memset(host_, 9, bytes);  // The memory may be used again.
  ASSERT_EQ(up(host_), cudaSuccess);
  std::memset(host_, 1, bytes);
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);  // Work after the event is not waited for.
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
  // A new stream resets the workspace.
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
