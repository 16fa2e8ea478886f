// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Finds what a kernel may not do before its wait (wait_for_previous_kernel()): read device memory that a
// kernel before it, which may still run, writes; or write any.
//
// Every load and store of a kernel is seen: the files that instantiate kernels are compiled with the
// compiler's own instrumentation for ThreadSanitizer, whose calls end here instead of in its library. For
// each four bytes of device memory two numbers are kept: the last kernel that wrote them, and the last that
// read them before its wait. A conflict shows whichever of the two comes first, and so in any order of
// execution.
//
// Not seen: what runs in a build for another sanitizer or for coverage, where the instrumentation is left out
// (sees_accesses()); functions that are compiled elsewhere, of which kernels call only mathematical ones;
// what nvcc makes of the same source, for a GPU's compiler may move a load that is not bound to the wait
// (".nc"). Two accesses to different halves of the same four bytes count as one place.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace draftscope::engine::cuda::emulation {

/// Kernels are numbered from 1 in the order of their launches.
struct EarlyConflict {
  std::uint32_t early = 0;   ///< the kernel that does it before its wait
  std::uint32_t writer = 0;  ///< the kernel that writes what it reads; 0 = `early` itself writes
  const std::byte* address = nullptr;
};

class DeviceAccesses {
 public:
  void add(const void* memory, std::size_t bytes, std::string what);
  void remove(const void* memory);

  /// Accesses from here on, up to leave(), are those of a kernel; all before `first_unfinished` have ended
  /// when it starts. One object at a time.
  void enter(std::uint32_t kernel, std::uint32_t first_unfinished);
  static void leave();

  /// The first conflict since the last call.
  [[nodiscard]] std::optional<EarlyConflict> take_conflict();
  /// Name of the allocation and the offset in it.
  [[nodiscard]] std::string place(const std::byte* address) const;

  /// A read before the wait.
  void on_early_read(const std::byte* address, std::size_t bytes);
  void on_write(const std::byte* address, std::size_t bytes);

 private:
  struct Freed {
    void operator()(std::uint32_t* numbers) const;
  };
  using Numbers = std::unique_ptr<std::uint32_t[], Freed>;
  struct Region {
    const std::byte* begin;
    std::size_t bytes;
    std::string what;
    Numbers writers;  ///< of each four bytes; 0 = no kernel
    Numbers early_readers;
  };
  /// A part of memory that holds all regions, and perhaps other things: what lies outside needs no search.
  struct Bounds {
    std::uintptr_t begin = 0;
    std::uintptr_t bytes = 0;
  };
  void find_bounds();
  /// The part of an access that lies in a region, in units of four bytes.
  struct Units {
    Region* region = nullptr;
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  [[nodiscard]] static Numbers zeros(std::size_t bytes);
  [[nodiscard]] Units units_of(const std::byte* address, std::size_t bytes);
  void note(const EarlyConflict& conflict);

  std::vector<Region> regions_;
  Bounds bounds_;
  std::uint32_t kernel_ = 0;
  std::uint32_t first_unfinished_ = 0;
  std::optional<EarlyConflict> conflict_;
};

/// Whether this build sees what kernels read and write.
[[nodiscard]] bool sees_accesses();

/// A read or a write of the kernel that runs, by code that is not instrumented.
void note_device_read(const void* address, std::size_t bytes);
void note_device_write(const void* address, std::size_t bytes);

}  // namespace draftscope::engine::cuda::emulation
