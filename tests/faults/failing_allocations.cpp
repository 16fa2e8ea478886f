// SPDX-License-Identifier: GPL-3.0-or-later
// This library is preloaded into a program and replaces malloc and its relatives. It counts allocations by
// the place that requested them, or lets one of them fail. A file (allocation_points.h) says where to write
// and what to fail.
//
// It begins with main(), since no program can answer for what the loader and the libraries' initialisers
// allocate before. It uses only the C library, whose original allocation functions it calls by their second
// names.

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "allocation_points.h"

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): the C library's names
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
// NOLINTEND(bugprone-reserved-identifier)
}

namespace {

using draftscope::test::AllocationPoint;
using draftscope::test::AllocationPoints;
using draftscope::test::CallStack;

struct Module {
  std::uintptr_t base = 0, begin = 0, end = 0;
  bool is_this = false;
};

AllocationPoints* shared = nullptr;  // null until main() begins
Module modules[draftscope::test::max_modules];
std::size_t module_count = 0;
std::atomic_flag counting = ATOMIC_FLAG_INIT;
std::atomic<bool> all_fail{false};
std::atomic<std::uint64_t> seen{0};  // requests of the wanted allocation
// Initial-exec variables are in the thread's static block, so that reading them allocates nothing.
__attribute__((tls_model("initial-exec"))) thread_local bool inside = false;

int add_module(dl_phdr_info* info, std::size_t /*size*/, void* /*context*/) {
  if (module_count == draftscope::test::max_modules) return 1;
  Module& module = modules[module_count];
  module.base = info->dlpi_addr;
  module.begin = UINTPTR_MAX;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = info->dlpi_addr + part.p_vaddr;
    if (begin < module.begin) module.begin = begin;
    if (begin + part.p_memsz > module.end) module.end = begin + part.p_memsz;
  }
  const auto here = reinterpret_cast<std::uintptr_t>(&add_module);
  module.is_this = here >= module.begin && here < module.end;
  std::strncpy(shared->modules[module_count].data(), info->dlpi_name, shared->modules[0].size() - 1);
  ++module_count;
  return 0;
}

/// Omits the frames of this library. Frames of no known file (compiled at run time) all look alike.
CallStack call_stack() {
  constexpr int own_frames = 4;
  void* found[draftscope::test::frames_per_stack + own_frames];
  const int count = backtrace(found, static_cast<int>(draftscope::test::frames_per_stack) + own_frames);
  CallStack stack{};
  std::size_t used = 0;
  for (int i = 0; i < count && used < stack.size(); ++i) {
    const auto address = reinterpret_cast<std::uintptr_t>(found[i]);
    std::size_t m = 0;
    while (m < module_count && (address < modules[m].begin || address >= modules[m].end)) ++m;
    if (m < module_count && modules[m].is_this) continue;
    const std::uint64_t offset = m < module_count ? address - modules[m].base : 0;
    stack[used++] = (static_cast<std::uint64_t>(m + 1) << 48U) | offset;
  }
  return stack;
}

std::uint64_t mixed(std::uint64_t state, std::uint64_t more) {
  state = (state ^ more) * 0x9E37'79B9'7F4A'7C15U;
  return state ^ (state >> 29U);
}

std::uint64_t label_of(const CallStack& stack) {
  std::uint64_t label = 1;
  for (std::size_t i = 0; i < draftscope::test::frames_per_label; ++i) label = mixed(label, stack[i]);
  return label == 0 ? 1 : label;
}

void count(const CallStack& stack, std::size_t bytes) {
  const std::uint64_t label = label_of(stack);
  while (counting.test_and_set(std::memory_order_acquire)) {
  }
  const std::uint64_t order = shared->allocations++;
  auto& points = shared->points;
  std::size_t i = mixed(label, bytes) % points.size();
  std::size_t looked_at = 0;
  while (points[i].label != 0 && (points[i].label != label || points[i].bytes != bytes) &&
         ++looked_at < points.size())
    i = (i + 1) % points.size();
  if (looked_at == points.size()) {
    ++shared->unlisted;
  } else {
    if (points[i].label == 0) points[i] = AllocationPoint{label, bytes, 0, order, stack};
    ++points[i].occurrences;
  }
  counting.clear(std::memory_order_release);
}

/// Compares the cheap size first, since reading the stack takes microseconds.
bool is_wanted(std::size_t bytes) {
  if (bytes != shared->wanted.bytes) return false;
  if (label_of(call_stack()) != shared->wanted.label) return false;
  return ++seen == shared->wanted.occurrence;
}

/// True if this allocation is to fail.
bool fails(std::size_t bytes) {
  if (shared == nullptr || inside) return false;
  if (all_fail.load(std::memory_order_relaxed)) return true;
  inside = true;
  bool failing = false;
  if (shared->wanted.label == 0) {
    count(call_stack(), bytes);
  } else if (is_wanted(bytes)) {
    failing = true;
    shared->is_reached = 1;
    all_fail = shared->wanted.from_then_on != 0;
  }
  inside = false;
  return failing;
}

void begin() {
  const char* const name = std::getenv(draftscope::test::allocation_points_variable);
  if (name == nullptr) return;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg)
  const int file = ::open(name, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void* const mapped = ::mmap(nullptr, sizeof(AllocationPoints), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (mapped == MAP_FAILED) return;
  void* first[1];
  backtrace(first, 1);  // loads the unwinder, which allocates
  shared = static_cast<AllocationPoints*>(mapped);
  dl_iterate_phdr(add_module, nullptr);
}

using Main = int (*)(int, char**, char**);
Main program = nullptr;

int main_after_begin(int argc, char** argv, char** environment) {
  begin();
  return program(argc, argv, environment);
}

void* refused() {
  errno = ENOMEM;
  return nullptr;
}

}  // namespace

extern "C" {

// NOLINTNEXTLINE(bugprone-reserved-identifier)
__attribute__((visibility("default"))) int __libc_start_main(Main main, int argc, char** argv, void (*init)(),
                                                             void (*fini)(), void (*rtld_fini)(),
                                                             void* stack_end) {
  program = main;
  const auto real = reinterpret_cast<decltype(&__libc_start_main)>(dlsym(RTLD_NEXT, "__libc_start_main"));
  return real(main_after_begin, argc, argv, init, fini, rtld_fini, stack_end);
}

__attribute__((visibility("default"))) void* malloc(std::size_t bytes) noexcept {
  return fails(bytes) ? refused() : __libc_malloc(bytes);
}

__attribute__((visibility("default"))) void* calloc(std::size_t count, std::size_t bytes) noexcept {
  return fails(count * bytes) ? refused() : __libc_calloc(count, bytes);
}

__attribute__((visibility("default"))) void* realloc(void* memory, std::size_t bytes) noexcept {
  return fails(bytes) ? refused() : __libc_realloc(memory, bytes);
}

__attribute__((visibility("default"))) void* aligned_alloc(std::size_t alignment,
                                                           std::size_t bytes) noexcept {
  return fails(bytes) ? refused() : __libc_memalign(alignment, bytes);
}

__attribute__((visibility("default"))) void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  return fails(bytes) ? refused() : __libc_memalign(alignment, bytes);
}

__attribute__((visibility("default"))) int posix_memalign(void** memory, std::size_t alignment,
                                                          std::size_t bytes) noexcept {
  void* const found = fails(bytes) ? nullptr : __libc_memalign(alignment, bytes);
  if (found == nullptr) return ENOMEM;
  *memory = found;
  return 0;
}
}
