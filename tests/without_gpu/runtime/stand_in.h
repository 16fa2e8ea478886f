// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A CUDA runtime, cuBLAS and (through the profiler's own stand-in) CUPTI without a device, for the calls that
// the engine and its calibration make. The ordinary host code links against these functions instead of the
// toolkit's. Kernels run on the emulated device, which is called "emulated" wherever a name appears.
//
// As on a device, work is queued by calls and done as late as a driver may do it, when it is waited for.
// Mistakes that a driver need not find are errors here, with a text after the error's name. On memory:
// copies' host memory that is not page-locked, or that changes or is freed before the copy was waited for;
// device memory beyond an allocation. On launches: more shared memory than cudaFuncSetAttribute allowed; a
// block size that the kernel is not made for; programs that are not launched cooperatively, and other kernels
// that are. Also streams and events that do not exist any more, and a kernel's own faults, as the emulated
// device finds them.
//
// It lacks time (a device's records have the host's times), an order between several streams (streams are
// waited for one by one), and memory that two processes share.
//
// Thread-safety: one thread, as for the engine's Gpu.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>

namespace draftscope::cuda_stand_in {

struct Settings {
  int devices = 1;
  int multiprocessors = 3;
  int major = 9;
  std::size_t memory_bytes = std::size_t{1} << 30;
  std::uint32_t seed = 1;  ///< Seed of the order of blocks and warps.
  /// How often the device answers whether work has ended. After that it never does, and a call that waits for
  /// it does not return.
  std::int64_t answers = std::numeric_limits<std::int64_t>::max();
};

/// One call that must fail. It then does nothing, except for a call that releases something: it does so
/// first, as when a driver returns the error of earlier work.
struct Failure {
  std::string call;        ///< "cudaMalloc"; empty = any call
  std::int64_t nth = 0;    ///< Counts those calls from 1; 0 = none fails.
  bool and_later = false;  ///< All calls after it fail, too, as when a device is lost.
};

/// Objects that have not been released.
struct Live {
  std::size_t device_blocks = 0, host_blocks = 0, streams = 0, events = 0, blas_handles = 0;
  [[nodiscard]] std::size_t all() const {
    return device_blocks + host_blocks + streams + events + blas_handles;
  }
};

/// Resets the stand-in and forgets all objects that have not been released. Before the first call, settings
/// come from the environment: DRAFTSCOPE_EMULATED_MEMORY (bytes), _ANSWERS, _FAIL ("CALL:N", "CALL:N+").
void reset(const Settings& settings, const Failure& failure = {});

[[nodiscard]] Live live();
/// Calls since reset(), by name.
[[nodiscard]] const std::map<std::string, std::int64_t>& calls();
[[nodiscard]] bool has_injected();

}  // namespace draftscope::cuda_stand_in
