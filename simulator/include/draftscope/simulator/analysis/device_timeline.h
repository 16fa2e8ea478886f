// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What a device did, in time: every kernel, copy and operation of a recording, and the parts of time that
// each has to itself. An instant belongs to the row that began first, and to an operation before the kernel
// that timed it, so that parts never overlap and their sum is the device's busy time. An operation begins
// where the one before it in the same launch ended, as in OperationClock: the barrier between them is its
// own.
//
// Times are nanoseconds of the recording's clock, ranges are half-open. A timeline is immutable once it is
// read, and free to share between threads.

#include <draftscope/base/result.h>
#include <draftscope/simulator/analysis/occupancy.h>
#include <draftscope/simulator/analysis/step_bound.h>
#include <draftscope/traces/reader.h>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

inline constexpr std::uint32_t no_run = std::numeric_limits<std::uint32_t>::max();

/// One kernel, copy, memory set, launch of a graph, or operation that a kernel timed by itself.
struct DeviceWork {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t bytes = -1;      ///< Bytes that it must read; -1 = not known.
  traces::RoundId round_id;     ///< 0 outside rounds, as in the prefill.
  std::uint32_t operation = 0;  ///< Index into DeviceTimeline::names, as is `kernel`.
  std::uint32_t kernel = 0;
  std::uint32_t run = no_run;  ///< Index into Recording::runs.
  std::uint32_t launch = 0;    ///< As launch_number().
  std::int32_t layer = -1;
  traces::Phase phase = traces::Phase::control;
  std::uint8_t warps = 0;  ///< Warps of it that fit on a multiprocessor (occupancy.h); 0 = not known.

  [[nodiscard]] std::int64_t open_ns() const { return end_ns - start_ns; }
};

/// A part of time that one row of DeviceTimeline::work has to itself.
struct OwnTime {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t work = 0;
};

/// Where the bytes of products and attention come from.
enum class BytesSource : std::uint8_t {
  none,      ///< Not known.
  recorded,  ///< The kernels noted them.
  sizes,     ///< They follow from the model's sizes: weights once per layer, K/V up to the round's position.
};

struct DeviceTimeline {
  std::vector<std::string> names;
  std::vector<DeviceWork> work;  ///< Ordered by start.
  std::vector<OwnTime> own;      ///< Ordered by start; no two overlap.
  bool timed_by_device = false;  ///< Whether operations timed themselves.
  BytesSource bytes = BytesSource::none;
  std::optional<ReadRate> rate;
  std::optional<MultiprocessorLimits> limits;  ///< Limits of the recorded device.

  [[nodiscard]] bool empty() const { return work.empty(); }
};

/// Called with the number of rows read so far; false cancels.
using DeviceProgress = std::function<bool(std::int64_t rows)>;

/// Reads the rows of streams and operations. 80 bytes a row; O(rows · log rows). Errors: unreadable tables,
/// "cancelled".
[[nodiscard]] Result<DeviceTimeline> read_device_timeline(traces::Reader& reader,
                                                          const traces::Recording& recording,
                                                          const DeviceProgress& progress = {});

/// Kernel's name without the parts that all kernels share: namespaces, the engine's entry around a kernel's
/// body, the type "void" and the parameters. "qkv: void a::(anonymous namespace)::f<b::G<b::T>, 8>(int)" is
/// "qkv: f<G<T>, 8>". The engine's kernels that compute one operation have its name first: "gate up:
/// ProductKernel<Bf16, GateUpOp>". A name that is no template instance and has no such namespace stays as it
/// is ("aten::mm").
[[nodiscard]] std::string short_kernel_name(std::string_view name);

/// The operation of a short name: the text before its colon, or else the kernel without template arguments.
[[nodiscard]] std::string_view operation_of_kernel(std::string_view short_name);

}  // namespace draftscope::simulator
