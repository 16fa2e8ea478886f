// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Waits for a device that may never answer: a kernel that does not end, a bus that is gone. The runtime's own
// waits have no limit, so these ask again and again. A wait of up to 100 ms keeps the processor busy, as the
// runtime's do: no step of decoding is prolonged. A longer one pauses for 20 us between questions.
//
// Thread-safety: as for the stream.

#include <cuda_runtime_api.h>
#include <draftscope/base/result.h>

#include <cstdint>

namespace draftscope::engine::cuda {

/// Longest wait in seconds: 60, or what DRAFTSCOPE_DEVICE_WAIT_S says (1 to 86400). Tools under which kernels
/// run for minutes need more.
[[nodiscard]] std::int64_t max_wait_s();

/// Waits until the work in the stream has ended. Returns its error, or cudaErrorNotReady after max_wait_s().
/// Whatever waits for the device after that (cudaFree, cudaStreamDestroy) may never return.
[[nodiscard]] cudaError_t wait_for(cudaStream_t stream);
/// Waits until the work before the event has ended; else as above.
[[nodiscard]] cudaError_t wait_for(cudaEvent_t event);

}  // namespace draftscope::engine::cuda
