// SPDX-License-Identifier: GPL-3.0-or-later
// Checks of the time of rounds, and of its disturbances.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/explain/evidence.h"
#include "analysis/explain/interruptions.h"
#include "analysis/explain/thresholds.h"

namespace draftscope::simulator {

namespace {

using Outcome = Judgement::Outcome;

Judgement no_phases() {
  return unjudged("how a round's time splits is not in the recording");
}

Judgement no_vanilla_run() {
  return unjudged("there is no finished vanilla run to compare it with");
}

/// Idle time of a round's device beyond that of a vanilla round, in the unit; 0 where it was not recorded.
double idle_device_steps(const Evidence& of) {
  const std::optional<double> run = idle_device_ns(&of.figures);
  const std::optional<double> vanilla = idle_device_ns(of.baseline);
  if (!run || !vanilla || !(of.round.unit_ns > 0.0)) return 0.0;
  const double steps = (*run - *vanilla) / of.round.unit_ns;
  return std::isfinite(steps) ? std::max(0.0, steps) : 0.0;
}

/// Mean number of concurrent requests, over the times with any.
double requests_at_a_time(const RunRows& run) {
  std::vector<std::pair<std::int64_t, std::int64_t>> times;
  for (const RequestRows& request : run.requests)
    times.emplace_back(request.request->start_ns, request.request->end_ns);
  std::sort(times.begin(), times.end());
  double all_ns = 0.0;
  double covered_ns = 0.0;
  std::int64_t covered_to = std::numeric_limits<std::int64_t>::min();
  for (const auto& [start_ns, end_ns] : times) {
    all_ns += static_cast<double>(end_ns) - static_cast<double>(start_ns);
    if (end_ns <= covered_to) continue;
    covered_ns += static_cast<double>(end_ns) - static_cast<double>(std::max(start_ns, covered_to));
    covered_to = end_ns;
  }
  return covered_ns > 0.0 ? all_ns / covered_ns : 0.0;
}

}  // namespace

std::optional<double> idle_device_ns(const Figures* figures) {
  if (figures == nullptr || figures->device.rounds < 1) return std::nullopt;
  return (static_cast<double>(figures->device.gap_ns) + static_cast<double>(figures->device.host_ns)) /
         static_cast<double>(figures->device.rounds);
}

Judgement judge_deciding_dear(const Evidence& of) {
  const RoundAccount& round = of.round;
  if (!round.parts) return no_phases();
  if (!round.speedup) return no_vanilla_run();
  const double decide = round.parts->decide;
  const double saved = *round.yields - (*round.takes - decide);
  if (decide < thresholds::own_time_steps || decide <= saved) return {};
  return {.outcome = Outcome::found,
          .figure = decide,
          .threshold = std::max(saved, thresholds::own_time_steps),
          .cost = decide,
          .values = {{"decide", steps_text(decide, round.unit)},
                     {"saved", saved > 0.0 ? "only " + amount_text(saved) : std::string("nothing")}},
          .wants_alternatives = true};
}

Judgement judge_verification_dear(const Evidence& of) {
  const RoundAccount& round = of.round;
  if (!round.parts) return no_phases();
  if (round.unit != RoundUnit::vanilla_step) return no_vanilla_run();
  if (!round.rows) return unjudged("the rows of a verification are not in the recording");
  const double more_rows = *round.rows - 1.0;
  if (!(more_rows > 0.0)) return {};
  const double row = (round.parts->verify - 1.0) / more_rows;
  const double cost = (row - thresholds::row_steps) * more_rows;
  if (!(cost >= thresholds::min_cost_share * *round.takes)) return {};
  std::vector<std::string> settings = verified_above_exit(*of.figures.run);
  const auto half = static_cast<std::size_t>(std::ceil(more_rows / 2.0));
  if (has_rows_to_spare(of))
    for (std::string& setting : with_length(*of.figures.run, half)) settings.push_back(std::move(setting));
  return {.outcome = Outcome::found,
          .figure = row,
          .threshold = thresholds::row_steps,
          .cost = cost,
          .values = {{"verify", steps_text(round.parts->verify, round.unit)},
                     {"rows", amount_text(*round.rows)},
                     {"row", amount_text(row)},
                     {"expected", amount_text(thresholds::row_steps)}},
          .settings = std::move(settings)};
}

Judgement judge_time_outside_passes(const Evidence& of) {
  const RoundAccount& round = of.round;
  if (!round.parts) return no_phases();
  // Part of the device's idle time may be outside all phases; the larger of the two counts nothing twice.
  const double outside = std::max(round.parts->outside, idle_device_steps(of));
  if (outside < thresholds::own_time_steps) return {};
  return {.outcome = Outcome::found,
          .figure = outside,
          .threshold = thresholds::own_time_steps,
          .cost = outside,
          .values = {{"outside", steps_text(outside, round.unit)},
                     {"time", duration_text(outside * round.unit_ns, Characters::ascii)}}};
}

Judgement judge_device_below_reading(const Evidence& of) {
  if (!of.on_device) return {};
  if (of.verification == nullptr || !of.verification->reading)
    return unjudged("the device did not time its operations (--device-trace operations)");
  const TimeOfOperations& time = *of.verification;
  if (*time.reading >= thresholds::device_read_share) return {};
  return {.outcome = Outcome::found,
          .figure = *time.reading,
          .threshold = thresholds::device_read_share,
          .values = {{"reading", share_text(*time.reading)},
                     {"before", share_text(time.before)},
                     {"waiting", share_text(time.waiting)},
                     {"longest", time.longest},
                     {"share", share_text(time.longest_share)}}};
}

Judgement judge_machine_busy(const Evidence& of) {
  const Interruptions found = interruptions({&of.rows, 1});
  if (!(found.all_ns > 0.0))
    return unjudged(fmt::format("it has no {} rounds of the same passes", thresholds::min_rounds_of_kind));
  const double share = found.share();
  if (!(share >= thresholds::interrupted_share) || !(share < 1.0)) return {};
  Judgement judgement{.outcome = Outcome::found,
                      .figure = share,
                      .threshold = thresholds::interrupted_share,
                      .values = {{"share", share_text(share)}}};
  if (of.round.takes) judgement.cost = share * *of.round.takes;
  return judgement;
}

Judgement judge_repeats_differ(const Evidence& of) {
  if (!of.figures.speedup) return no_vanilla_run();
  const Speedup& speedup = *of.figures.speedup;
  if (speedup.by_repeat.size() < 2) return unjudged("each prompt was decoded once, expected repeats");
  const double spread = (speedup.repeat_maximum - speedup.repeat_minimum) / speedup.repeat_median;
  if (!(spread >= thresholds::repeat_spread)) return {};
  return {.outcome = Outcome::found,
          .figure = spread,
          .threshold = thresholds::repeat_spread,
          .values = {{"low", speedup_text(speedup.repeat_minimum, Characters::ascii)},
                     {"high", speedup_text(speedup.repeat_maximum, Characters::ascii)},
                     {"spread", share_text(spread)}}};
}

Judgement judge_batch_too_large(const Evidence& of) {
  const double requests = requests_at_a_time(of.rows);
  if (requests < thresholds::batch) return {};
  if (!of.round.speedup) return no_vanilla_run();
  const double lost = 1.0 - *of.round.speedup;
  if (!(lost >= thresholds::min_cost_share)) return {};
  return {.outcome = Outcome::found,
          .figure = requests,
          .threshold = thresholds::batch,
          .cost = lost * *of.round.takes,
          .values = {{"batch", amount_text(requests)},
                     {"speedup", speedup_text(*of.round.speedup, Characters::ascii)}}};
}

}  // namespace draftscope::simulator
