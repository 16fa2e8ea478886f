// SPDX-License-Identifier: GPL-3.0-or-later
// Which failed starts are skipped tests and which are failed ones, on the CUDA runtime's stand-in.

#include "start.h"

#include <draftscope/engine/cuda_backend.h>
#include <draftscope/profiler/device_trace.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "small_backend.h"
#include "stand_in.h"

namespace draftscope::test {
namespace {

using cuda_stand_in::Failure;
using cuda_stand_in::Settings;

/// The exit of a program that fails to make a backend of a model. Expects that failure.
FailedStart end_of_start(const Settings& settings, const Failure& failure, engine::Checkpoint checkpoint) {
  cuda_stand_in::reset(settings, failure);
  const auto backend = engine::make_cuda_backend(checkpoint, {.cache_rows = 16});
  EXPECT_FALSE(backend);
  return failed_start(device_is_missing(), backend ? Error{} : backend.error());
}

TEST(FailedStart, IsSkippedWhereThereIsNoDevice) {
  const FailedStart end = end_of_start({.devices = 0}, {}, cuda_stand_in::small_checkpoint());
  EXPECT_EQ(end.status, 77);
  EXPECT_TRUE(end.line.starts_with("skipped: cuda backend: no CUDA device")) << end.line;
}

TEST(FailedStart, FailsOnADeviceWhateverCallFails) {
  for (const char* call : {"cudaGetDeviceCount", "cudaSetDevice", "cudaGetDeviceProperties", "cublasCreate",
                           "cudaMalloc", "cudaHostAlloc", "cudaMemcpyAsync", "cudaStreamSynchronize"}) {
    SCOPED_TRACE(call);
    const FailedStart end =
        end_of_start({}, {.call = call, .nth = 1, .and_later = true}, cuda_stand_in::small_checkpoint());
    EXPECT_EQ(end.status, 1);
    EXPECT_TRUE(end.line.starts_with("failed to start: cuda backend: ")) << end.line;
  }
}

TEST(FailedStart, FailsOnADeviceThatTheKernelsAreNotFor) {
  EXPECT_EQ(end_of_start({.major = 7}, {}, cuda_stand_in::small_checkpoint()).status, 1);
}

TEST(FailedStart, FailsWithAModelThatTheKernelsDoNotTake) {
  engine::Checkpoint checkpoint = cuda_stand_in::small_checkpoint();
  checkpoint.shape.d_model += 1;
  EXPECT_EQ(end_of_start({}, {}, checkpoint).status, 1);
}

/// The exit of a program that fails to start a device trace with this library as CUPTI. Expects that failure.
FailedStart end_of_trace(const std::string& library) {
  setenv("DRAFTSCOPE_CUPTI_LIBRARY", library.c_str(), 1);
  const auto trace = profiler::start_device_trace(profiler::DeviceTraceMode::launches);
  unsetenv("DRAFTSCOPE_CUPTI_LIBRARY");
  EXPECT_FALSE(trace);
  return failed_start(!trace && cupti_is_missing(trace.error()), trace ? Error{} : trace.error());
}

TEST(FailedStart, IsSkippedWithoutCuptiAndFailsWithAnother) {
  EXPECT_EQ(end_of_trace("/nowhere/libcupti.so").status, 77);
  EXPECT_EQ(end_of_trace(HOLLOW_CUPTI).status, 1);
}

}  // namespace
}  // namespace draftscope::test
