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

#include <draftscope/base/number_text.h>
#include <draftscope/base/result.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/traces/reader.h>
#include <draftscope/traces/records.h>
#include <draftscope/traces/writer.h>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

// What bounds a vanilla step: the bytes that it must read, in its time, beside the machine's memory. The
// bytes follow from sizes in meta (weights of a step, K/V rows up to the mean context); the time is the
// recording's.
//
// Pure functions, safe from any thread. O(requests).

/// Memory bandwidth of the recorded GPU. Both rates are 10⁹ bytes per second.
struct ReadRate {
  std::string gpu;              ///< Name of its specification: "H200-SXM5-141GB".
  double specified_gb_s = 0.0;  ///< Bandwidth of the specification.
  double gb_s = 0.0;            ///< Bandwidth that reading alone reaches (simulator/data/gpus.csv).
};
/// Absent for a CPU, and for a GPU without a specification.
[[nodiscard]] std::optional<ReadRate> read_rate(const traces::Meta& meta);

/// Bytes of keys and values that one row of the cache has, over all layers; absent if meta lacks sizes.
[[nodiscard]] std::optional<double> cache_row_bytes(const traces::Meta& meta);

struct StepBound {
  double weight_bytes = 0.0;
  double cache_bytes = 0.0;   ///< 0 = not known
  double ns = 0.0;            ///< Mean time of a step.
  bool is_busy_time = false;  ///< Whether `ns` is the device's busy time; else it is wall time.
  std::optional<double>
      busy_share;  ///< Busy time / wall time of these steps; absent without a device's times.
  std::optional<ReadRate> rate;

  [[nodiscard]] double gb_s() const { return (weight_bytes + cache_bytes) / ns; }
  /// Share of the specified bandwidth; absent where `rate` is.
  [[nodiscard]] std::optional<double> share() const;
};
/// Absent without a vanilla run with steps, and where meta does not say what a step reads.
[[nodiscard]] std::optional<StepBound> step_bound(const MeasuredRecording& measured);

/// One sentence, such as "A vanilla step reads 15.0 GB (by sizes) in 6.04 ms busy (measured): 2491 GB/s, 51.9
/// % of the 4800 that the H200-SXM5-141GB is specified for." Empty where there is no bound.
[[nodiscard]] std::string step_bound_text(const MeasuredRecording& measured, Characters characters);

// Occupancy: how many blocks of a kernel fit on a multiprocessor at once. Registers are given to warps, and
// each quarter of the multiprocessor has a quarter of them; shared memory is given to blocks. The rounding is
// that of CUDA's occupancy calculator for compute capability 5.0 and later. All of the multiprocessor's
// shared memory counts, so a driver that leaves more to the L1 cache fits fewer blocks.

/// Limits of one multiprocessor.
struct MultiprocessorLimits {
  std::int32_t compute_capability = 0;  ///< 10 · major + minor: 90 for 9.0.
  std::int32_t multiprocessors = 0;     ///< Number of them on the device; 0 = not known.
  std::int32_t warps = 0;
  std::int32_t blocks = 0;
  std::int32_t registers = 0;
  std::int32_t shared_bytes = 0;
};

/// Limits in `device_limits` of a recording's meta; absent in recordings without it, or with implausible
/// ones.
[[nodiscard]] std::optional<MultiprocessorLimits> multiprocessor_limits(const traces::Meta& meta);

struct Occupancy {
  std::int32_t blocks = 0;  ///< Blocks that fit on a multiprocessor, at least 1.
  std::int32_t warps = 0;   ///< Their warps.
  std::string_view
      limited_by;  ///< First of "warps", "blocks", "registers", "shared memory" that fits no more.
};

/// Absent for rows that are no kernels or have no registers, and where no block fits.
[[nodiscard]] std::optional<Occupancy> occupancy_of(const traces::Kernel& kernel,
                                                    const MultiprocessorLimits& limits);

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
  std::uint8_t warps = 0;  ///< Warps of it that fit on a multiprocessor (device_timeline.h); 0 = not known.

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
