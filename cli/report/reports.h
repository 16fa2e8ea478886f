// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Reports on a recording: as text for a terminal, and as JSON and CSV for programs (report_json.h).

#include <draftscope/simulator/analysis/conventions.h>
#include <draftscope/simulator/analysis/decisions.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/simulator/analysis/operations.h>
#include <draftscope/simulator/analysis/stretches.h>
#include <draftscope/speculation/policy_file.h>

#include <string>
#include <vector>

#include "terminal/glyphs.h"

namespace draftscope::cli {

struct ReportOptions {
  bool by_category = false;
  bool tables_only = false;  ///< Omits charts and explanations.
};

[[nodiscard]] std::string report_text(const simulator::MeasuredRecording& measured,
                                      const ReportOptions& options, const Glyphs& glyphs);

/// Summary of a recording on one screen: each strategy with its strongest limit, results on each kind of
/// text, and the winner.
[[nodiscard]] std::string brief_text(const simulator::MeasuredRecording& measured, const Glyphs& glyphs);

// `draftscope report --as` prints the runs' figures as a publication counts them.

/// Words that `--as` accepts: the keys of all conventions, and `all`.
[[nodiscard]] std::vector<std::string> convention_words();

/// Conventions for a word of convention_words().
[[nodiscard]] std::vector<simulator::ConventionRow> conventions_named(const std::string& word);

/// Lines that say what a publication averages over and how it counts.
[[nodiscard]] std::string convention_explanation(const simulator::ConventionRow& row);

[[nodiscard]] std::string conventions_text(const simulator::MeasuredRecording& measured,
                                           const std::vector<simulator::ConventionRow>& asked,
                                           const ReportOptions& options, const Glyphs& glyphs);
[[nodiscard]] std::string conventions_json(const simulator::MeasuredRecording& measured,
                                           const std::vector<simulator::ConventionRow>& asked,
                                           bool by_category);
/// CSV with one line per publication and run, or per publication, run and category.
[[nodiscard]] std::string conventions_csv(const simulator::MeasuredRecording& measured,
                                          const std::vector<simulator::ConventionRow>& asked,
                                          bool by_category);

// `draftscope report --decisions` prints what strategies decided and why, with small charts; as JSON with
// every value.

[[nodiscard]] std::string decisions_text(const simulator::MeasuredRecording& measured,
                                         const std::vector<simulator::RunDecisions>& runs,
                                         const Glyphs& glyphs);
[[nodiscard]] std::string decisions_json(const simulator::MeasuredRecording& measured,
                                         const std::vector<simulator::RunDecisions>& runs);

/// `draftscope report --decisions POLICY`: the course of the search that led to a policy.
[[nodiscard]] std::string history_text(const speculation::PolicyFile& policy, const Glyphs& glyphs);
[[nodiscard]] std::string history_json(const speculation::PolicyFile& policy);

// `draftscope report --by operation` prints a device's time by run, phase and operation.

/// Text of the operations; `tables_only` omits explanations.
[[nodiscard]] std::string operations_text(const simulator::MeasuredRecording& measured,
                                          const simulator::RecordedOperations& operations, bool tables_only,
                                          const Glyphs& glyphs);
[[nodiscard]] std::string operations_json(const simulator::MeasuredRecording& measured,
                                          const simulator::RecordedOperations& operations,
                                          const std::vector<simulator::OperationTimes>& times);
/// Table of the times of attention, MLP, head and all else by run and phase, per output token, prefill left
/// out; empty without times.
[[nodiscard]] std::string operation_times_text(const simulator::MeasuredRecording& measured,
                                               const std::vector<simulator::OperationTimes>& times,
                                               const Glyphs& glyphs);
/// CSV with one line per run, phase and operation.
[[nodiscard]] std::string operations_csv(const simulator::MeasuredRecording& measured,
                                         const simulator::RecordedOperations& operations);

// `draftscope report --by stretch` prints figures along the output, runs by stretches (stretches_of()).

[[nodiscard]] std::string stretches_text(const simulator::MeasuredRecording& measured,
                                         const std::vector<simulator::StretchFigures>& stretches,
                                         bool tables_only, const Glyphs& glyphs);
[[nodiscard]] std::string stretches_json(const simulator::MeasuredRecording& measured,
                                         const std::vector<simulator::StretchFigures>& stretches);
/// CSV with one line per run, prompt and stretch.
[[nodiscard]] std::string stretches_csv(const simulator::MeasuredRecording& measured,
                                        const std::vector<simulator::StretchFigures>& stretches);

/// Where the time of a timeline without runs went: the device's busy time, and the names that took most.
[[nodiscard]] std::string timeline_text(const simulator::TimelineSummary& timeline, const Glyphs& glyphs);

/// Table of what imports' sources state of whole runs beside the figures; empty if they state nothing.
[[nodiscard]] std::string other_stated_text(const simulator::MeasuredRecording& measured,
                                            const Glyphs& glyphs);

/// Figures of a run, which must be one of the recording's.
[[nodiscard]] const simulator::Figures& figures_of(const simulator::MeasuredRecording& measured,
                                                   traces::RunId run);

/// Lines above every report: "recording", "model", "machine" and "decoding", and a "warning" line for each
/// reason to doubt the figures.
[[nodiscard]] std::string header_text(const simulator::MeasuredRecording& measured, const Glyphs& glyphs);

}  // namespace draftscope::cli
