// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A trace that is there whole or not at all: written beside its target under another name, synced and
// renamed. For what is made of something else; a recording is streamed to its own file, so that a crash
// leaves what was committed. Nothing is dropped, however far the disk is behind.

#include <draftscope/base/output_file.h>
#include <draftscope/base/result.h>
#include <draftscope/traces/writer.h>

#include <filesystem>
#include <memory>

namespace draftscope::traces {

class AtomicTrace {
 public:
  /// An existing target stays until commit(). Errors: as Writer::create() has them.
  [[nodiscard]] static Result<AtomicTrace> create(const std::filesystem::path& target, bool overwrite);
  AtomicTrace(AtomicTrace&& other) noexcept;
  AtomicTrace& operator=(AtomicTrace&&) = delete;
  ~AtomicTrace();  ///< without commit() nothing remains

  [[nodiscard]] Writer& writer() { return *writer_; }

  /// Writes what is left, and puts the file in its place. Errors: the first of the writer; the target is in
  /// use, or has come to be meanwhile.
  [[nodiscard]] Result<void> commit();

 private:
  AtomicTrace(std::filesystem::path target, std::filesystem::path partial, bool replaces);

  std::filesystem::path target_;
  std::filesystem::path partial_;
  bool replaces_ = false;  ///< the target was there, and may be replaced
  std::unique_ptr<Writer> writer_;
};

/// Refuses what check_output_file() does, and a name whose log would take the place of somebody's file
/// (NAME-wal, NAME-shm, NAME-journal). Changes nothing.
[[nodiscard]] Result<void> check_trace_target(const std::filesystem::path& target, const OutputRules& rules);

}  // namespace draftscope::traces
