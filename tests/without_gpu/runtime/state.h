// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The state that the stand-in's calls share.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/gpu.h"
#include "stand_in.h"

namespace draftscope::cuda_stand_in {

enum class Work : std::uint8_t { kernel, product, upload, download, set, event };

/// Something queued in a stream.
struct Operation {
  Work work = Work::kernel;
  engine::cuda::Launch launch;  ///< kernel
  engine::cuda::KernelParams params;
  const char* symbol = "";            ///< the kernel's, for records
  int threads = 0;                    ///< threads per block
  engine::cuda::WideProduct product;  ///< product
  void* to = nullptr;                 ///< copies, set
  const void* from = nullptr;
  std::size_t bytes = 0;
  int value = 0;           ///< set
  std::size_t digest = 0;  ///< upload: of the source when it was asked for
  struct Event* event = nullptr;
  // For records
  std::uint32_t correlation = 0;
  std::uint64_t start_ns = 0, end_ns = 0;
};

struct Event {
  bool is_recorded = false;
  std::uint64_t time_ns = 0;
};

struct Stream {
  std::deque<Operation> queue;
};

struct Blas {
  Stream* stream = nullptr;
  void* workspace = nullptr;
};

class State {
 public:
  State(Settings settings, Failure failure);

  Settings settings;
  Failure failure;
  std::map<std::string, std::int64_t> calls;
  std::int64_t n_calls = 0;
  bool has_failed = false;

  int device = 0;  ///< the chosen one
  /// The device's own memory and kernels.
  std::unique_ptr<engine::cuda::Gpu> gpu;
  std::map<const std::byte*, std::size_t> device_blocks;    ///< bytes, by address
  std::map<const std::byte*, std::size_t> host_blocks;      ///< page-locked
  std::map<const void*, std::size_t> shared_bytes_allowed;  ///< by kernel, once asked for
  std::set<Stream*> streams;
  std::set<Event*> events;
  std::set<Blas*> blas;

  cudaError_t lost = cudaSuccess;  ///< what every call returns once a kernel has failed
  std::string detail;              ///< why the last call failed, for cudaGetErrorString()

  /// Makes the device at the first call that needs it.
  [[nodiscard]] cudaError_t prepare();
  [[nodiscard]] cudaError_t refuse(cudaError_t error, std::string why);
  /// A stream's queue, done to its end, or to the last time that `event` is recorded in it.
  [[nodiscard]] cudaError_t drain(Stream& stream, const Event* event = nullptr);
  [[nodiscard]] cudaError_t drain_all();

 private:
  [[nodiscard]] Result<void> perform(const Operation& operation);
  /// In order; gives them their times.
  [[nodiscard]] Result<void> perform_all(std::span<Operation> operations);
};

[[nodiscard]] State& state();

/// Whether `bytes` from `at` on lie in one of the blocks.
[[nodiscard]] bool holds(const std::map<const std::byte*, std::size_t>& blocks, const void* at,
                         std::size_t bytes);

[[nodiscard]] std::size_t digest_of(const void* from, std::size_t bytes);

/// Gives an object back; `what` says what it is where it is not there.
template <typename Object>
cudaError_t destroy(State& s, std::set<Object*>& objects, void* handle, const char* what) {
  auto* const object = static_cast<Object*>(handle);
  if (objects.erase(object) == 0) return s.refuse(cudaErrorInvalidResourceHandle, what);
  delete object;
  return cudaSuccess;
}

/// A call whose body is `run`. Counted; fails where it is to fail, and where the device is lost.
/// `gives_back`: the body runs nonetheless.
template <typename Run>
cudaError_t call(const char* name, bool gives_back, Run run) {
  State& s = state();
  s.detail.clear();
  ++s.calls[name];
  ++s.n_calls;
  const Failure& failure = s.failure;
  const bool is_named = failure.call.empty() || failure.call == name;
  const std::int64_t number = failure.call.empty() ? s.n_calls : s.calls[name];
  const bool fails =
      failure.nth > 0 && ((is_named && number == failure.nth) || (failure.and_later && s.has_failed));
  if (fails) {
    s.has_failed = true;
    if (gives_back) (void)run(s);
    s.detail = "injected failure of " + std::string(name);
    return cudaErrorUnknown;
  }
  if (s.lost != cudaSuccess) {
    if (gives_back) (void)run(s);
    return s.lost;
  }
  return run(s);
}

}  // namespace draftscope::cuda_stand_in
