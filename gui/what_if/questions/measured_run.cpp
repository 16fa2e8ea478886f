// SPDX-License-Identifier: GPL-3.0-or-later
#include "measured_run.h"

#include <draftscope/base/statistics.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/simulator/answers/prediction.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "what_if/questions/what_if_answer.h"

namespace draftscope::gui {

namespace {

using simulator::Baseline;
using simulator::Comparison;
using simulator::RunRows;

/// Time of tokens after the first.
double decode_ns(const traces::Request& request) {
  return static_cast<double>(request.end_ns - request.first_token_ns);
}

/// Tokens a second after the first token, over all requests.
double decode_rate(const RunRows& run) {
  double tokens = 0.0;
  double ns = 0.0;
  for (const simulator::RequestRows& rows : run.requests) {
    if (rows.request->tokens.size() < 2) continue;
    tokens += static_cast<double>(rows.request->tokens.size() - 1);
    ns += decode_ns(*rows.request);
  }
  return ns > 0.0 ? 1e9 * tokens / ns : 0.0;
}

/// 99th percentile / median of the rounds' times.
double spread_of(const RunRows& run) {
  std::vector<std::int64_t> times;
  for (const simulator::RequestRows& rows : run.requests)
    for (const traces::Round& round : rows.rounds) times.push_back(round.end_ns - round.start_ns);
  if (times.empty()) return 0.0;
  const auto median = static_cast<double>(lower_median(times));
  return median > 0.0 ? static_cast<double>(quantile_below(times, 0.99)) / median : 0.0;
}

double predicted_speedup(const WhatIfAnswer& answer) {
  return answer.prediction.speedup.min_drafted.total.value;
}

std::string interval_text(const std::optional<simulator::Interval>& interval) {
  return interval ? fmt::format(" (95 % {:.2f}–{:.2f})", interval->low, interval->high) : std::string();
}

/// Possible causes of the difference, as far as the recording tells.
std::vector<std::string> reasons(const WhatIfAnswer& answer, const MeasuredRun& measured) {
  std::vector<std::string> lines;
  constexpr double uneven = 1.5;
  if (measured.round_spread > uneven || measured.vanilla_round_spread > uneven)
    lines.push_back(fmt::format("rounds are uneven, p99/p50 is {:.1f} here and {:.1f} of vanilla",
                                measured.round_spread, measured.vanilla_round_spread));
  const simulator::CostFitReport& fit = answer.what_if->costs().report;
  if (fit.pass_residual_p90 > 0.0)
    lines.push_back(
        fmt::format("the fit is off by {:.0f} % at half of the kinds of passes and by {:.0f} % at one in ten",
                    100.0 * fit.pass_residual_p50, 100.0 * fit.pass_residual_p90));
  if (answer.recorded_level != "layers" && answer.recorded_level != "ops")
    lines.emplace_back("times of layers were not recorded (--level layers)");
  if (answer.recorded_repeats == "1") lines.emplace_back("there is one repeat alone (--repeats 3)");
  if (answer.prediction.source != simulator::RoundSource::recorded)
    lines.push_back(fmt::format("rounds are {}", round_source_name(answer.prediction.source)));
  return lines;
}

}  // namespace

std::vector<MeasuredRun> measured_runs(const OpenedRecording& opened) {
  const std::vector<RunRows> rows = simulator::rows_by_run(opened.recording());
  const auto vanilla = std::find_if(rows.begin(), rows.end(), [](const RunRows& run) {
    return run.run->is_baseline && !run.requests.empty();
  });
  std::vector<MeasuredRun> all;
  if (vanilla == rows.end()) return all;
  const double vanilla_spread = spread_of(*vanilla);
  for (const RunRows& run : rows) {
    if (run.run->is_baseline) continue;
    const auto ratio = simulator::speedup(simulator::pair_requests(Baseline(*vanilla), Comparison(run)));
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

bool differs(const WhatIfAnswer& answer, const MeasuredRun& measured) {
  if (const auto interval = outermost_interval_95(answer.prediction.speedup))
    return measured.speedup < interval->low || measured.speedup > interval->high;
  constexpr double tolerance = 0.05;
  return std::abs(measured.speedup / predicted_speedup(answer) - 1.0) > tolerance;
}

std::string beside_line(const WhatIfAnswer& answer, const MeasuredRun& measured) {
  const double predicted = predicted_speedup(answer);
  const double off = 100.0 * (predicted / measured.speedup - 1.0);
  std::string line =
      fmt::format("Measured {:.2f}×{}, predicted {:.2f}×{}, both decode, without prefill: ", measured.speedup,
                  interval_text(measured.interval_95), predicted,
                  interval_text(outermost_interval_95(answer.prediction.speedup)));
  if (!differs(answer, measured)) return line + fmt::format("they agree, {:.1f} % apart.", std::abs(off));
  line += fmt::format("the prediction is {:.0f} % too {}", std::abs(off), off < 0.0 ? "low" : "high");
  const std::vector<std::string> why = reasons(answer, measured);
  return line + (why.empty() ? "." : "; " + fmt::format("{}", fmt::join(why, "; ")) + ".");
}

}  // namespace draftscope::gui
