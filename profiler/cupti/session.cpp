// SPDX-License-Identifier: GPL-3.0-or-later
#include "session.h"

#include <algorithm>
#include <array>
#include <string>

#include "launch_calls.h"

namespace draftscope::profiler::cupti {
namespace {

// KERNEL is never used, since it makes kernels wait for each other.
constexpr std::array recorded_kinds{
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,   CUPTI_ACTIVITY_KIND_MEMCPY,   CUPTI_ACTIVITY_KIND_MEMSET,
    CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,     CUPTI_ACTIVITY_KIND_OVERHEAD, CUPTI_ACTIVITY_KIND_DEVICE,
    CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION};

// The two kinds of correlation have separate stacks.
constexpr CUpti_ExternalCorrelationKind span_ids = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
constexpr CUpti_ExternalCorrelationKind operation_numbers = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1;

constexpr std::size_t buffers_ahead = 4;
constexpr std::size_t device_buffers_ahead = 8;  // A later allocation would stall the launching thread.

/// Buffers of all sessions. They are never destroyed, since CUPTI's threads may call even while the process
/// ends.
ActivityBuffers& activity_buffers() {
  static auto* const buffers = new ActivityBuffers;
  return *buffers;
}

// CUPTI calls these functions back. They have no user data.
std::uint64_t CUPTIAPI on_timestamp() {
  return static_cast<std::uint64_t>(now_ns());
}

void CUPTIAPI on_buffer_requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records) {
  *buffer = activity_buffers().request();
  *bytes = *buffer != nullptr ? ActivityBuffers::buffer_bytes : 0;
  *max_records = 0;  // 0 means as many as fit.
}

void CUPTIAPI on_buffer_completed(CUcontext /*context*/, std::uint32_t /*stream*/, std::uint8_t* buffer,
                                  std::size_t /*bytes*/, std::size_t valid_bytes) {
  if (buffer != nullptr) activity_buffers().complete({buffer, valid_bytes});
}

// A subscriber must have a callback, but nothing that would call it is enabled.
void CUPTIAPI on_nothing(void* /*user_data*/, CUpti_CallbackDomain /*domain*/, CUpti_CallbackId /*id*/,
                         const void* /*data*/) {}

}  // namespace

Result<void> Session::start() {
  clock_at_start_ = read_clock_pair();
  buffers_.prepare(buffers_ahead);
  DRAFTSCOPE_TRY(subscribe());
  if (auto enabled = enable(); !enabled) {
    detach();
    return enabled;
  }
  clock_offset_ns_ = clock_offset_ns();
  return {};
}

void Session::record_into(traces::Writer& writer) {
  if (subscriber_ == nullptr) return;
  flush();
  writer_ = &writer;
  rows_.write_to(writer);
  writer.set_meta("device_trace", std::string(device_trace_mode_name(mode_)));
  writer.set_meta("cupti_version", std::to_string(library_.version));
}

Result<void> Session::subscribe() {
  std::array<char, 2 * CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN> holder{};
  CUpti_SubscriberParams params{};
  params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
  params.subscriberName = "draftscope";
  params.oldSubscriberName = holder.data();
  params.oldSubscriberSize = holder.size();
  const CUptiResult result = library_.cuptiSubscribe_v2(&subscriber_, on_nothing, nullptr, &params);
  if (result == CUPTI_SUCCESS) return {};
  subscriber_ = nullptr;
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
    holder.back() = '\0';
    return fail("device trace: CUPTI is held by {}, expected to be the only tool",
                holder.front() != '\0' ? holder.data() : "another tool");
  }
  return fail("device trace: CUPTI can't be subscribed to: {}, expected a machine with an NVIDIA driver",
              library_.words(result));
}

