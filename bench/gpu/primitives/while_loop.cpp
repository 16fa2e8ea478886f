// SPDX-License-Identifier: GPL-3.0-or-later
// Cost of an iteration of a loop when the device runs it (a conditional WHILE node) and when the host does
// (a graph launched again once the host has seen the counter). Prints JSON.

#include <atomic>
#include <chrono>
#include <cstdio>

#include "cuda_check.h"
#include "quartiles.h"
#include "replay_timer.h"
#include "while_kernels.h"

namespace {

using namespace draftscope;
using bench::check;

constexpr int iterations = 200;
constexpr int repeats = 9;
constexpr int body_kernels[] = {1, 20, 160};
constexpr std::size_t state_bytes = std::size_t{1} << 20;

struct Loop {
  bench::ReplayTimer& timer;
  float* state;
  int* remaining;  ///< on the device

  Result<void> enqueue_body(int kernels, cudaStream_t stream) const {
    for (int i = 0; i < kernels; ++i)
      DRAFTSCOPE_TRY(check(bench::launch_body_kernel(state, stream), "launching a kernel"));
    return {};
  }

  /// A graph with one WHILE node, which counts down to 0.
  [[nodiscard]] Result<cudaGraphExec_t> make_device_loop(int kernels) const {
    cudaGraph_t graph = nullptr;
    DRAFTSCOPE_TRY(check(cudaGraphCreate(&graph, 0), "making a graph"));
    cudaGraphConditionalHandle handle{};
    DRAFTSCOPE_TRY(check(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault),
                         "making a condition"));
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = cudaGraphCondTypeWhile;
    params.conditional.size = 1;
    cudaGraphNode_t node = nullptr;
    DRAFTSCOPE_TRY(
        check(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params), "adding a WHILE node"));
    DRAFTSCOPE_TRY(check(cudaStreamBeginCaptureToGraph(timer.stream(), params.conditional.phGraph_out[0],
                                                       nullptr, nullptr, 0, cudaStreamCaptureModeThreadLocal),
                         "capturing the loop's body"));
    Result<void> enqueued = enqueue_body(kernels - 1, timer.stream());
    if (enqueued)
      enqueued = check(bench::launch_countdown(remaining, handle, timer.stream()), "launching a kernel");
    cudaGraph_t body = nullptr;
    const cudaError_t captured = cudaStreamEndCapture(timer.stream(), &body);
    DRAFTSCOPE_TRY(enqueued);
    DRAFTSCOPE_TRY(check(captured, "capturing the loop's body"));
    cudaGraphExec_t executable = nullptr;
    DRAFTSCOPE_TRY(check(cudaGraphInstantiate(&executable, graph, 0), "making a graph executable"));
    (void)cudaGraphDestroy(graph);
    return executable;
  }

  /// Microseconds an iteration, one value a repeat.
  [[nodiscard]] Result<std::vector<double>> on_device(int kernels) const {
    DRAFTSCOPE_TRY_ASSIGN(const cudaGraphExec_t graph, make_device_loop(kernels));
    std::vector<double> microseconds;
    for (int repeat = -1; repeat < repeats; ++repeat) {
      const int count = iterations;
      DRAFTSCOPE_TRY(check(cudaMemcpy(remaining, &count, sizeof count, cudaMemcpyHostToDevice), "a copy"));
      const auto start = std::chrono::steady_clock::now();
      DRAFTSCOPE_TRY(check(cudaGraphLaunch(graph, timer.stream()), "launching a graph"));
      DRAFTSCOPE_TRY(check(cudaStreamSynchronize(timer.stream()), "waiting for the device"));
      const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - start;
      if (repeat >= 0) microseconds.push_back(taken.count() / iterations);
    }
    (void)cudaGraphExecDestroy(graph);
    return microseconds;
  }

  /// Runs the same body; the host waits for the counter in its own memory before it launches again.
  [[nodiscard]] Result<std::vector<double>> from_host(int kernels) const {
    int* visible = nullptr;
    DRAFTSCOPE_TRY(check(cudaHostAlloc(&visible, sizeof(int), cudaHostAllocMapped), "host memory"));
    *visible = 0;
    cudaStream_t stream = timer.stream();
    DRAFTSCOPE_TRY(check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capturing"));
    Result<void> enqueued = enqueue_body(kernels - 1, stream);
    if (enqueued) enqueued = check(bench::launch_visible_countdown(visible, stream), "launching a kernel");
    cudaGraph_t graph = nullptr;
    const cudaError_t captured = cudaStreamEndCapture(stream, &graph);
    DRAFTSCOPE_TRY(enqueued);
    DRAFTSCOPE_TRY(check(captured, "capturing a graph"));
    cudaGraphExec_t executable = nullptr;
    DRAFTSCOPE_TRY(check(cudaGraphInstantiate(&executable, graph, 0), "making a graph executable"));
    (void)cudaGraphDestroy(graph);
    std::vector<double> microseconds;
    for (int repeat = -1; repeat < repeats; ++repeat) {
      std::atomic_ref<int> counter(*visible);
      counter = iterations;
      const auto start = std::chrono::steady_clock::now();
      for (int i = iterations; i > 0; --i) {
        DRAFTSCOPE_TRY(check(cudaGraphLaunch(executable, stream), "launching a graph"));
        while (counter.load(std::memory_order_acquire) >= i)
          if (cudaStreamQuery(stream) != cudaErrorNotReady && counter.load() >= i)
            return fail("the counter is {} after the device's work, expected {}", counter.load(), i - 1);
      }
      DRAFTSCOPE_TRY(check(cudaStreamSynchronize(stream), "waiting for the device"));
      const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - start;
      if (repeat >= 0) microseconds.push_back(taken.count() / iterations);
    }
    (void)cudaGraphExecDestroy(executable);
    (void)cudaFreeHost(visible);
    return microseconds;
  }
};

Result<nlohmann::json> measure() {
  DRAFTSCOPE_TRY_ASSIGN(bench::ReplayTimer timer, bench::ReplayTimer::make());
  DRAFTSCOPE_TRY_ASSIGN(const auto state, bench::DeviceBuffer::allocate(state_bytes));
  DRAFTSCOPE_TRY_ASSIGN(const auto remaining, bench::DeviceBuffer::allocate(sizeof(int)));
  DRAFTSCOPE_TRY(check(cudaMemset(state.data(), 0, state.bytes()), "clearing memory"));
  const Loop loop{timer, reinterpret_cast<float*>(state.data()), reinterpret_cast<int*>(remaining.data())};
  nlohmann::json loops = nlohmann::json::array();
  for (const int kernels : body_kernels) {
    DRAFTSCOPE_TRY_ASSIGN(const std::vector<double> on_device, loop.on_device(kernels));
    DRAFTSCOPE_TRY_ASSIGN(const std::vector<double> from_host, loop.from_host(kernels));
    loops.push_back({{"body_kernels", kernels},
                     {"iterations", iterations},
                     {"while_node_microseconds", bench::spread(on_device)},
                     {"host_loop_microseconds", bench::spread(from_host)}});
  }
  return loops;
}

}  // namespace

int main() {
  const auto result = measure();
  if (!result) return std::fprintf(stderr, "bench_gpu_while_loop: %s\n", result.error().message.c_str()), 1;
  std::printf("%s\n", result->dump(2).c_str());
}
