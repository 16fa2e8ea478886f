// SPDX-License-Identifier: GPL-3.0-or-later
#include "activity_rows.h"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <string_view>

#include "kernel_name.h"

namespace draftscope::profiler::cupti {
namespace {

using traces::Kernel;

// Rows that wait for a correlation are held back up to here; the oldest are then taken to have none.
constexpr std::size_t max_waiting = std::size_t{1} << 18U;
constexpr std::size_t rows_per_write = 4096;
constexpr std::uint64_t max_ns = std::uint64_t{1} << 62U;  // the schema's bound on times

// The records are packed, so that their fields can't be referred to: the casts make copies.
template <typename Record>
const Record& as(const CUpti_Activity& record) {
  return reinterpret_cast<const Record&>(record);
}

std::string_view direction(std::uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
      return "HtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
      return "DtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
      return "DtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH:
      return "HtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
      return "PtoP";
    default:
      return "other";
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
        call_under_way(correlation.correlationId).layers = correlation.externalId;
      return;
    }
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      // Its external correlations come before it; a call without one was made outside any span.
      calls_.at(as<CUpti_ActivityAPI>(record).correlationId).is_complete = true;
      return;
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return add_kernel(as<CUpti_ActivityKernel10>(record));
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
      return add_graph(as<CUpti_ActivityGraphTrace2>(record));
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return add_copy(as<CUpti_ActivityMemcpy6>(record));
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return add_set(as<CUpti_ActivityMemset4>(record));
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return add_wait(as<CUpti_ActivitySynchronization2>(record));
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return add_overhead(as<CUpti_ActivityOverhead3>(record));
    default:
      ++counts_.other;
  }
}

void ActivityRows::add_kernel(const CUpti_ActivityKernel10& record) {
  Kernel row;
  if (!begin_row(row, record.start, record.end, record.correlationId)) return;
  const GraphPart* const part = part_of(row, record.graphNodeId, record.graphId);
  row.short_name_id = name(part, record.name);
  row.stream_id = record.streamId;
  row.track_id = stream_track(record.deviceId, record.streamId);
  row.grid_x = record.gridX;
  row.grid_y = record.gridY;
  row.grid_z = record.gridZ;
  row.block_x = record.blockX;
  row.block_y = record.blockY;
  row.block_z = record.blockZ;
  place(row, part);
}

void ActivityRows::add_graph(const CUpti_ActivityGraphTrace2& record) {
  Kernel row;
  if (!begin_row(row, record.start, record.end, record.correlationId)) return;
  row.graph_id = record.graphId;
  const GraphPart* const part = parts_.of_executable(record.graphId);
  row.short_name_id = plain_name(part, "[graph]");
  row.stream_id = record.streamId;
  row.track_id = stream_track(record.deviceId, record.streamId);
  place(row, part);
}

void ActivityRows::add_copy(const CUpti_ActivityMemcpy6& record) {
  Kernel row;
  if (!begin_row(row, record.start, record.end, record.correlationId)) return;
  const GraphPart* const part = part_of(row, record.graphNodeId, record.graphId);
  const std::string what = fmt::format("memcpy {}", direction(record.copyKind));
  row.short_name_id = plain_name(part, "[" + what + "]");
  row.stream_id = record.streamId;
  row.track_id = stream_track(record.deviceId, record.streamId);
  count_bytes(what, record.start, record.bytes);
  place(row, part, record.runtimeCorrelationId);
}

void ActivityRows::add_set(const CUpti_ActivityMemset4& record) {
  Kernel row;
  if (!begin_row(row, record.start, record.end, record.correlationId)) return;
  const GraphPart* const part = part_of(row, record.graphNodeId, record.graphId);
  row.short_name_id = plain_name(part, "[memset]");
  row.stream_id = record.streamId;
  row.track_id = stream_track(record.deviceId, record.streamId);
  count_bytes("memset", record.start, record.bytes);
  place(row, part);
}

void ActivityRows::add_wait(const CUpti_ActivitySynchronization2& record) {
  Kernel row;
  if (!begin_row(row, record.start, record.end, record.correlationId)) return;
  row.short_name_id = plain_name(nullptr, std::string(wait_name(record.type)));
  if (record.streamId != CUPTI_SYNCHRONIZATION_INVALID_VALUE) row.stream_id = record.streamId;
  row.track_id = track("sync", "waits for the device", 0);
  place(row, nullptr);
}

