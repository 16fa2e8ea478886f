// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/explain.h>
#include <draftscope/simulator/analysis/gpu.h>
#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/explain/evidence.h"
#include "analysis/explain/phrases.h"
#include "analysis/explain/remedies.h"
#include "analysis/explain/round_account.h"
#include "analysis/explain/thresholds.h"

namespace draftscope::simulator {

namespace {

using traces::MissingData;

std::string filled_in(std::string_view sentence,
                      const std::vector<std::pair<std::string, std::string>>& values) {
  fmt::dynamic_format_arg_store<fmt::format_context> named;
  for (const auto& [name, value] : values) named.push_back(fmt::arg(name.c_str(), value));
  return fmt::vformat(sentence, named);
}

/// "It costs 0.37 vanilla steps per round (11 % of its time); without that the speedup would be 1.06x."
std::string cost_sentence_of(const Finding& finding, const RoundAccount& round) {
  if (finding.row->is_about_unit && finding.speedup_without) {
    std::string text = fmt::format("Over steps as fast as that verification the speedup would be {}, not {}.",
                                   speedup_text(*finding.speedup_without, Characters::ascii),
                                   speedup_text(*round.speedup, Characters::ascii));
    if (*round.takes < 1.0)
      text += fmt::format(" Drafts did not bring it: a round yields {} tokens.", amount_text(*round.yields));
    return text;
  }
  if (!finding.cost) return "What it costs can't be told from this recording.";
  std::string text = fmt::format("It costs {} per round", steps_text(*finding.cost, round.unit));
  if (finding.cost_share) text += fmt::format(" ({} of its time)", share_text(*finding.cost_share));
  if (finding.speedup_without)
    text += fmt::format("; without that the speedup would be {}",
                        speedup_text(*finding.speedup_without, Characters::ascii));
  return text + ".";
}

Finding finding_of(const FindingRow& row, const Judgement& judgement, const Evidence& of) {
  const RoundAccount& round = of.round;
  Finding finding{.row = &row,
                  .sentence = filled_in(row.sentence, judgement.values),
                  .remedy = remedies_for(row, of),
                  .figure = judgement.figure,
                  .threshold = judgement.threshold,
                  .cost = judgement.cost,
                  .speedup_without = judgement.speedup_instead};
  if (finding.cost && !std::isfinite(*finding.cost)) finding.cost.reset();
  if (finding.cost && round.takes) finding.cost_share = *finding.cost / *round.takes;
  if (finding.cost) finding.speedup_without = round.speedup_without(*finding.cost);
  finding.cost_sentence = cost_sentence_of(finding, round);
  return finding;
}

/// Text such as "the recording lacks phase times"; empty if the recording has what the check needs.
std::string lacking(const FindingRow& row, const traces::Meta& meta) {
  for (const MissingData missing : row.needs)
    if (traces::is_missing(meta, missing))
      return fmt::format("the recording lacks {}", traces::missing_data_name(missing));
  return {};
}

bool is_covered(const Finding& finding, const std::vector<Finding>& others) {
  return std::any_of(others.begin(), others.end(), [&](const Finding& other) {
    const auto& keys = finding.row->covered_by;
    return std::find(keys.begin(), keys.end(), other.row->key) != keys.end();
  });
}

Finding nothing_wrong(std::size_t unjudged, const Evidence& of) {
  const std::size_t checks = finding_table().size() - 1;
  Finding finding{.row = &finding_table().back(), .remedy = remedies_for(finding_table().back(), of)};
  finding.sentence = filled_in(finding.row->sentence, {{"made", fmt::format("{}", checks - unjudged)},
                                                       {"checks", fmt::format("{}", checks)}});
  finding.simulation = fmt::format("No answer: {}.", finding.row->no_simulation);
  finding.cost_sentence = "It costs nothing.";
  return finding;
}

/// Order of findings: those about the unit first, then by cost.
bool is_said_before(const Finding& a, const Finding& b) {
  return std::pair(a.row->is_about_unit, a.cost.value_or(-1.0)) >
         std::pair(b.row->is_about_unit, b.cost.value_or(-1.0));
}

class Diagnostician {
 public:
  Diagnostician(const MeasuredRecording& measured, std::span<const RunRows> runs,
                const ExplainOptions& options)
      : recording_(*measured.recording), remedies_(recording_, options) {
    for (const RunFigures& run : measured.figures.runs)
      if (run.all.run == measured.figures.baseline) baseline_ = &run.all;
    passes_ = target_passes(runs, baseline_, recording_.meta);
    device_ = times_of(measured.operations);
    for (std::size_t i = 0; i < runs.size(); ++i)
      accounts_.push_back(round_account(measured.figures.runs[i].all, runs[i], recording_.meta));
    if (passes_.is_step_slow()) return;  // What is fast over such a baseline may bring nothing.
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const RoundAccount& round = accounts_[i];
      const bool is_fair = round.speedup && *round.takes >= 1.0 - thresholds::min_cost_share;
      if (!runs[i].run->is_baseline && is_fair && *round.speedup > (fastest_ ? fastest_->speedup : 1.0))
        fastest_ = FasterRun{runs[i].run, *round.speedup};
    }
  }

