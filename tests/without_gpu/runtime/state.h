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

/// Work that is queued in a stream.
struct Operation {
  Work work = Work::kernel;
  engine::cuda::Launch launch;  ///< Used by kernels.
  engine::cuda::KernelParams params;
  const char* symbol = "";            ///< Symbol of the kernel, for records.
  int threads = 0;                    ///< Threads per block.
  engine::cuda::WideProduct product;  ///< Used by products.
  void* to = nullptr;                 ///< Used by copies and set.
  const void* from = nullptr;
  std::size_t bytes = 0;
  int value = 0;           ///< Used by set.
  std::size_t digest = 0;  ///< Digest of an upload's source at the time of the call.
  struct Event* event = nullptr;
  // Used by records.
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
  std::int64_t answers_left;  ///< Questions whether work has ended that are still answered.

  int device = 0;  ///< The chosen device.
  /// The device's own memory and kernels.
  std::unique_ptr<engine::cuda::Gpu> gpu;
  std::map<const std::byte*, std::size_t> device_blocks;    ///< Bytes by address.
  std::map<const std::byte*, std::size_t> host_blocks;      ///< Page-locked blocks.
  std::map<const void*, std::size_t> shared_bytes_allowed;  ///< Bytes by kernel, once they were set.
  std::set<Stream*> streams;
  std::set<Event*> events;
  std::set<Blas*> blas;

  cudaError_t lost = cudaSuccess;  ///< Returned by every call once a kernel has failed.
  std::string detail;              ///< Why the last call failed, for cudaGetErrorString().

  /// Makes the device at the first call that needs it.
  [[nodiscard]] cudaError_t prepare();
  [[nodiscard]] cudaError_t refuse(cudaError_t error, std::string why);
  /// Whether the work in a stream, up to `event` if there is one, has ended. It does at the first question.
  [[nodiscard]] cudaError_t query(Stream& stream, const Event* event = nullptr);
  /// Runs a stream's queue to its end, or up to the last record of `event` in it.
  [[nodiscard]] cudaError_t drain(Stream& stream, const Event* event = nullptr);
  [[nodiscard]] cudaError_t drain_all();

 private:
  [[nodiscard]] Result<void> perform(const Operation& operation);
  /// Performs the operations in order and sets their times.
  [[nodiscard]] Result<void> perform_all(std::span<Operation> operations);
};

[[nodiscard]] State& state();

/// Whether `bytes` bytes from `at` on lie in one of the blocks.
[[nodiscard]] bool holds(const std::map<const std::byte*, std::size_t>& blocks, const void* at,
                         std::size_t bytes);

[[nodiscard]] std::size_t digest_of(const void* from, std::size_t bytes);

/// Destroys an object; `what` is the error text if the object does not exist.
template <typename Object>
cudaError_t destroy(State& s, std::set<Object*>& objects, void* handle, const char* what) {
  auto* const object = static_cast<Object*>(handle);
  if (objects.erase(object) == 0) return s.refuse(cudaErrorInvalidResourceHandle, what);
  delete object;
  return cudaSuccess;
}

/// Counts a call and runs its body `run`. The call fails if a failure is injected or the device is lost.
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
