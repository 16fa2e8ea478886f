// SPDX-License-Identifier: GPL-3.0-or-later
#include "trace_rows.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace draftscope::profiler {

std::vector<DeviceRow> DeviceRows::of_kind(const std::string& track_kind) const {
  std::vector<DeviceRow> chosen;
  for (const DeviceRow& row : rows)
    if (row.track_kind == track_kind) chosen.push_back(row);
  return chosen;
}

TraceFile::TraceFile() : writer_(traces::Writer::create(folder_ / "device.dstrace", {}).value()) {}

DeviceRows TraceFile::close() {
  const auto closed = writer_->close();
  EXPECT_TRUE(closed) << closed.error().message;
  auto reader = traces::Reader::open(folder_ / "device.dstrace").value();
  const auto violations = reader.validate();
  for (const traces::Violation& violation : *violations)
    ADD_FAILURE() << violation.table << " row " << violation.row << ": " << violation.rule;

  DeviceRows read;
  const traces::Recording recording = reader.recording().value();
  const auto strings = reader.strings();
  std::map<traces::TrackId, traces::Track> tracks;
  for (const traces::Track& track : recording.tracks) tracks[track.id] = track;
  read.meta = recording.meta;
  EXPECT_TRUE(reader.kernels([&](const traces::Kernel& kernel) {
    const traces::Track& track = tracks.at(kernel.track_id);
    (track.kind == "calls" ? read.calls : read.rows)
        .push_back({kernel, strings->at(kernel.short_name_id), track.kind, track.name});
    return true;
  }));
  for (std::vector<DeviceRow>* rows : {&read.rows, &read.calls})
    std::stable_sort(rows->begin(), rows->end(), [](const DeviceRow& a, const DeviceRow& b) {
      return a.kernel.start_ns < b.kernel.start_ns;
    });
  EXPECT_TRUE(reader.counters([&](const traces::Counter& counter) {
    read.counters.push_back(counter);
    return true;
  }));
  EXPECT_TRUE(reader.spans([&](const traces::Span& span) {
    read.spans[span.id] = span;
    return true;
  }));
  return read;
}

}  // namespace draftscope::profiler