Result<void> Session::enable() {
  const Library& cupti = library_;
  set_attributes();
  DRAFTSCOPE_TRY(check(cupti.cuptiActivityRegisterTimestampCallback(on_timestamp), "registering the clock"));
  DRAFTSCOPE_TRY(check(cupti.cuptiActivityRegisterCallbacks(on_buffer_requested, on_buffer_completed),
                       "registering buffers"));
  for (const auto& [id, name] : runtime_launch_calls)
    DRAFTSCOPE_TRY(check(cupti.cuptiActivityEnableRuntimeApi(id, 1), "enabling runtime calls"));
  for (const auto& [id, name] : driver_launch_calls)
    DRAFTSCOPE_TRY(check(cupti.cuptiActivityEnableDriverApi(id, 1), "enabling driver calls"));
  for (const CUpti_ActivityKind kind : recorded_kinds)
    DRAFTSCOPE_TRY(check(cupti.cuptiActivityEnable(kind),
                         fmt::format("enabling activity kind {}", static_cast<int>(kind))));
  // Queries that find unfinished work are polling, not waits.
  DRAFTSCOPE_TRY(check(cupti.cuptiActivityEnableAllSyncRecords(0), "choosing waits"));
  return {};
}

void Session::set_attributes() {
  // Both attributes only save stalls, so a refusal changes nothing in the recording.
  std::uint8_t zeroed = 1;
  std::size_t bytes = sizeof zeroed;
  (void)library_.cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &bytes, &zeroed);
  std::size_t ahead = device_buffers_ahead;
  bytes = sizeof ahead;
  (void)library_.cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE, &bytes,
                                           &ahead);
}

Result<void> Session::check(CUptiResult result, std::string_view call) const {
  if (result == CUPTI_SUCCESS) return {};
  return fail("device trace: {}: {}", call, library_.words(result));
}

void Session::push(CUpti_ExternalCorrelationKind kind, std::uint64_t id, std::string_view call) {
  if (subscriber_ != nullptr) note(library_.cuptiActivityPushExternalCorrelationId(kind, id), call);
}

void Session::pop(CUpti_ExternalCorrelationKind kind, std::string_view call) {
  if (subscriber_ != nullptr) note(library_.cuptiActivityPopExternalCorrelationId(kind, nullptr), call);
}

void Session::push_span(const traces::Span& span) {
  rows_.expect(span);
  open_spans_.push_back(span.id);
  push(span_ids, static_cast<std::uint64_t>(span.id.value()), "opening a span");
}

void Session::pop_span() {
  if (!open_spans_.empty()) open_spans_.pop_back();
  pop(span_ids, "closing a span");
}

void Session::enter_operation(std::string_view op, std::int32_t layer, std::optional<traces::Phase> phase) {
  push(operation_numbers, operations_.enter(op, layer, phase), "entering an operation");
}

void Session::leave_operation() {
  Operations::leave();
  pop(operation_numbers, "leaving an operation");
}

void Session::add_operations(std::span<const TimedOperation> operations, std::int64_t error_ns) {
  if (mode_ != DeviceTraceMode::operations || writer_ == nullptr) return;
  operations_error_ns_ = std::max(operations_error_ns_, error_ns);
  rows_.add(operations, open_spans_.empty() ? traces::SpanId() : open_spans_.back());
}

void Session::flush() {
  if (subscriber_ == nullptr) return;
  note(library_.cuptiActivityFlushAll(0), "flushing");
  collect();
}

void Session::collect() {
  const std::vector<CompletedBuffer> completed = buffers_.take_completed();
  if (completed.empty()) return;
  for (const CompletedBuffer& buffer : completed) {
    CUpti_Activity* record = nullptr;
    CUptiResult result = CUPTI_SUCCESS;
    while ((result = library_.cuptiActivityGetNextRecord(buffer.data, buffer.valid_bytes, &record)) ==
           CUPTI_SUCCESS)
      rows_.add(*record);
    if (result != CUPTI_ERROR_MAX_LIMIT_REACHED) note(result, "reading a buffer to its end");
    buffers_.recycle(buffer);
  }
  rows_.settle();
  read_dropped();
}

void Session::read_dropped() {
  // Reading resets CUPTI's count. None of our locks is held here, since the buffer callbacks take one.
  std::size_t dropped = 0;
  const CUptiResult result = library_.cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped);
  note(result, "asking for dropped records");
  if (result == CUPTI_SUCCESS) rows_.count_dropped(static_cast<std::int64_t>(dropped));
}

