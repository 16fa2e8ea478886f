// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The reports on a recording: as text for a terminal, and as JSON and CSV for programs (report_json.h).

#include <draftscope/simulator/analysis/conventions.h>
#include <draftscope/simulator/analysis/decisions.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/simulator/analysis/operations.h>
#include <draftscope/speculation/policy_file.h>

#include <string>
#include <vector>

#include "terminal/glyphs.h"

namespace draftscope::cli {

struct ReportOptions {
  bool by_category = false;
  bool tables_only = false;  ///< no charts and no explanations
};

[[nodiscard]] std::string report_text(const simulator::MeasuredRecording& measured,
                                      const ReportOptions& options, const Glyphs& glyphs);

/// A recording on one screen: each strategy with what limits it most, on each kind of text, and what won.
[[nodiscard]] std::string brief_text(const simulator::MeasuredRecording& measured, const Glyphs& glyphs);

// `draftscope report --as`: the runs' figures as a publication counts them.

/// Words that `--as` takes: the keys of all conventions, and `all`.
[[nodiscard]] std::vector<std::string> convention_words();

/// The conventions that a word of convention_words() asks for.
[[nodiscard]] std::vector<simulator::ConventionRow> conventions_named(const std::string& word);

[[nodiscard]] std::string conventions_text(const simulator::MeasuredRecording& measured,
                                           const std::vector<simulator::ConventionRow>& asked,
                                           bool tables_only, const Glyphs& glyphs);
[[nodiscard]] std::string conventions_json(const simulator::MeasuredRecording& measured,
                                           const std::vector<simulator::ConventionRow>& asked);
[[nodiscard]] std::string conventions_csv(const simulator::MeasuredRecording& measured,
                                          const std::vector<simulator::ConventionRow>& asked);

// `draftscope report --decisions`: what strategies decided and why, with small charts; as JSON with every
// value.

[[nodiscard]] std::string decisions_text(const simulator::MeasuredRecording& measured,
                                         const std::vector<simulator::RunDecisions>& runs,
                                         const Glyphs& glyphs);
[[nodiscard]] std::string decisions_json(const simulator::MeasuredRecording& measured,
                                         const std::vector<simulator::RunDecisions>& runs);

/// `draftscope report --decisions POLICY`: how the search went that led to a policy.
[[nodiscard]] std::string history_text(const speculation::PolicyFile& policy, const Glyphs& glyphs);
[[nodiscard]] std::string history_json(const speculation::PolicyFile& policy);

// `draftscope report --by operation`: where a device's time goes, by run, phase and operation.

/// `tables_only`: without explanations.
[[nodiscard]] std::string operations_text(const simulator::MeasuredRecording& measured,
                                          const simulator::RecordedOperations& operations, bool tables_only,
                                          const Glyphs& glyphs);
[[nodiscard]] std::string operations_json(const simulator::MeasuredRecording& measured,
                                          const simulator::RecordedOperations& operations);
/// One line an operation of a run and phase.
[[nodiscard]] std::string operations_csv(const simulator::MeasuredRecording& measured,
                                         const simulator::RecordedOperations& operations);

/// The lines above every report: "recording", "model", "machine" and "decoding" lines, and a "warning" line
/// for each reason to doubt the figures.
[[nodiscard]] std::string header_text(const simulator::MeasuredRecording& measured, const Glyphs& glyphs);

}  // namespace draftscope::cli
