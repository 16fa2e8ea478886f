// SPDX-License-Identifier: GPL-3.0-or-later
// This file is separate because GCC reports a mismatched pair if it sees the replaced operators together with
// their callers.

#include "allocation_count.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::int64_t> all{0};
thread_local std::int64_t here = 0;

/// Returns null where there is no memory.
void* counted_or_null(std::size_t bytes, std::size_t alignment) noexcept {
  all.fetch_add(1, std::memory_order_relaxed);
  ++here;
  const std::size_t units = bytes == 0 ? 1 : (bytes + alignment - 1) / alignment;
  return std::aligned_alloc(alignment, units * alignment);
}

void* counted(std::size_t bytes, std::size_t alignment) {
  void* memory = counted_or_null(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

std::int64_t allocation_count() {
  return all.load(std::memory_order_relaxed);
}
std::int64_t allocation_count_here() {
  return here;
}

void* operator new(std::size_t bytes) {
  return counted(bytes, alignof(std::max_align_t));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return counted_or_null(bytes, alignof(std::max_align_t));
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
