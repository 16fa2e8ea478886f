// SPDX-License-Identifier: GPL-3.0-or-later
#include "activity_buffers.h"

#include <cstring>
#include <utility>

namespace draftscope::profiler::cupti {

void ActivityBuffers::prepare(std::size_t count) {
  const std::lock_guard lock(mutex_);
  while (free_.size() < count && count_ < max_buffers) {
    Memory memory = allocate();
    if (memory == nullptr) return;
    ++count_;
    free_.push_back(memory.get());
    all_.push_back(std::move(memory));
  }
}

std::uint8_t* ActivityBuffers::request() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      std::uint8_t* const data = free_.back();
      free_.pop_back();
      return data;
    }
    if (count_ == max_buffers) return nullptr;
    ++count_;
  }
  Memory memory = allocate();
  const std::lock_guard lock(mutex_);
  if (memory == nullptr) {
    --count_;
    return nullptr;
  }
  std::uint8_t* const data = memory.get();
  all_.push_back(std::move(memory));
  return data;
}

void ActivityBuffers::complete(CompletedBuffer buffer) {
  const std::lock_guard lock(mutex_);
  completed_.push_back(buffer);
}

std::vector<CompletedBuffer> ActivityBuffers::take_completed() {
  const std::lock_guard lock(mutex_);
  return std::exchange(completed_, {});
}

void ActivityBuffers::recycle(CompletedBuffer buffer) {
  std::memset(buffer.data, 0, buffer.valid_bytes);
  const std::lock_guard lock(mutex_);
  free_.push_back(buffer.data);
}

ActivityBuffers::Memory ActivityBuffers::allocate() {
  constexpr std::size_t page = 4096;
  auto* const data = static_cast<std::uint8_t*>(std::aligned_alloc(page, buffer_bytes));
  if (data != nullptr) std::memset(data, 0, buffer_bytes);
  return Memory(data);
}

}  // namespace draftscope::profiler::cupti
