// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Finds forbidden accesses of a cooperative grid's blocks: two blocks touch the same memory, at least one of
// them writes, and nothing orders the two accesses (block_order.h).
//
// Every load and store of a kernel is seen: the files that instantiate kernels are compiled with the
// compiler's own instrumentation for ThreadSanitizer, whose calls end here instead of in its library.
//
// Builds for another sanitizer or for coverage see nothing, since they leave the instrumentation out
// (sees_accesses()). Functions that are compiled elsewhere are not seen; kernels call only mathematical ones.
// Memory is divided into units of two bytes: accesses to different bytes of a unit count as one place.
//
// Each two bytes of device memory keep their last write and the last reads of two blocks. A conflict
// shows in either order of the two accesses. Arrivals, and waits for them, do not count as accesses. These
// conflicts are not found:
// - a write after reads of three or more blocks, if it comes after the two reads that are kept but not after
//   another;
// - accesses that are ordered only because arrivals happened to be counted in that order;
// - a missing barrier of the block before an arrival or after a wait for arrivals, unless the block's
//   threads run in an order that needs it;
// - a write to a piece's source after its copy began and before its bytes arrive.

#include <draftscope/base/result.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "block_order.h"

namespace draftscope::engine::cuda::emulation {

/// Two accesses of different blocks to the same memory, at least one of them a write, which nothing orders.
struct BlockConflict {
  int first_block = 0;  ///< In the order in which they ran.
  int second_block = 0;
  bool first_writes = false;
  bool second_writes = false;
  const std::byte* address = nullptr;
};

class DeviceAccesses {
 public:
  void add(const void* memory, std::size_t bytes, std::string what);
  void remove(const void* memory);

  /// Until end(), accesses belong to a cooperative grid's blocks. Only one object may be active at a time.
  void begin(int blocks);
  static void end();

  /// Takes the first conflict since the last call, as an error. `kernel` names the grid's kernel; `place`
  /// names an address, or is empty.
  [[nodiscard]] Result<void> take_conflict(std::string_view kernel,
                                           const std::function<std::string(const std::byte*)>& place);
  // Records an access of the running block.
  void on_read(const std::byte* address, std::size_t bytes);
  void on_write(const std::byte* address, std::size_t bytes);
  void on_arrival(const unsigned* counter, unsigned n);
  void on_arrivals_seen(const unsigned* counter, unsigned n);

 private:
  /// The name of an address: its allocation and the offset in it.
  [[nodiscard]] std::string place(const std::byte* address) const;
  struct Freed {
    void operator()(void* memory) const;
  };
  template <typename Value>
  using Array = std::unique_ptr<Value[], Freed>;
  struct BlockAccesses {
    Moment write;
    Moment reads[2];  ///< The last reads of two blocks.
  };
  struct Region {
    const std::byte* begin;
    std::size_t bytes;
    std::string what;
    Array<BlockAccesses>
        of_blocks;  ///< Accesses to each two bytes; absent before a cooperative grid touches the region.
  };
  /// A part of memory that contains all regions, and maybe other memory. Addresses outside need no search.
  struct Bounds {
    std::uintptr_t begin = 0;
    std::uintptr_t bytes = 0;
  };
  void find_bounds();
  /// The part of an access that lies in a region, in units of two bytes.
  struct Units {
    Region* region = nullptr;
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  template <typename Value>
  [[nodiscard]] static Array<Value> zeros(std::size_t bytes);
  [[nodiscard]] Units units_of(const std::byte* address, std::size_t bytes);
  static BlockAccesses* of_blocks(const Units& units);
  void check_order(Moment first, bool first_writes, bool second_writes, const std::byte* address);

  std::vector<Region> regions_;
  Bounds bounds_;
  BlockOrder order_;
  std::optional<BlockConflict> conflict_;
};

/// Sees a cooperative grid's accesses until the end of the scope.
class AccessesOfGrid {
 public:
  AccessesOfGrid(DeviceAccesses& accesses, int blocks) { accesses.begin(blocks); }
  AccessesOfGrid(const AccessesOfGrid&) = delete;
  AccessesOfGrid& operator=(const AccessesOfGrid&) = delete;
  ~AccessesOfGrid() { DeviceAccesses::end(); }
};

/// Whether this build sees what kernels read and write.
[[nodiscard]] bool sees_accesses();

/// Records a read or a write of the running kernel by code that is not instrumented.
void note_device_read(const void* address, std::size_t bytes);
void note_device_write(const void* address, std::size_t bytes);
/// Must be called before a kernel's `n` arrivals at a counter.
void note_device_arrival(const unsigned* counter, unsigned n);
/// Records the end of a kernel's wait for arrivals.
void note_arrivals_seen(const unsigned* counter, unsigned n);

}  // namespace draftscope::engine::cuda::emulation