  /// The figures and rows are those of the run at `index`.
  [[nodiscard]] Diagnosis diagnosis_of(std::size_t index, const Figures& figures, const RunRows& rows) {
    Diagnosis diagnosis{.run = figures.run, .round = accounts_[index]};
    const std::optional<double> speedup = diagnosis.round.speedup;
    if (fastest_ && speedup && fastest_->speedup > (1.0 + thresholds::min_cost_share) * *speedup)
      diagnosis.faster = fastest_;
    diagnosis.summary = summary_of(diagnosis, figures, recording_.meta);
    if (diagnosis.round.rounds < 1 || figures.run->is_baseline) return diagnosis;
    const auto verification = std::find_if(device_.begin(), device_.end(), [&](const TimeOfOperations& time) {
      return time.run == figures.run->id && time.phase == traces::Phase::verify;
    });
    const Evidence evidence{.figures = figures,
                            .baseline = baseline_,
                            .rows = rows,
                            .meta = recording_.meta,
                            .round = diagnosis.round,
                            .passes = passes_,
                            .verification = verification == device_.end() ? nullptr : &*verification,
                            .on_device = is_gpu_recording(recording_.meta)};
    std::vector<std::pair<Finding, Judgement>> found;
    for (const FindingRow& row : finding_table()) judge(row, evidence, diagnosis, found);
    std::vector<Finding> all;
    all.reserve(found.size());
    for (const auto& [finding, judgement] : found) all.push_back(finding);
    for (auto& [finding, judgement] : found) {
      if (is_covered(finding, all)) continue;
      remedies_.add_to(finding, judgement, diagnosis);
      diagnosis.findings.push_back(std::move(finding));
    }
    std::stable_sort(diagnosis.findings.begin(), diagnosis.findings.end(), is_said_before);
    if (diagnosis.findings.empty())
      diagnosis.findings.push_back(nothing_wrong(diagnosis.unjudged.size(), evidence));
    return diagnosis;
  }

 private:
  void judge(const FindingRow& row, const Evidence& evidence, Diagnosis& diagnosis,
             std::vector<std::pair<Finding, Judgement>>& found) const {
    std::string lacks = lacking(row, recording_.meta);
    Judgement judgement = lacks.empty() ? row.judge(evidence) : unjudged(std::move(lacks));
    const bool is_number = std::isfinite(judgement.figure) && std::isfinite(judgement.threshold);
    if (!is_number) judgement = unjudged("its times contradict one another");
    if (judgement.outcome == Judgement::Outcome::unjudged)
      diagnosis.unjudged.push_back({&row, std::move(judgement.reason)});
    else if (judgement.outcome == Judgement::Outcome::found)
      found.emplace_back(finding_of(row, judgement, evidence), std::move(judgement));
  }

  const traces::Recording& recording_;
  const Figures* baseline_ = nullptr;
  TargetPasses passes_;
  std::vector<RoundAccount> accounts_;  // By run.
  std::optional<FasterRun> fastest_;    // Absent where no run is faster than vanilla.
  std::vector<TimeOfOperations> device_;
  Remedies remedies_;
};

}  // namespace

std::vector<Diagnosis> explain(const MeasuredRecording& measured, const ExplainOptions& options) {
  const std::vector<RunRows> rows = rows_by_run(*measured.recording);
  Diagnostician diagnostician(measured, rows, options);
  std::vector<Diagnosis> diagnoses;
  // An import may be of vanilla decoding alone, of which the source gave all that there is.
  const bool with_baseline =
      traces::is_imported(measured.recording->meta) &&
      std::ranges::all_of(rows, [](const RunRows& run) { return run.run->is_baseline; });
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (with_baseline || !rows[i].run->is_baseline)
      diagnoses.push_back(diagnostician.diagnosis_of(i, measured.figures.runs[i].all, rows[i]));
  return diagnoses;
}

}  // namespace draftscope::simulator
