// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Memory that CUPTI's threads fill with activity records and our thread reads. CUPTI asks for a buffer a
// thread, in the middle of a CUDA call of the program, so buffers are allocated and zeroed ahead.
//
// A buffer is free, with CUPTI, or completed. Nothing is read or parsed under the lock.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

namespace draftscope::profiler::cupti {

struct CompletedBuffer {
  std::uint8_t* data = nullptr;
  std::size_t valid_bytes = 0;
};

class ActivityBuffers {
 public:
  /// Size of a buffer. CUPTI advises 1 to 10 MB; this holds some 15,000 launched kernels.
  static constexpr std::size_t buffer_bytes = std::size_t{4} << 20U;
  static constexpr std::size_t max_buffers = 64;

  /// Makes at least `count` buffers free.
  void prepare(std::size_t count);

  // CUPTI's threads.
  /// Zeroed, or null when max_buffers are in use: CUPTI then drops records and counts them.
  [[nodiscard]] std::uint8_t* request();
  void complete(CompletedBuffer buffer);

  // Our thread.
  /// Buffers completed since the last call, in that order.
  [[nodiscard]] std::vector<CompletedBuffer> take_completed();
  /// Gives a completed buffer that has been read back.
  void recycle(CompletedBuffer buffer);

 private:
  struct Free {
    void operator()(std::uint8_t* memory) const { std::free(memory); }
  };
  using Memory = std::unique_ptr<std::uint8_t, Free>;
  [[nodiscard]] static Memory allocate();

  std::mutex mutex_;  // guards all below
  std::vector<Memory> all_;
  std::size_t count_ = 0;  // length of all_, now or soon
  std::vector<std::uint8_t*> free_;
  std::vector<CompletedBuffer> completed_;
};

}  // namespace draftscope::profiler::cupti
