// SPDX-License-Identifier: GPL-3.0-or-later
#include "activity.h"

#include <algorithm>

#include "fake_cupti.h"

namespace draftscope::cuda_stand_in::activity {

namespace {

constexpr std::uint32_t stream_number = 7;

CUpti_CallbackId callback_id(Call call) {
  switch (call) {
    case Call::launch:
      return CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060;
    case Call::copy:
      return CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020;
    case Call::set:
      return CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020;
    default:
      return CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020;
  }
}

/// The end of a record is after its start, as on a device.
template <typename Record>
void emit(Record& record, const Operation& operation) {
  record.start = operation.start_ns;
  record.end = std::max(operation.end_ns, operation.start_ns + 1);
  record.correlationId = operation.correlation;
  record.streamId = stream_number;
  if (fake_cupti::records(record.kind)) fake_cupti::emit(&record, sizeof record);
}

void record_kernel(const Operation& operation) {
  CUpti_ActivityKernel10 kernel{};
  kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  kernel.name = operation.work == Work::product ? "emulated_library_product" : operation.symbol;
  kernel.gridX = operation.work == Work::product ? 1 : operation.launch.blocks;
  kernel.blockX = std::max(operation.threads, 1);
  kernel.gridY = kernel.gridZ = kernel.blockY = kernel.blockZ = 1;
  kernel.dynamicSharedMemory = static_cast<std::int32_t>(operation.launch.shared_bytes);
  emit(kernel, operation);
}

void record_copy(const Operation& operation) {
  CUpti_ActivityMemcpy6 copy{};
  copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  copy.copyKind =
      operation.work == Work::upload ? CUPTI_ACTIVITY_MEMCPY_KIND_HTOD : CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
  copy.bytes = operation.bytes;
  copy.runtimeCorrelationId = operation.correlation;
  emit(copy, operation);
}

void record_set(const Operation& operation) {
  CUpti_ActivityMemset4 set{};
  set.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  set.bytes = operation.bytes;
  emit(set, operation);
}

void record_one(const Operation& operation) {
  switch (operation.work) {
    case Work::kernel:
    case Work::product:
      return record_kernel(operation);
    case Work::set:
      return record_set(operation);
    case Work::event:
      return;
    default:
      return record_copy(operation);
  }
}

}  // namespace

std::uint64_t now_ns() {
  return fake_cupti::clock_ns();
}

std::uint32_t called(Call call) {
  return fake_cupti::call_runtime(callback_id(call));
}

void record(const std::vector<Operation>& operations) {
  for (const Operation& operation : operations) record_one(operation);
}

void waited(std::uint32_t correlation, std::uint64_t start_ns) {
  CUpti_ActivitySynchronization2 wait{};
  wait.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  wait.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
  wait.start = start_ns;
  wait.end = now_ns();
  wait.correlationId = correlation;
  wait.streamId = stream_number;
  if (fake_cupti::records(wait.kind)) fake_cupti::emit(&wait, sizeof wait);
}

}  // namespace draftscope::cuda_stand_in::activity
