// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Why a run is as fast as it is, in plain sentences: what its rounds take and yield, and what of that costs
// too much, dearest first. The checks are the rows of one table (finding_table()). Sentences are plain ASCII
// without line breaks; names of the file's runs stand in them as they are.
//
// Pure functions of the recording (and of what was learnt from it), safe from any thread.

#include <draftscope/base/result.h>
#include <draftscope/simulator/analysis/answer_status.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/simulator/analysis/speedup.h>
#include <draftscope/traces/missing_data.h>
#include <draftscope/traces/reader.h>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

// Every check that explain() makes, a row each: what it looks at, by which threshold it is judged and why,
// what it says, where to look and what to try. docs/explain.md is held to this table. Safe from any thread.

struct Evidence;
struct Judgement;

struct FindingRow {
  std::string_view key;        ///< name for programs
  std::string_view title;      ///< a few words for people
  std::string_view figure;     ///< what is looked at
  std::string_view threshold;  ///< when it is a finding
  std::string_view because;    ///< why there
  std::string_view sentence;   ///< with {names} for what the judgement fills in
  std::string_view look;       ///< where to look
  std::string_view remedy;     ///< what to try
  /// Why nothing is simulated; empty where what to try is a setting.
  std::string_view no_simulation;
  std::vector<traces::MissingData> needs;    ///< not judged where the recording lacks one of these
  std::vector<std::string_view> covered_by;  ///< not said beside a finding of one of these keys
  Judgement (*judge)(const Evidence&) = nullptr;
  bool is_about_unit = false;  ///< said before all others, which are counted in vanilla steps
};

/// The last row says that nothing is wrong: it is found where no other is.
[[nodiscard]] std::span<const FindingRow> finding_table();

/// The table as docs/explain.md has it, in Markdown.
[[nodiscard]] std::string findings_markdown();

/// Unit of a round's times.
enum class RoundUnit : std::uint8_t {
  unknown,           ///< the recording has no times
  vanilla_step,      ///< time of one token of vanilla decoding on the same prompts
  own_verification,  ///< no vanilla run: the run's own mean verification
};
/// "unknown", "vanilla_step", "own_verification".
[[nodiscard]] std::string_view round_unit_name(RoundUnit unit);

/// Mean times of a round by what it spent them on, in its unit.
struct RoundParts {
  double draft = 0.0;
  double verify = 0.0;
  double decide = 0.0;  ///< phases optimise and control: searching, planning, observing
  double accept = 0.0;
  double outside = 0.0;  ///< the rest: between rounds, waiting, the host
};

/// A round on average. Decoding alone, without the prefill, but where `has_prefill` says so.
struct RoundAccount {
  std::int64_t rounds = 0;
  RoundUnit unit = RoundUnit::unknown;
  double unit_ns = 0.0;                          ///< 0 where unknown
  std::optional<double> takes;                   ///< in the unit
  std::optional<RoundParts> parts;               ///< add up to `takes`; absent where phases have no times
  std::optional<double> yields;                  ///< tokens, after the cut at the end of the text
  std::optional<double> speedup;                 ///< yields / takes where the unit is a vanilla step
  bool has_prefill = false;                      ///< the file does not tell prefill and decoding apart
  std::optional<double> rows;                    ///< of a verification
  std::optional<double> kept;                    ///< accepted / drafted
  std::optional<double> speedup_with_free_rows;  ///< if a verification took one vanilla step at most

  /// Yields over takes if a round took so much less; absent where `speedup` is.
  [[nodiscard]] std::optional<double> speedup_without(double cost) const;
};

/// Answer of the simulator to what a finding says to try.
struct SimulatedRemedy {
  std::string strategy;
  AnswerStatus status = AnswerStatus::exact;
  double speedup = 0.0;                 ///< the slower bound
  std::optional<Interval> interval_95;  ///< outermost of both bounds
};

struct Finding {
  const FindingRow* row = nullptr;
  std::string sentence;
  double figure = 0.0;               ///< what FindingRow::figure names
  double threshold = 0.0;            ///< the value that it is judged by
  std::optional<double> cost;        ///< per round, in its unit
  std::optional<double> cost_share;  ///< of the round's time
  /// If the cost were gone and all else stayed; of a finding about the unit, over a fair baseline.
  std::optional<double> speedup_without;
  std::string cost_sentence;
  std::optional<SimulatedRemedy> simulated;
  std::string simulation;  ///< a sentence: that answer, or why there is none
};

/// A check that this recording can't answer.
struct Unjudged {
  const FindingRow* row = nullptr;
  std::string reason;
};

struct Diagnosis {
  const traces::Run* run = nullptr;
  RoundAccount round;
  std::string summary;
  /// Those about the unit, then dearest first, those without a cost last. At least one, which may be
  /// that nothing is wrong; none for a run without rounds.
  std::vector<Finding> findings;
  std::vector<Unjudged> unjudged;
};

struct ExplainOptions {
  /// Answers what a strategy would give (simulated_remedies.h); empty: nothing is simulated.
  std::function<Result<SimulatedRemedy>(const std::string& strategy)> simulate;
  std::string no_what_if_reason;  ///< one line that says why `simulate` is empty
};

/// A diagnosis of every run but the vanilla one, in the recording's order. The result points into
/// `measured`.
[[nodiscard]] std::vector<Diagnosis> explain(const MeasuredRecording& measured,
                                             const ExplainOptions& options = {});

}  // namespace draftscope::simulator
