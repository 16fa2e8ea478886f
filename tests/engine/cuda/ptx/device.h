// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A device that runs PTX: memory, modules, launches one after another, all in one thread of the host.
//
// What it is faithful to: the arithmetic that PTX defines, divergence and what lanes do together, barriers,
// spaces of memory, and which accesses are allowed (global_memory.h and shared_memory.h of memory/ say what
// is found). What it is not: time, caches and the order of memory between blocks that no fence orders; races
// of global memory; the order of sums inside an mma (operations/matrix_steps.h); the last bits of .approx
// instructions (operations/rows/approximate_rows.cpp).

#include <draftscope/base/result.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "memory/global_memory.h"
#include "module/module.h"
#include "run/counts.h"
#include "run/grid_run.h"
#include "run/launch_state.h"
#include "run/program.h"

namespace draftscope::ptx {

struct LaunchRequest {
  std::string_view entry;  ///< its name in the module, or the same made readable (run/readable_name.h)
  Extent blocks, threads;
  std::size_t shared_bytes = 0;  ///< behind the kernel's own
  std::vector<std::span<const std::byte>> parameters;
  bool may_start_early = false;  ///< beside the kernels before it
  bool counts = false;
  std::span<const CountedRange> ranges;  ///< counted by kind, too; empty = nothing is
};

struct DeviceOptions {
  std::uint32_t seed = 1;                                  ///< of the order of blocks, warps and lanes
  std::uint64_t max_steps = std::uint64_t{1} << 36U;       ///< of a launch, in instructions of warps
  std::size_t max_shared_bytes = std::size_t{227} * 1024;  ///< of a block
  /// Stands for cudaGraphSetConditional (run/launch_state.h). Null = there are no graphs with conditions.
  SetCondition set_condition = nullptr;
};

/// Thread-safety: one caller at a time. A launch that fails leaves memory as it was at the fault.
class Device {
 public:
  explicit Device(const DeviceOptions& options = {}) : options_(options) {}

  /// Reads a module and gives its variables memory. One module a device.
  [[nodiscard]] Result<void> load(std::string_view name, std::string text);
  [[nodiscard]] const Module& module() const { return module_; }
  /// Every kernel decoded, or the first that cannot be.
  [[nodiscard]] Result<void> decode_all();

  /// Device memory at an address that the host can read, too. Holds no value.
  [[nodiscard]] Result<std::byte*> allocate(std::string name, std::size_t bytes);
  void release(const void* memory);

  // Copies end the kernels before them.
  [[nodiscard]] Result<void> upload(void* to, const void* from, std::size_t bytes);
  [[nodiscard]] Result<void> clear(void* memory, std::size_t bytes);
  /// A byte that nobody wrote stays so where it is copied to.
  [[nodiscard]] Result<void> copy(void* to, const void* from, std::size_t bytes);
  /// Fails if a byte was never written.
  [[nodiscard]] Result<void> download(void* to, const void* from, std::size_t bytes);
  /// As download(), whatever the memory holds.
  [[nodiscard]] Result<void> peek(void* to, const void* from, std::size_t bytes);
  /// Memory that a library's kernel writes, which is launched here and does not start early.
  [[nodiscard]] Result<void> note_written_by_library(const void* memory, std::size_t bytes);
  void begin_library_kernel() { next_number(false); }

  /// Runs a kernel to its end. Counts are of what was asked for, or empty.
  [[nodiscard]] Result<LaunchCounts> launch(const LaunchRequest& request);

  [[nodiscard]] GlobalMemory& memory() { return memory_; }

 private:
  struct Range {
    Region* region;
    std::size_t offset;
  };
  [[nodiscard]] Result<Range> range_of(const void* memory, std::size_t bytes, std::string_view what) const;
  [[nodiscard]] Result<const Program*> program_of(std::string_view entry);
  GridNumber next_number(bool may_start_early);
  static LaunchCounts finished(const Program& program, RunningCounts& counts);

  DeviceOptions options_;
  GlobalMemory memory_;
  Module module_;
  std::vector<std::uint64_t> variable_addresses_;
  std::map<const Entry*, Program> programs_;
  std::uint32_t launched_ = 0;
  std::uint32_t first_unfinished_ = 1;
  bool all_ended_ = true;
  std::uint64_t clock_ns_ = 0;
};

}  // namespace draftscope::ptx
