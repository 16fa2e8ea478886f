// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Calls to CUPTI that failed after a session had started. Host spans go on, so nothing is aborted; but a
// recording says that something may be missing, and what came first.
//
// Thread-safety: all of it; scopes of any thread add.

#include <cupti.h>
#include <cstdint>
#include <mutex>
#include <string_view>

namespace draftscope::profiler::cupti {

class Failures {
 public:
  struct Call {
    std::string_view what;  ///< a literal
    CUptiResult result = CUPTI_SUCCESS;
  };

  /// Counts the call unless it succeeded.
  void note(CUptiResult result, std::string_view what) {
    if (result == CUPTI_SUCCESS) return;
    const std::lock_guard lock(mutex_);
    if (count_++ == 0) first_ = {what, result};
  }
  [[nodiscard]] std::int64_t count() const {
    const std::lock_guard lock(mutex_);
    return count_;
  }
  [[nodiscard]] Call first() const {
    const std::lock_guard lock(mutex_);
    return first_;
  }

 private:
  mutable std::mutex mutex_;  // guards all below
  std::int64_t count_ = 0;
  Call first_;
};

}  // namespace draftscope::profiler::cupti
