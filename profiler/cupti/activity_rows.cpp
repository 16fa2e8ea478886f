// SPDX-License-Identifier: GPL-3.0-or-later
#include "activity_rows.h"

#include <algorithm>
#include <cstdlib>
#include <span>

#include "kernel_name.h"
#include "launch_calls.h"

namespace draftscope::profiler::cupti {
namespace {

using traces::Kernel;

// Max rows that wait for a correlation; beyond this, the oldest are treated as having none.
constexpr std::size_t max_waiting = std::size_t{1} << 18U;
constexpr std::size_t rows_per_write = 4096;
constexpr std::uint64_t max_ns = std::uint64_t{1} << 62U;  // Bound of the schema on times.

// The records are packed, so their fields can't be bound to references: the casts make copies.
template <typename Record>
const Record& as(const CUpti_Activity& record) {
  return reinterpret_cast<const Record&>(record);
}

std::string_view copy_name(std::uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
      return "[memcpy HtoD]";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
      return "[memcpy DtoH]";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
      return "[memcpy DtoD]";
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH:
      return "[memcpy HtoH]";
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
      return "[memcpy PtoP]";
    default:
      return "[memcpy other]";
  }
}

std::string_view wait_name(CUpti_ActivitySynchronizationType type) {
  switch (type) {
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE:
      return "[wait for event]";
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT:
      return "[stream waits for event]";
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE:
      return "[wait for stream]";
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE:
      return "[wait for context]";
    default:
      return "[wait]";
  }
}

std::string_view overhead_name(CUpti_ActivityOverheadKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER:
      return "[driver compiles]";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH:
      return "[CUPTI buffer flush]";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION:
      return "[CUPTI instrumentation]";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE:
      return "[CUPTI resource]";
    case CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING:
      return "[module loading]";
    case CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING:
      return "[lazy function loading]";
    case CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL:
      return "[command buffer full]";
    case CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST:
      return "[CUPTI buffer request]";
    default:
      return "[overhead]";
  }
}

}  // namespace

void ActivityRows::expect(const traces::Span& span) {
  launchers_.put(static_cast<std::uint64_t>(span.id.value()),
                 {span.request_id, span.round_id, span.start_ns, span.layer, span.phase});
}

void ActivityRows::add(const CUpti_Activity& record) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
      const auto& correlation = as<CUpti_ActivityExternalCorrelation>(record);
      if (correlation.externalKind == CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0)
        call_under_way(correlation.correlationId).span_id = traces::SpanId::from(correlation.externalId);
      else if (correlation.externalKind == CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1)
        call_under_way(correlation.correlationId).operation = correlation.externalId;
      return;
    }
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return add_call(as<CUpti_ActivityAPI>(record));
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return add_kernel(as<CUpti_ActivityKernel10>(record));
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return add_copy(as<CUpti_ActivityMemcpy6>(record));
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return add_set(as<CUpti_ActivityMemset4>(record));
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return add_wait(as<CUpti_ActivitySynchronization2>(record));
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return add_overhead(as<CUpti_ActivityOverhead3>(record));
    case CUPTI_ACTIVITY_KIND_DEVICE:
      return add_device(as<CUpti_ActivityDevice5>(record));
    default:
      ++counts_.other;
  }
}

void ActivityRows::add(std::span<const TimedOperation> operations, traces::SpanId span) {
  if (writer_ == nullptr) return;
  const Launcher* const launcher = launchers_.find(static_cast<std::uint64_t>(span.value()));
  for (const TimedOperation& operation : operations) {
    Kernel row;
    row.short_name_id = writer_->intern(operation.name);
    row.layer = operation.layer;
    if (launcher != nullptr) {
      row.span_id = span;
      row.request_id = launcher->request_id;
      row.round_id = launcher->round_id;
      row.phase = operation.phase.value_or(launcher->phase);
    }
    Kernel of_block = row;
    row.start_ns = operation.start_ns;
    row.end_ns = operation.end_ns;
    row.track_id = track("operations", "operations", 0);
    row.grid_x = operation.blocks;
    row.bytes = operation.bytes;
    row.wait_ns = operation.wait_ns;
    row.first_end_ns = operation.first_end_ns;
    row.first_block = operation.first_block;
    row.last_block = operation.last_block;
    finish(row);
    of_block.start_ns = operation.block_start_ns;
    of_block.end_ns = operation.block_end_ns;
    of_block.track_id = track("block", "operations, one block", 1);
    finish(of_block);
  }
}

