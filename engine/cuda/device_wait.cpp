// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_wait.h"

#include <draftscope/base/clock.h>
#include <draftscope/base/number.h>

#include <chrono>
#include <cstdlib>
#include <thread>

namespace draftscope::engine::cuda {

namespace {

template <typename Query>
cudaError_t wait_until_ready(Query query) {
  constexpr std::int64_t max_busy_ns = 100'000'000;
  constexpr std::int64_t second_ns = 1'000'000'000;
  const std::int64_t start_ns = now_ns();
  while (true) {
    const cudaError_t status = query();
    if (status != cudaErrorNotReady) return status;
    (void)cudaGetLastError();  // The runtime keeps this answer as an error until somebody asks for it.
    const std::int64_t waited_ns = now_ns() - start_ns;
    if (waited_ns > max_wait_s() * second_ns) return cudaErrorNotReady;
    if (waited_ns > max_busy_ns) std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

}  // namespace

std::int64_t max_wait_s() {
  constexpr std::int64_t usual = 60;
  constexpr std::int64_t day = 86'400;
  static const std::int64_t wanted = [] {
    const char* const text = std::getenv("DRAFTSCOPE_DEVICE_WAIT_S");
    const auto seconds = parse_number<std::int64_t>(text == nullptr ? "" : text);
    return seconds && *seconds >= 1 && *seconds <= day ? *seconds : usual;
  }();
  return wanted;
}

cudaError_t wait_for(cudaStream_t stream) {
  const cudaError_t status = wait_until_ready([&] { return cudaStreamQuery(stream); });
  // This returns at once. It is what tools record as the wait.
  return status == cudaSuccess ? cudaStreamSynchronize(stream) : status;
}

cudaError_t wait_for(cudaEvent_t event) {
  const cudaError_t status = wait_until_ready([&] { return cudaEventQuery(event); });
  return status == cudaSuccess ? cudaEventSynchronize(event) : status;
}

}  // namespace draftscope::engine::cuda
