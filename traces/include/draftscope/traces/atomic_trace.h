// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A trace that exists whole or not at all: written next to its target under another name, synced and renamed.
// It is for traces made from other data. A recording is streamed to its own file instead, so that a crash
// leaves everything committed. Nothing is dropped, however slow the disk is.

#include <draftscope/base/output_file.h>
#include <draftscope/base/result.h>
#include <draftscope/traces/writer.h>

#include <filesystem>
#include <memory>

namespace draftscope::traces {

class AtomicTrace {
 public:
  /// Creates a temporary file; an existing target stays until commit(). Errors: as Writer::create().
  [[nodiscard]] static Result<AtomicTrace> create(const std::filesystem::path& target, bool overwrite);
  AtomicTrace(AtomicTrace&& other) noexcept;
  AtomicTrace& operator=(AtomicTrace&&) = delete;
  ~AtomicTrace();  ///< Without commit() nothing remains.

  [[nodiscard]] Writer& writer() { return *writer_; }

  /// Writes the remaining rows, and moves the file to its target. Errors: the writer's first one; the target
  /// is in use, or has appeared meanwhile.
  [[nodiscard]] Result<void> commit();

 private:
  AtomicTrace(std::filesystem::path target, std::filesystem::path partial, bool replaces);

  std::filesystem::path target_;
  std::filesystem::path partial_;
  bool replaces_ = false;  ///< Whether the target existed, and may be replaced.
  std::unique_ptr<Writer> writer_;
};

/// Checks a target. Errors: as check_output_file(), and a name whose log would replace somebody's file
/// (NAME-wal, NAME-shm, NAME-journal). Changes nothing.
[[nodiscard]] Result<void> check_trace_target(const std::filesystem::path& target, const OutputRules& rules);

}  // namespace draftscope::traces
