// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A CUDA runtime, cuBLAS and (through the profiler's own stand-in) CUPTI without a device, for the calls that
// the engine and its calibration make: the ordinary host code links against these functions instead of the
// toolkit's. Kernels run on the emulated device, which is called "emulated" wherever a name appears.
//
// As on a device, work is queued when it is asked for and done when it is waited for, as late as a driver
// may. What a driver need not find is an error here, with a text after the error's name: host memory of
// copies that is not page-locked, or changes or goes before the copy was waited for; device memory beyond an
// allocation; more shared memory than was asked for by cudaFuncSetAttribute; blocks that a kernel is not made
// for; programs that are not launched cooperatively, and other kernels that are; streams and events that are
// gone; a kernel's own faults, as the emulated device finds them.
//
// Not in it: time (a device's records carry the host's), more than one stream's order (streams are waited for
// one by one), memory that two processes share.
//
// Thread-safety: one thread, as the engine's Gpu.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace draftscope::cuda_stand_in {

struct Settings {
  int devices = 1;
  int multiprocessors = 3;
  int major = 9;
  std::size_t memory_bytes = std::size_t{1} << 30;
  std::uint32_t seed = 1;  ///< seed of the order of blocks and warps
};

/// One call to fail. It does nothing then, but a call that gives something back does so first, as a driver's
/// that returns the error of earlier work.
struct Failure {
  std::string call;        ///< "cudaMalloc"; empty = whichever call it is
  std::int64_t nth = 0;    ///< from 1, of those calls; 0 = none fails
  bool and_later = false;  ///< all calls after it fail, too, as when a device is lost
};

/// Objects that have not been given back.
struct Live {
  std::size_t device_blocks = 0, host_blocks = 0, streams = 0, events = 0, blas_handles = 0;
  [[nodiscard]] std::size_t all() const {
    return device_blocks + host_blocks + streams + events + blas_handles;
  }
};

/// Starts anew. What has not been given back is forgotten. Before the first call they are taken from the
/// environment: DRAFTSCOPE_EMULATED_MEMORY (bytes), _FAIL ("CALL:N", "CALL:N+").
void reset(const Settings& settings, const Failure& failure = {});

[[nodiscard]] Live live();
/// Calls since reset(), by name.
[[nodiscard]] const std::map<std::string, std::int64_t>& calls();
[[nodiscard]] bool has_injected();

}  // namespace draftscope::cuda_stand_in
