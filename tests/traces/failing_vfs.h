// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A file system that fails like a full, broken or read-only disk. It is SQLite's default one, except that a
// chosen call fails, and on request all later ones of its kind. Nothing is really synced, and nobody waits.

#include <atomic>
#include <string_view>

namespace draftscope::traces {

enum class DiskCall { open, remove, access, read, write, truncate, sync, file_size, lock, shm_map, shm_lock };
inline constexpr int disk_call_count = 11;
[[nodiscard]] std::string_view disk_call_name(DiskCall call);

struct DiskFault {
  DiskCall call = DiskCall::write;
  int code = 0;               ///< SQLite's code.
  int nth = 1;                ///< Number of the failing call, counted from now.
  bool is_lasting = false;    ///< Whether all later calls of that kind fail, too.
  bool is_temporary = false;  ///< Whether only calls on temporary files count.
};

/// SQLite's default file system as long as this object lives; one at a time. Call fail() and pass() only
/// while nobody else uses it.
class FailingVfs {
 public:
  FailingVfs();
  FailingVfs(const FailingVfs&) = delete;
  FailingVfs& operator=(const FailingVfs&) = delete;
  ~FailingVfs();

  void fail(const DiskFault& fault);
  void pass();

  /// Whether a call has failed since fail().
  [[nodiscard]] bool has_failed() const;
};

}  // namespace draftscope::traces
