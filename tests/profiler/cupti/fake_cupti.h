// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A CUPTI without a device: the functions that the profiler loads, and matching CUDA calls of a program. It
// writes the records that CUPTI documents for these calls, according to the kinds enabled and ids pushed at
// that moment. It uses one buffer per thread (and one for the device), and returns them from a separate
// thread.

#include <cupti.h>
#include <atomic>
#include <cstdint>
#include <set>
#include <string>

namespace fake_cupti {

/// Settings and counts of a test. Calls of other threads only increment the atomics.
struct Settings {
  std::uint32_t version = 130101;
  CUptiResult subscribe_result = CUPTI_SUCCESS;
  std::string holder;  ///< Name of the tool that already uses CUPTI.
  CUpti_ActivityKind refused_kind = CUPTI_ACTIVITY_KIND_INVALID;
  bool reads_given_clock = true;
  std::size_t max_buffer_bytes = 0;  ///< Used bytes of each buffer; 0 = all.
  /// Whether buffers are returned while the tool detaches, rather than when flushed.
  bool gives_back_late = false;
  bool refuses_external_ids = false;
};

struct Seen {
  bool subscribed = false;
  bool clock_before_kinds = false;
  bool buffers_before_kinds = false;
  std::set<CUpti_ActivityKind> enabled;
  std::set<CUpti_ActivityKind> ever_enabled;
  std::set<CUpti_CallbackId> runtime_calls;
  int open_external_ids = 0;
  int sessions = 0;
  std::atomic<std::int64_t> device_records{0};  ///< Records of enabled kinds that were not dropped.
  std::atomic<std::int64_t> dropped{0};
};

/// Forgets everything, as if newly loaded. No session may be open.
void reset();
Settings& settings();
Seen& seen();

// ---- a program's calls ----

void launch_kernel(const char* symbol, std::uint32_t stream = 7);
void copy_to_device(std::uint64_t bytes);
void set_memory(std::uint64_t bytes);
void synchronize();
/// Writes a record unchanged into the device's buffer.
void emit(const void* record, std::size_t bytes);

// ---- a program that makes its device records itself ----

/// The present time of the clock that records use.
[[nodiscard]] std::uint64_t clock_ns();
[[nodiscard]] bool records(CUpti_ActivityKind kind);
/// Makes a call of the runtime, recorded if its kind is enabled; returns its correlation id.
std::uint32_t call_runtime(CUpti_CallbackId id);

}  // namespace fake_cupti
