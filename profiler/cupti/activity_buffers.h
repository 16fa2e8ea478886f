// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Buffers that CUPTI's threads fill with activity records and our thread reads. CUPTI requests one buffer per
// thread, in the middle of a CUDA call of the program, so buffers are allocated and zeroed in advance.
//
// Each buffer is free, with CUPTI, or completed. Nothing is read or parsed under the lock.

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
  /// Size of a buffer. CUPTI recommends 1 to 10 MB; this holds some 15,000 launched kernels.
  static constexpr std::size_t buffer_bytes = std::size_t{4} << 20U;
  static constexpr std::size_t max_buffers = 64;

  /// Allocates buffers until at least `count` are free.
  void prepare(std::size_t count);

  // CUPTI's threads call these.
  /// Returns a zeroed buffer, or null at max_buffers; CUPTI then drops records and counts them.
  [[nodiscard]] std::uint8_t* request();
  void complete(CompletedBuffer buffer);

  // Our thread calls these.
  /// Buffers completed since the last call, in order of completion.
  [[nodiscard]] std::vector<CompletedBuffer> take_completed();
  /// Returns a completed buffer after its records were read.
  void recycle(CompletedBuffer buffer);

 private:
  struct Free {
    void operator()(std::uint8_t* memory) const { std::free(memory); }
  };
  using Memory = std::unique_ptr<std::uint8_t, Free>;
  [[nodiscard]] static Memory allocate();

  std::mutex mutex_;  // Guards all members below.
  std::vector<Memory> all_;
  std::size_t count_ = 0;  // Length of all_, or its length soon.
  std::vector<std::uint8_t*> free_;
  std::vector<CompletedBuffer> completed_;
};

}  // namespace draftscope::profiler::cupti
