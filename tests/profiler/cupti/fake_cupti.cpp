// SPDX-License-Identifier: GPL-3.0-or-later
#include "fake_cupti.h"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace fake_cupti {
namespace {

struct Buffer {
  std::uint8_t* data = nullptr;
  std::size_t capacity = 0;
  std::size_t used = 0;
};

// Device buffers are returned separately from those of the threads, and before them.
const std::thread::id device_thread{};

struct State {
  Settings settings;
  Seen seen;
  CUpti_TimestampCallbackFunc clock = nullptr;
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  std::map<std::thread::id, Buffer> buffers;
  std::atomic<std::uint32_t> correlation{0};
  std::int64_t dropped_told = 0;
};

std::recursive_mutex mutex;  // guards the state; locked during callbacks, which is stricter than CUPTI
std::unique_ptr<State> current = std::make_unique<State>();
// There is one stack per kind.
thread_local std::map<CUpti_ExternalCorrelationKind, std::vector<std::uint64_t>> external_ids;

std::uint64_t realtime_ns() {
  std::timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

std::uint64_t now() {
  return current->clock != nullptr && current->settings.reads_given_clock ? current->clock() : realtime_ns();
}

bool enabled(CUpti_ActivityKind kind) {
  return current->seen.enabled.contains(kind);
}

bool write(std::thread::id thread, const void* record, std::size_t bytes) {
  if (current->request == nullptr) return false;
  Buffer& buffer = current->buffers[thread];
  if (buffer.data != nullptr && buffer.used + bytes > buffer.capacity) {
    current->complete(nullptr, 0, buffer.data, buffer.capacity, buffer.used);
    buffer = {};
  }
  if (buffer.data == nullptr) {
    std::size_t max_records = 0;
    current->request(&buffer.data, &buffer.capacity, &max_records);
    if (buffer.data == nullptr) {
      ++current->seen.dropped;
      return false;
    }
    if (current->settings.max_buffer_bytes != 0)
      buffer.capacity = std::min(buffer.capacity, current->settings.max_buffer_bytes);
  }
  std::memcpy(buffer.data + buffer.used, record, bytes);
  buffer.used += bytes;
  return true;
}

template <typename Record>
void write_device(const Record& record) {
  if (enabled(record.kind) && write(device_thread, &record, sizeof record)) ++current->seen.device_records;
}

/// Returns every buffer, on a separate thread.
void give_back_all() {
  std::map<std::thread::id, Buffer> buffers;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  {
    const std::lock_guard lock(mutex);
    buffers.swap(current->buffers);
    complete = current->complete;
  }
  std::thread worker([&] {
    for (const auto& [thread, buffer] : buffers)
      if (buffer.data != nullptr) complete(nullptr, 0, buffer.data, buffer.capacity, buffer.used);
  });
  worker.join();
}

/// Records an API call and the host span around it; returns the correlation id.
std::uint32_t call(CUpti_CallbackId id) {
  const std::uint32_t correlation = ++current->correlation;
  if (!current->seen.runtime_calls.contains(id)) return correlation;
  for (const auto& [kind, ids] : external_ids) {
    if (!enabled(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) || ids.empty()) continue;
    CUpti_ActivityExternalCorrelation external{};
    external.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
    external.externalKind = kind;
    external.externalId = ids.back();
    external.correlationId = correlation;
    write(std::this_thread::get_id(), &external, sizeof external);
  }
  CUpti_ActivityAPI api{};
  api.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
  api.cbid = id;
  api.start = now();
  api.end = now();
  api.correlationId = correlation;
  write(std::this_thread::get_id(), &api, sizeof api);
  return correlation;
}

std::size_t record_bytes(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return sizeof(CUpti_ActivityKernel10);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return sizeof(CUpti_ActivityMemset4);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return sizeof(CUpti_ActivitySynchronization2);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return sizeof(CUpti_ActivityOverhead3);
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
      return sizeof(CUpti_ActivityExternalCorrelation);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_STREAM:
      return sizeof(CUpti_ActivityStream);
    default:
      return 0;
  }
}

}  // namespace

void reset() {
  const std::lock_guard lock(mutex);
  current = std::make_unique<State>();
}

Settings& settings() {
  return current->settings;
}

Seen& seen() {
  return current->seen;
}

void launch_kernel(const char* symbol, std::uint32_t stream) {
  const std::lock_guard lock(mutex);
  CUpti_ActivityKernel10 kernel{};
  kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  kernel.correlationId = call(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000);
  kernel.start = now();
  kernel.end = now() + 1;
  kernel.streamId = stream;
  kernel.name = symbol;
  kernel.gridX = 132;
  kernel.gridY = kernel.gridZ = kernel.blockY = kernel.blockZ = 1;
  kernel.blockX = 128;
  write_device(kernel);
}

void copy_to_device(std::uint64_t bytes) {
  const std::lock_guard lock(mutex);
  CUpti_ActivityMemcpy6 copy{};
  copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  copy.bytes = bytes;
  copy.runtimeCorrelationId = call(CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020);
  copy.correlationId = ++current->correlation;  // belongs to the driver's call, which is not recorded here
  copy.start = now();
  copy.end = now() + 1;
  copy.streamId = 7;
  write_device(copy);
}

