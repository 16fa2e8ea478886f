// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What the stand-in's calls share.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/gpu.h"
#include "loop_condition.h"
#include "stand_in.h"

namespace draftscope::cuda_stand_in {

enum class Work : std::uint8_t { kernel, product, upload, download, set, event, loop };

using Condition = std::shared_ptr<engine::cuda::emulation::LoopCondition>;

/// Something queued in a stream.
struct Operation {
  Work work = Work::kernel;
  engine::cuda::Launch launch;  ///< kernel
  engine::cuda::KernelParams params;
  const char* symbol = "";            ///< of the kernel, for records
  int threads = 0;                    ///< of its block
  engine::cuda::WideProduct product;  ///< product
  void* to = nullptr;                 ///< copies, set
  const void* from = nullptr;
  std::size_t bytes = 0;
  int value = 0;           ///< set
  std::size_t digest = 0;  ///< upload: of the source when it was asked for
  struct Event* event = nullptr;
  struct LoopNode* loop = nullptr;  ///< loop, captured
  Condition condition;              ///< loop, of an executable
  std::vector<Operation> body;      ///< likewise
  // For records
  std::uint32_t correlation = 0;
  std::uint64_t node = 0;   ///< of an executable graph; 0 = of none
  std::uint32_t graph = 0;  ///< the executable's number
  std::uint64_t start_ns = 0, end_ns = 0;
};

struct Event {
  bool is_recorded = false;
  std::uint64_t time_ns = 0;
};

struct LoopNode;

/// Captured; `node` is its nodes' own, before they are made executable.
struct Graph {
  std::vector<Operation> operations;
  std::vector<Condition> conditions;  ///< made for its loops
  std::vector<std::unique_ptr<LoopNode>> loops;
};

/// A conditional node that is a loop.
struct LoopNode {
  Condition condition;
  Graph body;
  cudaGraph_t handle = nullptr;  ///< of the body
};

struct Executable {
  std::uint32_t number = 0;
  std::vector<Operation> operations;
};

struct Stream {
  std::deque<Operation> queue;
  Graph* captured = nullptr;   ///< what a capture under way goes into; null = there is none
  std::unique_ptr<Graph> own;  ///< the same, unless it was there before the capture
  bool is_invalid = false;     ///< the capture under way holds a call that it must not
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
  std::set<Graph*> graphs;
  std::set<Executable*> executables;
  std::set<Blas*> blas;

  cudaError_t lost = cudaSuccess;  ///< what every call returns once a kernel has failed
  std::string detail;              ///< why the last call failed, for cudaGetErrorString()

  /// Makes the device at the first call that needs it.
  [[nodiscard]] cudaError_t prepare();
  [[nodiscard]] cudaError_t refuse(cudaError_t error, std::string why);
  [[nodiscard]] bool is_capturing() const;
  /// A stream's queue, done to its end, or to the last time that `event` is recorded in it.
  [[nodiscard]] cudaError_t drain(Stream& stream, const Event* event = nullptr);
  [[nodiscard]] cudaError_t drain_all();
  /// Behind whatever the stream holds, or into its capture.
  void enqueue(Stream& stream, Operation operation);

 private:
  [[nodiscard]] Result<void> perform(const Operation& operation);
  /// In order. `done` gets them as they were done: of a loop each run of its body.
  [[nodiscard]] Result<void> perform_all(std::vector<Operation> operations, std::vector<Operation>& done);
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

/// Place of a call in a capture by the thread that makes it.
enum class InCapture : std::uint8_t { allowed, refused };

/// A call whose body is `run`. Counted; fails where it is to fail, where the device is lost, and where a
/// capture does not allow it, which spoils the capture. `gives_back`: the body runs nonetheless.
template <typename Run>
cudaError_t call(const char* name, InCapture in_capture, bool gives_back, Run run) {
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
  if (in_capture == InCapture::refused && s.is_capturing()) {
    for (Stream* const stream : s.streams) stream->is_invalid = stream->captured != nullptr;
    if (gives_back) (void)run(s);
    return s.refuse(cudaErrorStreamCaptureUnsupported, std::string(name) + " while a stream is captured");
  }
  if (s.lost != cudaSuccess) {
    if (gives_back) (void)run(s);
    return s.lost;
  }
  return run(s);
}

}  // namespace draftscope::cuda_stand_in