void ActivityRows::add_kernel(const CUpti_ActivityKernel10& record) {
  Kernel row;
  if (!begin_work(row, record)) return;
  row.grid_x = record.gridX;
  row.grid_y = record.gridY;
  row.grid_z = record.gridZ;
  row.block_x = record.blockX;
  row.block_y = record.blockY;
  row.block_z = record.blockZ;
  row.registers_per_thread = record.registersPerThread;
  row.static_shared_bytes = record.staticSharedMemory;
  row.dynamic_shared_bytes = record.dynamicSharedMemory;
  place({.row = row, .name = readable(record.name)});
}

void ActivityRows::add_copy(const CUpti_ActivityMemcpy6& record) {
  Kernel row;
  if (!begin_work(row, record)) return;
  const std::string_view name = copy_name(record.copyKind);
  count_bytes(name, record.start, record.bytes);
  place({.row = row, .name = name, .runtime_correlation = record.runtimeCorrelationId});
}

void ActivityRows::add_set(const CUpti_ActivityMemset4& record) {
  Kernel row;
  if (!begin_work(row, record)) return;
  constexpr std::string_view name = "[memset]";
  count_bytes(name, record.start, record.bytes);
  place({.row = row, .name = name});
}

// External correlations precede the call's record; a call without one was made outside any span.
void ActivityRows::add_call(const CUpti_ActivityAPI& record) {
  Call& call = calls_.at(record.correlationId);
  call.is_complete = true;
  const std::string_view name = call_name(record.kind, record.cbid);
  Kernel row;
  if (name.empty() || !begin_row(row, record.start, record.end, record.correlationId)) return;
  row.track_id = track("calls", "CUDA calls", 0);
  store(attributed({.row = row, .name = name, .is_work = false}, call));
}

// A recording has one device, so the record of a second one is passed over.
void ActivityRows::add_device(const CUpti_ActivityDevice5& record) {
  if (!device_limits_.empty()) return;
  const auto field = [](std::string_view name, std::uint32_t number) {
    return fmt::format("\"{}\":{}", name, number);
  };
  device_limits_ = fmt::format(
      "{{\"compute_capability\":\"{}.{}\",{},{},{},{},{}}}", std::uint32_t{record.computeCapabilityMajor},
      std::uint32_t{record.computeCapabilityMinor}, field("multiprocessors", record.numMultiprocessors),
      field("max_warps", record.maxWarpsPerMultiprocessor),
      field("max_blocks", record.maxBlocksPerMultiprocessor),
      field("max_registers", record.maxRegistersPerMultiprocessor),
      field("max_shared_bytes", record.maxSharedMemoryPerMultiprocessor));
}

void ActivityRows::add_wait(const CUpti_ActivitySynchronization2& record) {
  Kernel row;
  if (!begin_row(row, record.start, record.end, record.correlationId)) return;
  if (record.streamId != CUPTI_SYNCHRONIZATION_INVALID_VALUE) row.stream_id = record.streamId;
  row.track_id = track("sync", "waits for the device", 0);
  place({.row = row, .name = wait_name(record.type), .is_work = false});
}

void ActivityRows::add_overhead(const CUpti_ActivityOverhead3& record) {
  std::free(record.overheadData);  // CUPTI transfers ownership of it with the record.
  Kernel row;
  if (!begin_row(row, record.start, record.end, record.correlationId)) return;
  counts_.overhead_ns += row.end_ns - row.start_ns;
  row.track_id = track("overhead", "cost of measuring", 0);
  // Not every overhead belongs to a call, so none waits for one.
  const Call* const call = calls_.find(row.correlation_id);
  finish(attributed({.row = row, .name = overhead_name(record.overheadKind), .is_work = false},
                    call != nullptr ? *call : Call{}));
}

bool ActivityRows::begin_row(Kernel& row, std::uint64_t start, std::uint64_t end, std::uint32_t correlation) {
  if (writer_ == nullptr) return false;
  if (start == 0 || end < start || end >= max_ns) {
    ++counts_.rejected;
    return false;
  }
  row.start_ns = static_cast<std::int64_t>(start);
  row.end_ns = static_cast<std::int64_t>(end);
  row.correlation_id = correlation;
  return true;
}

template <typename Record>
bool ActivityRows::begin_work(Kernel& row, const Record& record) {
  if (!begin_row(row, record.start, record.end, record.correlationId)) return false;
  row.stream_id = record.streamId;
  row.track_id = stream_track(record.deviceId, record.streamId);
  return true;
}

void ActivityRows::place(const Waiting& waiting) {
  const Call* const call = call_of(waiting);
  if (call == nullptr) return waiting_.push_back(waiting);
  Kernel row = attributed(waiting, *call);
  if (call == calls_.find(waiting.runtime_correlation)) row.correlation_id = waiting.runtime_correlation;
  if (row.span_id == 0) ++counts_.unattributed;
  finish(row);
}

