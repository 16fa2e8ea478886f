// SPDX-License-Identifier: GPL-3.0-or-later
#include "memory.h"

#include <sys/mman.h>
#include <cerrno>
#include <cstring>

namespace draftscope::engine::cpu {

Result<Memory> Memory::allocate(std::size_t bytes, Pages pages) {
  Memory memory;
  if (bytes == 0) return memory;
  void* data =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED)
    return fail("cpu backend: cannot reserve {} bytes of memory: {}", bytes, std::strerror(errno));
// This is only a hint: small pages also work.
#if defined(MADV_HUGEPAGE)
  if (pages == Pages::large) madvise(data, bytes, MADV_HUGEPAGE);
#endif
  memory.data_ = data;
  memory.bytes_ = bytes;
  return memory;
}

Memory::~Memory() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

}  // namespace draftscope::engine::cpu