void Session::stop() {
  if (subscriber_ == nullptr) return;
  note(library_.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "flushing");
  collect();
  const std::int64_t offset_ns = clock_offset_ns();
  if (offset_ns != 0) clock_offset_ns_ = offset_ns;
  read_dropped();
  detach();
  collect();  // A CUPTI thread may just have returned a buffer.
  rows_.settle_all();
  write_meta();
}

// Never calls cuptiFinalize, which CUPTI recommends only where a CUDA call returns.
void Session::detach() {
  for (const CUpti_ActivityKind kind : recorded_kinds)
    note(library_.cuptiActivityDisable(kind), "disabling an activity kind");
  for (const auto& [id, name] : runtime_launch_calls)
    note(library_.cuptiActivityEnableRuntimeApi(id, 0), "disabling runtime calls");
  for (const auto& [id, name] : driver_launch_calls)
    note(library_.cuptiActivityEnableDriverApi(id, 0), "disabling driver calls");
  note(library_.cuptiUnsubscribe(subscriber_), "unsubscribing");
  subscriber_ = nullptr;
}

/// Time by which CUPTI's clock is ahead; 0 if CUPTI reads our clock, as it should.
std::int64_t Session::clock_offset_ns() const {
  std::uint64_t theirs = 0;
  const std::int64_t before_ns = now_ns();
  if (library_.cuptiGetTimestamp(&theirs) != CUPTI_SUCCESS) return 0;
  const std::int64_t after_ns = now_ns();
  const auto their_ns = static_cast<std::int64_t>(theirs);
  return before_ns <= their_ns && their_ns <= after_ns ? 0 : their_ns - before_ns;
}

DeviceTraceCounts Session::counts() const {
  DeviceTraceCounts counts = rows_.counts();
  counts.failed_calls = failures_.count();
  return counts;
}

void Session::write_meta() {
  if (writer_ == nullptr) return;
  const ClockPair end = read_clock_pair();
  const std::int64_t drift_ns =
      (end.realtime_ns - clock_at_start_.realtime_ns) - (end.monotonic_ns - clock_at_start_.monotonic_ns);
  const DeviceTraceCounts counts = Session::counts();
  if (const Failures::Call first = failures_.first(); first.result != CUPTI_SUCCESS)
    writer_->set_meta("device_first_failure",
                      fmt::format("{}: {}", first.what, library_.words(first.result)));
  for (const auto& [key, number] :
       {std::pair("device_clock_start_monotonic_ns", clock_at_start_.monotonic_ns),
        {"device_clock_start_realtime_ns", clock_at_start_.realtime_ns},
        {"device_clock_end_monotonic_ns", end.monotonic_ns},
        {"device_clock_end_realtime_ns", end.realtime_ns},
        {"device_clock_drift_ns", drift_ns},
        {"device_clock_offset_ns", clock_offset_ns_},
        {"device_rows", counts.rows},
        {"device_dropped", counts.dropped},
        {"device_rejected", counts.rejected},
        {"device_unattributed", counts.unattributed},
        {"device_before_span", counts.before_span},
        {"device_other_records", counts.other},
        {"device_failed_calls", counts.failed_calls},
        {"device_overhead_ns", counts.overhead_ns}})
    writer_->set_meta(key, std::to_string(number));
  if (!rows_.device_limits().empty()) writer_->set_meta("device_limits", rows_.device_limits());
  if (mode_ == DeviceTraceMode::operations)
    writer_->set_meta("device_operations_error_ns", std::to_string(operations_error_ns_));
}

}  // namespace draftscope::profiler::cupti

namespace draftscope::profiler {

Result<std::unique_ptr<DeviceTrace>> start_device_trace(DeviceTraceMode mode) {
  if (mode == DeviceTraceMode::off) return nullptr;
  DRAFTSCOPE_TRY_ASSIGN(cupti::Library library, cupti::load_library());
  auto session = std::make_unique<cupti::Session>(mode, cupti::activity_buffers(), std::move(library));
  DRAFTSCOPE_TRY(session->start());
  return session;
}

}  // namespace draftscope::profiler
