// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// `draftscope report --device` prints what a device did: its work by operation and by kernel, its gaps, and
// how busy it was. Own times and gaps add up to the wall time of what was asked.

#include <draftscope/simulator/analysis/device_table.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <optional>
#include <string>

#include "terminal/glyphs.h"

namespace draftscope::cli {

struct DeviceReport {
  simulator::DeviceTimeline timeline;
  simulator::DeviceQuestion question;
  simulator::DeviceSelection selection;
  simulator::DeviceTable operations;
  simulator::DeviceTable kernels;
  std::vector<simulator::DeviceGap> gaps;
};

struct DeviceReportOptions {
  std::string run;    ///< Specification of a run; empty = all.
  std::string phase;  ///< Name of a phase; empty = all.
};

/// Reads the device of the recording's file. Errors: unreadable tables, a file without a device, a run that
/// it does not have.
[[nodiscard]] Result<DeviceReport> read_device_report(const simulator::MeasuredRecording& measured,
                                                      const DeviceReportOptions& options);

/// Tables fit 100 columns; `tables_only` omits explanations.
[[nodiscard]] std::string device_text(const simulator::MeasuredRecording& measured,
                                      const DeviceReport& report, bool tables_only, const Glyphs& glyphs);
[[nodiscard]] std::string device_json(const simulator::MeasuredRecording& measured,
                                      const DeviceReport& report);

/// A run of a recording, for `draftscope compare --device`.
struct ComparedDevice {
  const simulator::MeasuredRecording* measured = nullptr;
  std::string specification;
  simulator::TokenTimes times;
};

/// The run of this specification; of the baseline if it is empty. Errors: no such run, unreadable tables.
[[nodiscard]] Result<ComparedDevice> read_compared_device(const simulator::MeasuredRecording& measured,
                                                          const std::string& specification);
/// Phases, operations and gaps of a token, and what differs.
[[nodiscard]] std::string device_comparison_text(const ComparedDevice& first, const ComparedDevice& other,
                                                 const Glyphs& glyphs);
[[nodiscard]] std::string device_comparison_json(const ComparedDevice& first, const ComparedDevice& other);

}  // namespace draftscope::cli