void ActivityRows::add_overhead(const CUpti_ActivityOverhead3& record) {
  std::free(record.overheadData);  // CUPTI gives it away with the record
  Kernel row;
  if (!begin_row(row, record.start, record.end, record.correlationId)) return;
  counts_.overhead_ns += row.end_ns - row.start_ns;
  row.short_name_id = plain_name(nullptr, std::string(overhead_name(record.overheadKind)));
  row.track_id = track("overhead", "cost of measuring", 0);
  // Not every overhead belongs to a call, so none waits for one.
  const Call* const call = calls_.find(row.correlation_id);
  attribute(row, call != nullptr ? *call : Call{}, nullptr);
  finish(row);
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

const GraphPart* ActivityRows::part_of(Kernel& row, std::uint64_t node, std::uint32_t graph) const {
  row.graph_node_id = node;
  row.graph_id = graph;
  const GraphPart* const part = node != 0 ? parts_.of_node(node) : nullptr;
  if (part != nullptr) row.layer = part->layer;
  return part;
}

void ActivityRows::place(Kernel row, const GraphPart* part, std::uint32_t runtime_correlation) {
  const Waiting waiting{row, part, runtime_correlation};
  if (const Call* const call = call_of(waiting)) {
    attribute(row, *call, part);
    if (row.span_id == 0) ++counts_.unattributed;
    finish(row);
  } else {
    waiting_.push_back(waiting);
  }
}

/// An id that comes again is another call's.
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

void ActivityRows::attribute(Kernel& row, const Call& call, const GraphPart* part) {
  name_layer(row, call);
  const Launcher* const launcher = launchers_.find(static_cast<std::uint64_t>(call.span_id.value()));
  if (launcher == nullptr) return;
  row.span_id = call.span_id;
  row.request_id = launcher->request_id;
  row.round_id = launcher->round_id;
  row.phase = part != nullptr && part->phase ? *part->phase : launcher->phase;
  if (row.layer < 0) row.layer = launcher->layer;
  if (row.start_ns < launcher->start_ns) ++counts_.before_span;
}

/// A part of a graph says at which place its layer stands; the launch says which layers stood there.
void ActivityRows::name_layer(Kernel& row, const Call& call) const {
  if (row.layer < 0 || call.layers == 0) return;
  const std::span<const std::int32_t> layers = layer_lists_.of(call.layers);
  const auto place = static_cast<std::size_t>(row.layer);
  row.layer = place < layers.size() ? layers[place] : -1;
}

void ActivityRows::finish(const Kernel& row) {
  rows_.push_back(row);
  rows_.back().id = writer_->next_kernel_id();
  ++counts_.rows;
  if (rows_.size() >= rows_per_write) write();
}

void ActivityRows::settle() {
  if (writer_ == nullptr) return;
  std::vector<Waiting> waiting;
  waiting.swap(waiting_);
  for (const Waiting& row : waiting) place(row.row, row.part, row.runtime_correlation);
  if (waiting_.size() > max_waiting) {
    const auto kept = waiting_.end() - static_cast<std::ptrdiff_t>(max_waiting);
    counts_.unattributed += kept - waiting_.begin();
    for (auto row = waiting_.begin(); row != kept; ++row) finish(row->row);
    waiting_.erase(waiting_.begin(), kept);
  }
  write();
}

void ActivityRows::settle_all() {
  if (writer_ == nullptr) return;
  settle();
  for (const Waiting& waiting : waiting_) {
    traces::Kernel row = waiting.row;
    // Where the call's own record was lost, its correlations may have come.
    if (const Call* const call = calls_.find(row.correlation_id)) attribute(row, *call, waiting.part);
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

void ActivityRows::count_bytes(const std::string& what, std::uint64_t start, std::uint64_t bytes) {
  counters_.push_back(
      {track("counter", what + ", bytes", 0), static_cast<std::int64_t>(start), static_cast<double>(bytes)});
}

traces::StringId ActivityRows::name(const GraphPart* part, const char* symbol) {
  IdBySymbol& known = names_[part];
  const std::string_view text = symbol != nullptr ? symbol : "";
  const auto found = known.find(text);
  if (found != known.end()) return found->second;
  return known.emplace(text, plain_name(part, kernel_name(symbol))).first->second;
}

traces::StringId ActivityRows::plain_name(const GraphPart* part, const std::string& text) {
  return writer_->intern(part != nullptr ? part->op + ": " + text : text);
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
