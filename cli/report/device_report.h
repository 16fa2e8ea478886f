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

}  // namespace draftscope::cli
