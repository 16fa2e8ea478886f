// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_timer.h"

#include <utility>

#include "cuda_check.h"

namespace draftscope::bench {

Result<ReplayTimer> ReplayTimer::make() {
  int count = 0;
  DRAFTSCOPE_TRY(check(cudaGetDeviceCount(&count), "no CUDA device"));
  if (count == 0) return fail("no CUDA device: found 0, expected at least 1");
  cudaDeviceProp properties{};
  DRAFTSCOPE_TRY(check(cudaGetDeviceProperties(&properties, 0), "reading the device's properties"));
  ReplayTimer timer;
  timer.device_ = {properties.multiProcessorCount, static_cast<std::size_t>(properties.l2CacheSize),
                   properties.major >= 9};
  DRAFTSCOPE_TRY(
      check(cudaStreamCreateWithFlags(&timer.stream_, cudaStreamNonBlocking), "creating a stream"));
  DRAFTSCOPE_TRY(check(cudaEventCreate(&timer.start_), "creating an event"));
  DRAFTSCOPE_TRY(check(cudaEventCreate(&timer.end_), "creating an event"));
  return timer;
}

ReplayTimer::ReplayTimer(ReplayTimer&& other) noexcept
    : device_(other.device_),
      stream_(std::exchange(other.stream_, nullptr)),
      start_(std::exchange(other.start_, nullptr)),
      end_(std::exchange(other.end_, nullptr)) {}

ReplayTimer::~ReplayTimer() {
  if (end_ != nullptr) (void)cudaEventDestroy(end_);
  if (start_ != nullptr) (void)cudaEventDestroy(start_);
  if (stream_ != nullptr) (void)cudaStreamDestroy(stream_);
}

Result<std::vector<double>> ReplayTimer::seconds(const Enqueue& enqueue, int repeats) {
  DRAFTSCOPE_TRY(
      check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "capturing a graph"));
  const Result<void> enqueued = enqueue(stream_);
  cudaGraph_t graph = nullptr;
  const cudaError_t captured = cudaStreamEndCapture(stream_, &graph);
  DRAFTSCOPE_TRY(enqueued);
  DRAFTSCOPE_TRY(check(captured, "capturing a graph"));
  cudaGraphExec_t executable = nullptr;
  const cudaError_t made = cudaGraphInstantiate(&executable, graph, 0);
  (void)cudaGraphDestroy(graph);
  DRAFTSCOPE_TRY(check(made, "making a graph executable"));
  auto measured = seconds_of(executable, repeats);
  (void)cudaGraphExecDestroy(executable);
  return measured;
}

Result<std::vector<double>> ReplayTimer::seconds_of(cudaGraphExec_t graph, int repeats) {
  std::vector<double> measured;
  for (int repeat = -1; repeat < repeats; ++repeat) {
    DRAFTSCOPE_TRY(check(cudaEventRecord(start_, stream_), "recording an event"));
    DRAFTSCOPE_TRY(check(cudaGraphLaunch(graph, stream_), "launching a graph"));
    DRAFTSCOPE_TRY(check(cudaEventRecord(end_, stream_), "recording an event"));
    DRAFTSCOPE_TRY(check(cudaStreamSynchronize(stream_), "waiting for the device"));
    float milliseconds = 0.0F;
    DRAFTSCOPE_TRY(check(cudaEventElapsedTime(&milliseconds, start_, end_), "reading events"));
    if (repeat >= 0) measured.push_back(static_cast<double>(milliseconds) * 1e-3);
  }
  return measured;
}

}  // namespace draftscope::bench