/// A repeated id belongs to a new call.
ActivityRows::Call& ActivityRows::call_under_way(std::uint32_t correlation) {
  Call& call = calls_.at(correlation);
  if (call.is_complete) call = {};
  return call;
}

const ActivityRows::Call* ActivityRows::call_of(const Waiting& waiting) const {
  const auto known = [&](std::uint32_t correlation) -> const Call* {
    const Call* const call = calls_.find(correlation);
    return call != nullptr && call->is_complete ? call : nullptr;
  };
  const Call* const call = known(waiting.row.correlation_id);
  if (call != nullptr && call->span_id != 0) return call;
  const Call* const outer = known(waiting.runtime_correlation);
  return outer != nullptr ? outer : call;
}

Kernel ActivityRows::attributed(const Waiting& waiting, const Call& call) {
  Kernel row = waiting.row;
  const Operation* const operation = waiting.is_work ? operations_.of(call.operation) : nullptr;
  row.short_name_id = name_id(operation, waiting.name);
  if (operation != nullptr) row.layer = operation->layer;
  const Launcher* const launcher = launchers_.find(static_cast<std::uint64_t>(call.span_id.value()));
  if (launcher == nullptr) return row;
  row.span_id = call.span_id;
  row.request_id = launcher->request_id;
  row.round_id = launcher->round_id;
  row.phase = operation != nullptr ? operation->phase.value_or(launcher->phase) : launcher->phase;
  if (row.layer < 0) row.layer = launcher->layer;
  if (row.start_ns < launcher->start_ns) ++counts_.before_span;
  return row;
}

void ActivityRows::finish(const Kernel& row) {
  ++counts_.rows;
  store(row);
}

void ActivityRows::store(const Kernel& row) {
  rows_.push_back(row);
  rows_.back().id = writer_->next_kernel_id();
  if (rows_.size() >= rows_per_write) write();
}

void ActivityRows::settle() {
  if (writer_ == nullptr) return;
  std::vector<Waiting> waiting;
  waiting.swap(waiting_);
  for (const Waiting& row : waiting) place(row);
  if (waiting_.size() > max_waiting) {
    const auto kept = waiting_.end() - static_cast<std::ptrdiff_t>(max_waiting);
    counts_.unattributed += kept - waiting_.begin();
    for (auto row = waiting_.begin(); row != kept; ++row) finish(attributed(*row, {}));
    waiting_.erase(waiting_.begin(), kept);
  }
  write();
}

void ActivityRows::settle_all() {
  if (writer_ == nullptr) return;
  settle();
  for (const Waiting& waiting : waiting_) {
    // The call's own record may be lost although its correlations arrived.
    const Call* const call = calls_.find(waiting.row.correlation_id);
    const Kernel row = attributed(waiting, call != nullptr ? *call : Call{});
    if (row.span_id == 0) ++counts_.unattributed;
    finish(row);
  }
  waiting_.clear();
  write();
}

void ActivityRows::write() {
  writer_->add(std::span<const Kernel>(rows_));
  writer_->add(std::span<const traces::Counter>(counters_));
  rows_.clear();
  counters_.clear();
}

/// Counts bytes on a track with the row's name without its brackets.
void ActivityRows::count_bytes(std::string_view name, std::uint64_t start, std::uint64_t bytes) {
  const std::string of_track = std::string(name.substr(1, name.size() - 2)) + ", bytes";
  counters_.push_back(
      {track("counter", of_track, 0), static_cast<std::int64_t>(start), static_cast<double>(bytes)});
}

std::string_view ActivityRows::readable(const char* symbol) {
  const std::string_view text = symbol != nullptr ? symbol : "";
  const auto found = readable_.find(text);
  return found != readable_.end() ? found->second
                                  : readable_.emplace(text, kernel_name(symbol)).first->second;
}

traces::StringId ActivityRows::name_id(const Operation* operation, std::string_view name) {
  traces::StringId& id = names_[operation][name];
  if (id == 0)
    id = writer_->intern(operation != nullptr ? fmt::format("{}: {}", operation->name, name)
                                              : std::string(name));
  return id;
}

traces::TrackId ActivityRows::stream_track(std::uint32_t device, std::uint32_t stream) {
  traces::TrackId& id = stream_tracks_[{device, stream}];
  if (id == 0)
    id = track("stream", fmt::format("device {}, stream {}", device, stream),
               static_cast<std::int32_t>(stream));
  return id;
}

traces::TrackId ActivityRows::track(const std::string& kind, const std::string& name, std::int32_t sort) {
  traces::TrackId& id = tracks_[{kind, name}];
  if (id == 0) {
    traces::Track row;
    row.kind = kind;
    row.name = name;
    row.sort = sort;
    id = writer_->add(std::move(row));
  }
  return id;
}

}  // namespace draftscope::profiler::cupti
