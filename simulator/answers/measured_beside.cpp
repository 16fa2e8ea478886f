// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/statistics.h>
#include <draftscope/simulator/analysis/figures.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/answers/measured_beside.h>
#include <draftscope/traces/missing_data.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace draftscope::simulator {

namespace {

double decode_rate(const RunRows& run) {
  return throughput(run).decode_tokens_per_second.value_or(0.0);
}

/// 99th percentile of the rounds' times / their median.
double spread_of(const RunRows& run) {
  std::vector<std::int64_t> times;
  for (const RequestRows& rows : run.requests)
    for (const traces::Round& round : rows.rounds) times.push_back(round.end_ns - round.start_ns);
  if (times.empty()) return 0.0;
  const auto median = static_cast<double>(quantile_below(times, 0.5));
  return median > 0.0 ? static_cast<double>(quantile_below(times, 0.99)) / median : 0.0;
}

std::string speedup_words(double speedup, const std::optional<Interval>& interval, Characters characters) {
  std::string words = speedup_text(speedup, characters);
  if (interval) words += fmt::format(" (95 % {})", range_text(interval->low, interval->high, characters));
  return words;
}

std::vector<std::string> reasons(const Answer& answer, const MeasuredSetting& run, const CostFitReport& fit,
                                 const traces::Meta& meta) {
  std::vector<std::string> lines;
  constexpr double uneven = 1.5;
  if (run.round_spread > uneven || run.vanilla_round_spread > uneven)
    lines.push_back(fmt::format("rounds are uneven, p99/p50 is {:.1f} here and {:.1f} of vanilla",
                                run.round_spread, run.vanilla_round_spread));
  if (fit.pass_residual_p90 > 0.0)
    lines.push_back(fmt::format("the fit is off by {} at half of the kinds of passes and by {} at one in ten",
                                percent_text(fit.pass_residual_p50, 0),
                                percent_text(fit.pass_residual_p90, 0)));
  if (!has_layer_times(meta)) lines.emplace_back("times of layers were not recorded (--level layers)");
  if (meta_value(meta, "repeats") == "1") lines.emplace_back("there is only one repeat (--repeats 3)");
  if (answer.source != RoundSource::recorded)
    lines.push_back(fmt::format("rounds are {}", round_source_name(answer.source)));
  return lines;
}

}  // namespace

std::vector<MeasuredSetting> measured_settings(const traces::Recording& recording) {
  if (traces::is_imported(recording.meta)) return {};
  const std::vector<RunRows> rows = rows_by_run(recording);
  const RunRows* vanilla = baseline_of(rows);
  std::vector<MeasuredSetting> all;
  if (vanilla == nullptr) return all;
  const double vanilla_spread = spread_of(*vanilla);
  for (const RunRows& run : rows) {
    if (run.run->is_baseline) continue;
    const auto ratio = speedup(pair_requests(Baseline(*vanilla), Comparison(run)));
    if (!ratio || !ratio->decode_value) continue;
    all.push_back({.strategy = run.run->specification,
                   .tokens_per_second = decode_rate(run),
                   .vanilla_tokens_per_second = decode_rate(*vanilla),
                   .speedup = *ratio->decode_value,
                   .interval_95 = ratio->decode_interval,
                   .round_spread = spread_of(run),
                   .vanilla_round_spread = vanilla_spread});
  }
  return all;
}

const MeasuredSetting* measured_setting_of(const Answer& answer, std::span<const MeasuredSetting> runs) {
  const auto found =
      std::ranges::find(runs.rbegin(), runs.rend(), answer.strategy, &MeasuredSetting::strategy);
  return found == runs.rend() ? nullptr : &*found;
}

bool is_recorded_machine(const Machine& machine, const Scenario& recorded) {
  return machine.costs == nullptr && machine.name == scenario_name(recorded, recorded);
}

MeasuredBeside measured_beside(const Answer& answer, const MeasuredSetting& run, const CostFitReport& fit,
                               const traces::Meta& meta) {
  MeasuredBeside beside{.run = run,
                        .predicted = answer.speedup.min_drafted.value,
                        .predicted_interval_95 = answer.speedup.interval_95()};
  beside.relative_error = beside.predicted / run.speedup - 1.0;
  constexpr double tolerance = 0.05;
  beside.differs = beside.predicted_interval_95 ? run.speedup < beside.predicted_interval_95->low ||
                                                      run.speedup > beside.predicted_interval_95->high
                                                : std::abs(run.speedup / beside.predicted - 1.0) > tolerance;
  if (beside.differs) beside.reasons = reasons(answer, run, fit, meta);
  return beside;
}

std::string beside_line(const MeasuredBeside& beside, Characters characters) {
  std::string line = fmt::format("Measured {}, predicted {}, both decode, without prefill: ",
                                 speedup_words(beside.run.speedup, beside.run.interval_95, characters),
                                 speedup_words(beside.predicted, beside.predicted_interval_95, characters));
  const double off = std::abs(beside.relative_error);
  if (!beside.differs) return line + fmt::format("they agree, {} apart.", percent_text(off));
  line += fmt::format("the prediction is {} too {}", percent_text(off, 0),
                      beside.relative_error < 0.0 ? "low" : "high");
  for (const std::string& reason : beside.reasons) line += "; " + reason;
  return line + ".";
}

}  // namespace draftscope::simulator
