// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/explain.h>
#include <draftscope/simulator/analysis/gpu.h>
#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "analysis/explain/evidence.h"
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

/// Strategies of other kinds than the run's, few enough to ask about all: an early exit in the middle and one
/// at two thirds, short and longer, and guesses from the text.
std::vector<std::string> alternatives(std::int32_t n_layers) {
  std::vector<std::string> settings{"prompt-lookup:length=4"};
  for (const std::int32_t exit : {n_layers / 2, 2 * n_layers / 3})
    for (const int gamma : {2, 4})
      if (exit > 0) settings.push_back(fmt::format("layerskip:exit={},gamma={}", exit, gamma));
  return settings;
}

/// Whether a speedup is below another by the digits that are printed of both.
bool is_shown_below(double speedup, double other) {
  return speedup < other &&
         speedup_text(speedup, Characters::ascii) != speedup_text(other, Characters::ascii);
}

std::string sentence_of(const SimulatedRemedy& remedy, std::size_t asked, const Diagnosis& diagnosis) {
  std::string text =
      fmt::format("{} would give {}", remedy.strategy, speedup_text(remedy.speedup, Characters::ascii));
  const std::string interval =
      remedy.interval_95 ? fmt::format("95 %: {}, ", range_text(remedy.interval_95->low,
                                                                remedy.interval_95->high, Characters::ascii))
                         : std::string();
  text += fmt::format(" ({}rounds {})", interval, answer_status_name(remedy.status));
  if (asked > 1) text += fmt::format(". It is the fastest of {} settings that were asked about", asked);
  const auto& measured = diagnosis.round.speedup;
  if (measured && !is_shown_below(*measured, remedy.speedup)) text += ". That is no gain";
  const bool is_vanilla_faster = is_shown_below(remedy.speedup, 1.0);
  if (is_vanilla_faster) text += ". Vanilla decoding is faster";
  if (diagnosis.faster && is_shown_below(remedy.speedup, diagnosis.faster->speedup))
    text += fmt::format(". {}, which was recorded, is faster{}", diagnosis.faster->run->specification,
                        is_vanilla_faster ? " still" : "");
  return text + ".";
}

/// The remedies of a finding that the run can take, joined by semicolons.
std::string remedies_for(const FindingRow& row, const Evidence& of) {
  std::string text;
  for (const RemedyRow& remedy : row.remedies)
    if (remedy.can_take == nullptr || remedy.can_take(of))
      text.append(text.empty() ? "" : "; ").append(remedy.words);
  return text;
}

/// Caches answers, because many findings suggest the same settings.
class Remedies {
 public:
  Remedies(const traces::Recording& recording, const ExplainOptions& options)
      : recording_(recording), options_(options) {}

  /// Fills in `simulated` and `simulation`: the fastest of the settings that the judgement names, compared
  /// with what the recording measured of this run and of its fastest one.
  void add_to(Finding& finding, const Judgement& judgement, const Diagnosis& diagnosis);

 private:
  [[nodiscard]] std::vector<std::string> settings_of(const Judgement& judgement,
                                                     const traces::Run& run) const;
  [[nodiscard]] const Result<SimulatedRemedy>& answer(const std::string& strategy);

  const traces::Recording& recording_;
  const ExplainOptions& options_;
  std::map<std::string, Result<SimulatedRemedy>> answers_;
};

std::vector<std::string> Remedies::settings_of(const Judgement& judgement, const traces::Run& run) const {
  std::vector<std::string> settings = judgement.settings;
  if (judgement.wants_alternatives)
    for (std::string& setting : alternatives(model_layers(recording_)))
      settings.push_back(std::move(setting));
  std::erase(settings, run.specification);
  return settings;
}

const Result<SimulatedRemedy>& Remedies::answer(const std::string& strategy) {
  const auto known = answers_.find(strategy);
  if (known != answers_.end()) return known->second;
  return answers_.emplace(strategy, options_.simulate(strategy)).first->second;
}

void Remedies::add_to(Finding& finding, const Judgement& judgement, const Diagnosis& diagnosis) {
  const traces::Run& run = *diagnosis.run;
  const auto refuse = [&](std::string_view reason) {
    finding.simulation = fmt::format("No answer: {}.", reason);
  };
  if (!finding.row->no_simulation.empty()) return refuse(finding.row->no_simulation);
  if (!options_.simulate) return refuse(options_.no_what_if_reason);
  const std::vector<std::string> settings = settings_of(judgement, run);
  if (settings.empty()) return refuse(run.strategy + " has no parameter for it");
  std::size_t answered = 0;
  const SimulatedRemedy* best = nullptr;
  for (const std::string& setting : settings) {
    const Result<SimulatedRemedy>& found = answer(setting);
    if (!found) continue;
    ++answered;
    if (best == nullptr || found->speedup > best->speedup) best = &*found;
  }
  if (best == nullptr) return refuse(answer(settings.front()).error().message);
  finding.simulated = *best;
  finding.simulation = sentence_of(*best, answered, diagnosis);
}

/// "It costs 0.37 vanilla steps per round (11 % of its time); without that the speedup would be 1.06x."
/// `without` is what that speedup is without, if that is more than the cost.
std::string cost_sentence_of(const Finding& finding, const RoundAccount& round, std::string_view without) {
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
    text += fmt::format("; without {} the speedup would be {}", without.empty() ? "that" : without,
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
  if (finding.cost && judgement.without.empty())
    finding.speedup_without = round.speedup_without(*finding.cost);
  finding.cost_sentence = cost_sentence_of(finding, round, judgement.without);
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

Finding nothing_found(std::size_t unjudged, const Evidence& of) {
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
    passes_ = target_passes(runs, measured.figures.baseline,
                            baseline_ == nullptr ? DeviceTime{} : baseline_->device, recording_.meta);
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
    diagnosis.summary = summary_of(diagnosis, figures, baseline_, recording_.meta);
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
      diagnosis.findings.push_back(nothing_found(diagnosis.unjudged.size(), evidence));
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