void set_memory(std::uint64_t bytes) {
  const std::lock_guard lock(mutex);
  CUpti_ActivityMemset4 set{};
  set.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  set.bytes = bytes;
  set.correlationId = call(CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020);
  set.start = now();
  set.end = now() + 1;
  set.streamId = 7;
  write_device(set);
}

void synchronize() {
  const std::lock_guard lock(mutex);
  CUpti_ActivitySynchronization2 wait{};
  wait.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  wait.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
  wait.start = now();
  wait.correlationId = call(CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020);
  wait.end = now();
  wait.streamId = 7;
  write_device(wait);
}

void emit(const void* record, std::size_t bytes) {
  const std::lock_guard lock(mutex);
  if (write(device_thread, record, bytes)) ++current->seen.device_records;
}

std::uint64_t clock_ns() {
  const std::lock_guard lock(mutex);
  return now();
}

bool records(CUpti_ActivityKind kind) {
  const std::lock_guard lock(mutex);
  return enabled(kind);
}

std::uint32_t call_runtime(CUpti_CallbackId id) {
  const std::lock_guard lock(mutex);
  return call(id);
}

}  // namespace fake_cupti

// ---- CUPTI ----

using namespace fake_cupti;

CUptiResult cuptiGetVersion(std::uint32_t* version) {
  *version = current->settings.version;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  *text = result == CUPTI_ERROR_NOT_SUPPORTED ? "CUPTI_ERROR_NOT_SUPPORTED" : "CUPTI_ERROR_UNKNOWN";
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(std::uint64_t* timestamp) {
  *timestamp = now();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                              void* /*userdata*/, CUpti_SubscriberParams* params) {
  const std::lock_guard lock(mutex);
  if (callback == nullptr || params->structSize == 0 ||
      std::strlen(params->subscriberName) > CUPTI_SUBSCRIBER_NAME_MAX_LEN ||
      params->oldSubscriberSize < CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN)
    return CUPTI_ERROR_INVALID_PARAMETER;
  if (current->settings.subscribe_result != CUPTI_SUCCESS) {
    std::strncpy(params->oldSubscriberName, current->settings.holder.c_str(), params->oldSubscriberSize - 1);
    return current->settings.subscribe_result;
  }
  *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(1);
  current->seen.subscribed = true;
  ++current->seen.sessions;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle /*subscriber*/) {
  if (current->settings.gives_back_late) give_back_all();
  const std::lock_guard lock(mutex);
  current->seen.subscribed = false;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute /*attribute*/, std::size_t* bytes,
                                      void* value) {
  return bytes != nullptr && value != nullptr ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc clock) {
  const std::lock_guard lock(mutex);
  current->clock = clock;
  current->seen.clock_before_kinds = current->seen.ever_enabled.empty();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  const std::lock_guard lock(mutex);
  current->request = request;
  current->complete = complete;
  current->seen.buffers_before_kinds = current->seen.ever_enabled.empty();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  const std::lock_guard lock(mutex);
  if (kind == current->settings.refused_kind) return CUPTI_ERROR_NOT_SUPPORTED;
  current->seen.enabled.insert(kind);
  current->seen.ever_enabled.insert(kind);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  const std::lock_guard lock(mutex);
  current->seen.enabled.erase(kind);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId id, std::uint8_t enable) {
  const std::lock_guard lock(mutex);
  if (enable != 0)
    current->seen.runtime_calls.insert(id);
  else
    current->seen.runtime_calls.erase(id);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId /*id*/, std::uint8_t /*enable*/) {
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableAllSyncRecords(std::uint8_t /*enable*/) {
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(std::uint32_t /*flag*/) {
  if (!current->settings.gives_back_late) give_back_all();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid_bytes,
                                       CUpti_Activity** record) {
  std::uint8_t* next = buffer;
  if (*record != nullptr) next = reinterpret_cast<std::uint8_t*>(*record) + record_bytes((*record)->kind);
  if (next >= buffer + valid_bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return record_bytes((*record)->kind) != 0 ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_KIND;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext /*context*/, std::uint32_t /*stream*/,
                                              std::size_t* dropped) {
  const std::lock_guard lock(mutex);
  *dropped = static_cast<std::size_t>(current->seen.dropped - current->dropped_told);
  current->dropped_told = current->seen.dropped;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind, std::uint64_t id) {
  const std::lock_guard lock(mutex);
  if (current->settings.refuses_external_ids) return CUPTI_ERROR_NOT_SUPPORTED;
  external_ids[kind].push_back(id);
  ++current->seen.open_external_ids;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                  std::uint64_t* /*last*/) {
  const std::lock_guard lock(mutex);
  std::vector<std::uint64_t>& ids = external_ids[kind];
  if (ids.empty()) return CUPTI_ERROR_QUEUE_EMPTY;
  ids.pop_back();
  --current->seen.open_external_ids;
  return CUPTI_SUCCESS;
}
