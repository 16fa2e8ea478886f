// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A trace file in a separate folder, and its device rows read back with their names.

#include <draftscope/traces/reader.h>
#include <draftscope/traces/writer.h>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "temporary_folder.h"

namespace draftscope::profiler {

struct DeviceRow {
  traces::Kernel kernel;
  std::string name;
  std::string track_kind;
  std::string track_name;
};

struct DeviceRows {
  std::vector<DeviceRow> rows;   ///< In the order of their starts.
  std::vector<DeviceRow> calls;  ///< Calls of the host, likewise.
  std::vector<traces::Counter> counters;
  std::map<traces::SpanId, traces::Span> spans;
  traces::Meta meta;

  [[nodiscard]] std::vector<DeviceRow> of_kind(const std::string& track_kind) const;
};

class TraceFile {
 public:
  TraceFile();

  [[nodiscard]] traces::Writer& writer() { return *writer_; }
  /// Closes the writer, expects a valid trace, and reads it.
  [[nodiscard]] DeviceRows close();

 private:
  test::TemporaryFolder folder_;  // must outlive the writer
  std::unique_ptr<traces::Writer> writer_;
};

}  // namespace draftscope::profiler
