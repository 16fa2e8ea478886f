// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Memory that each run of a recording took: what its parts hold by their own account, and the most that the
// process, or the device's allocations, held while its requests were decoded.

#include <draftscope/engine/backend.h>
#include <draftscope/engine/strategy.h>
#include <draftscope/traces/records.h>
#include <cstddef>
#include <map>
#include <optional>
#include <string>

namespace draftscope::engine {

/// In bytes. Mapped weights and a cache count whole, though their pages become resident as they are touched.
struct RunMemory {
  std::size_t peak_bytes = 0;  ///< 0 = not known
  std::size_t weight_bytes = 0;
  std::size_t draft_weight_bytes = 0;  ///< the draft's own: a second model, the layers in another type
  std::size_t kv_bytes = 0;            ///< K/V of the target and of a second model
  std::size_t workspace_bytes = 0;     ///< the backends' buffers
};

/// The largest resident size of the process since reset_peak_memory(), or since its start where that failed.
/// 0 if the system does not say. Linux: VmHWM of /proc/self/status.
[[nodiscard]] std::size_t peak_memory_bytes();
/// Whether the largest size starts anew: a system may not let it.
bool reset_peak_memory();

/// Keeps the most that each run took. One thread at a time.
class RunMemories {
 public:
  explicit RunMemories(const Backend& target) : target_(target) {}

  /// Around each request.
  void begin_request();
  void end_request(traces::RunId run, const Strategy& strategy);

  [[nodiscard]] const std::map<traces::RunId, RunMemory>& by_run() const { return by_run_; }
  /// For the trace's meta key `run_memory`.
  [[nodiscard]] std::string json() const;

 private:
  const Backend& target_;
  std::map<traces::RunId, RunMemory> by_run_;
};

}  // namespace draftscope::engine
