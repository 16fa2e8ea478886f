// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Explains in plain sentences why a run is as fast as it is: what its rounds cost and yield, and which costs
// are too high, most expensive first. The checks are the rows of one table (finding_table()). Sentences are
// plain ASCII without line breaks; names of the file's runs are inserted unchanged.
//
// Pure functions of the recording and of what was fitted to it; safe from any thread.

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

// Table of every check that explain() makes. A row says what is examined, which threshold applies and why,
// what the finding says, where to look and what to try. A test checks docs/explain.md against this table.
// Safe from any thread.

struct Evidence;
struct Judgement;

/// A change that may help.
struct RemedyRow {
  std::string_view words;
  std::string_view runs;                        ///< Runs that can take it, after "for"; empty = all.
  bool (*can_take)(const Evidence&) = nullptr;  ///< Whether a run can; null = all can.
};

struct FindingRow {
  std::string_view key;             ///< Name for programs.
  std::string_view title;           ///< A few words for people.
  std::string_view figure;          ///< Quantity that is examined.
  std::string_view threshold;       ///< Condition for a finding.
  std::string_view because;         ///< Reason for this threshold.
  std::string_view sentence;        ///< Sentence with {names}, which the judgement fills in.
  std::string_view look;            ///< Where to look.
  std::vector<RemedyRow> remedies;  ///< Remedies to try, at least one of which every run can take.
  /// Reason why nothing is simulated; empty where the remedy is a setting.
  std::string_view no_simulation;
  std::vector<traces::MissingData> needs;    ///< The check is skipped if the recording lacks one of these.
  std::vector<std::string_view> covered_by;  ///< The finding is omitted if one of these keys was found.
  Judgement (*judge)(const Evidence&) = nullptr;
  bool is_about_unit = false;  ///< Comes before all others, which are counted in vanilla steps.
};

/// All rows. The last row says that nothing was found; it is found if no other is.
[[nodiscard]] std::span<const FindingRow> finding_table();

/// Table in Markdown, as in docs/explain.md.
[[nodiscard]] std::string findings_markdown();

/// Unit of a round's times.
enum class RoundUnit : std::uint8_t {
  unknown,           ///< The recording has no times.
  vanilla_step,      ///< Time of one token of vanilla decoding on the same prompts.
  own_verification,  ///< Mean verification of the run itself, where there is no vanilla run.
};
/// "unknown", "vanilla_step", "own_verification".
[[nodiscard]] std::string_view round_unit_name(RoundUnit unit);

/// Mean times of a round by purpose, in its unit.
struct RoundParts {
  double draft = 0.0;
  double verify = 0.0;
  double decide = 0.0;  ///< Phases optimise and control: searching, planning, observing.
  double accept = 0.0;
  double outside = 0.0;  ///< The rest: between rounds, waiting, the host.
};

/// An average round. It covers decoding without the prefill, unless `has_prefill` is set.
struct RoundAccount {
  std::int64_t rounds = 0;
  RoundUnit unit = RoundUnit::unknown;
  double unit_ns = 0.0;             ///< Nanoseconds per unit; 0 where unknown.
  std::optional<double> takes;      ///< Mean time of a round, in its unit.
  std::optional<RoundParts> parts;  ///< Parts that add up to `takes`; absent where phases have no times.
  std::optional<double> yields;     ///< Tokens per round, after the cut at the end of the text.
  std::optional<double> speedup;    ///< yields / takes where the unit is a vanilla step.
  bool has_prefill = false;         ///< Whether the file does not separate prefill from decoding.
  std::optional<double> rows;       ///< Mean rows per verification.
  std::optional<double> kept;       ///< accepted / draft steps, of which a tree keeps one token at most each
  std::optional<double> speedup_with_free_rows;  ///< Speedup if a verification took one vanilla step at most.

  /// Speedup if a round cost this much less; absent where `speedup` is.
  [[nodiscard]] std::optional<double> speedup_without(double cost) const;
};

/// Simulator's answer to the remedy that a finding suggests.
struct SimulatedRemedy {
  std::string strategy;
  AnswerStatus status = AnswerStatus::exact;
  double speedup = 0.0;                 ///< The lower bound of the speedup.
  std::optional<Interval> interval_95;  ///< The outermost limits of both bounds.
};

struct Finding {
  const FindingRow* row = nullptr;
  std::string sentence;
  std::string remedy;                ///< The row's remedies that the run can take, joined by semicolons.
  double figure = 0.0;               ///< Value of the quantity that FindingRow::figure names.
  double threshold = 0.0;            ///< Value that the figure is compared with.
  std::optional<double> cost;        ///< Cost per round, in its unit.
  std::optional<double> cost_share;  ///< Share of the round's time.
  /// Speedup if this cost were removed and all else stayed; of a busy machine, if vanilla decoding's
  /// interruptions were removed too. For a finding about the unit, it is the speedup over a fair baseline.
  std::optional<double> speedup_without;
  std::string cost_sentence;
  std::optional<SimulatedRemedy> simulated;
  std::string simulation;  ///< A sentence that gives the simulated answer, or the reason why there is none.
};

/// The fastest run of the recording over a fair baseline, where that is another one, by more than repeats
/// differ.
struct FasterRun {
  const traces::Run* run = nullptr;
  double speedup = 0.0;  ///< RoundAccount::speedup, above 1.
};

/// A check that this recording can't answer.
struct Unjudged {
  const FindingRow* row = nullptr;
  std::string reason;
};

struct Diagnosis {
  const traces::Run* run = nullptr;
  RoundAccount round;
  std::optional<FasterRun> faster;
  std::string summary;
  /// Findings about the unit first, then by falling cost, then those without a cost. A run with rounds has
  /// at least one; it says that nothing was found where no check found anything.
  std::vector<Finding> findings;
  std::vector<Unjudged> unjudged;
};

struct ExplainOptions {
  /// Predicts the speedup of a strategy (simulated_remedies.h). If empty, nothing is simulated.
  std::function<Result<SimulatedRemedy>(const std::string& strategy)> simulate;
  std::string no_what_if_reason;  ///< One line that says why `simulate` is empty.
};

/// A diagnosis of every run except the vanilla one, in order of the recording; of the vanilla runs if an
/// import has no others. The result points into `measured`.
[[nodiscard]] std::vector<Diagnosis> explain(const MeasuredRecording& measured,
                                             const ExplainOptions& options = {});

}  // namespace draftscope::simulator
