// SPDX-License-Identifier: GPL-3.0-or-later
// Checks of the time of rounds, and of its disturbances.
#include <draftscope/traces/missing_data.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/explain/evidence.h"
#include "analysis/explain/interruptions.h"
#include "analysis/explain/thresholds.h"
#include "analysis/figures/request_rows.h"

namespace draftscope::simulator {

namespace {

using Outcome = Judgement::Outcome;

Judgement no_phases() {
  return unjudged("how a round's time splits is not in the recording");
}

/// Time of a mean round outside of its passes, in nanoseconds.
struct OutsideTime {
  double ns = 0.0;
  std::optional<double> vanilla_ns;  ///< Time of a vanilla round outside of its pass; absent = unknown.
  std::vector<std::pair<std::string_view, double>> places;  ///< Where it lies; they add up to `ns`.

  [[nodiscard]] double excess_ns() const { return ns - vanilla_ns.value_or(0.0); }
};

/// Time of a mean round within it that none of its phases has, in nanoseconds.
double between_phases_ns(const RunRows& rows, double rounds) {
  double ns = 0.0;
  for (const RequestRows& request : rows.requests) {
    const traces::RequestSum sum = sum_of_rounds(request);
    ns += static_cast<double>(sum.rounds_ns);
    for (const std::int64_t phase_ns :
         {sum.draft_ns, sum.verify_ns, sum.accept_ns, sum.optimise_ns, sum.control_ns})
      ns -= static_cast<double>(phase_ns);
  }
  return ns / rounds;
}

/// Time that no pass, decision or acceptance covers, by the host's clock. The round must have parts.
OutsideTime outside_on_host(const Evidence& of) {
  const auto rounds = static_cast<double>(of.round.rounds);
  OutsideTime outside{.ns = of.round.parts->outside * of.round.unit_ns, .vanilla_ns = {}, .places = {}};
  if (of.baseline != nullptr && of.passes.vanilla != nullptr) {
    const RoundAccount vanilla = round_account(*of.baseline, *of.passes.vanilla, of.meta);
    if (vanilla.parts) outside.vanilla_ns = vanilla.parts->outside * vanilla.unit_ns;
  }
  double left_ns = outside.ns;
  const auto put = [&](std::string_view where, double ns) {
    outside.places.emplace_back(where, std::min(std::max(ns, 0.0), left_ns));
    left_ns -= outside.places.back().second;
  };
  const auto sync = static_cast<std::size_t>(traces::Phase::sync);
  const double waited_ns = static_cast<double>(of.figures.breakdown.by_phase[sync]) / rounds;
  put("in phase sync", waited_ns);
  if (traces::is_missing(of.meta, traces::MissingData::round_times) ||
      traces::is_missing(of.meta, traces::MissingData::phase_times)) {
    put("between phases", left_ns);
  } else {
    put("between phases of a round", between_phases_ns(of.rows, rounds) - waited_ns);
    put("between rounds", left_ns);
  }
  return outside;
}

/// Time in which a round's device idles; absent unless it was recorded of the run and of vanilla decoding.
std::optional<OutsideTime> outside_on_device(const Evidence& of) {
  const DeviceTime& device = of.figures.device;
  const std::optional<double> run_ns = idle_device_ns(device);
  const std::optional<double> vanilla_ns =
      of.baseline == nullptr ? std::nullopt : idle_device_ns(of.baseline->device);
  if (!run_ns || !vanilla_ns) return std::nullopt;
  const auto per_round = [&](std::int64_t ns) {
    return static_cast<double>(ns) / static_cast<double>(device.rounds);
  };
  return OutsideTime{
      .ns = *run_ns,
      .vanilla_ns = vanilla_ns,
      .places = {{"with the host alone, before a round's first kernel and after its last",
                  per_round(device.host_ns)},
                 {"in the device's gaps before launches", per_round(device.gap_launch_ns)},
                 {"in the device's gaps between kernels", per_round(device.gap_ns - device.gap_launch_ns)}}};
}

/// "between rounds (300 us), in phase sync (20.0 us)"; without places of less than a hundredth of the time.
std::string places_text(const OutsideTime& outside) {
  constexpr double worth_naming = 0.01;
  std::string text;
  for (const auto& [where, ns] : outside.places)
    if (ns >= worth_naming * outside.ns)
      text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", where, duration_text(ns, Characters::ascii));
  return text;
}

/// "236 us of a vanilla round: 0.07 vanilla steps more (89.0 us)".
std::string beside_vanilla_text(const OutsideTime& outside, const RoundAccount& round) {
  const std::string steps = steps_text(outside.excess_ns() / round.unit_ns, round.unit);
  if (!outside.vanilla_ns) return steps + "; those of a vanilla round are not in the recording";
  constexpr double shown_ns = 0.5;
  return fmt::format(
      "{} of a vanilla round: {} more ({})",
      *outside.vanilla_ns < shown_ns ? "none" : duration_text(*outside.vanilla_ns, Characters::ascii), steps,
      duration_text(outside.excess_ns(), Characters::ascii));
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

std::optional<double> idle_device_ns(const DeviceTime& device) {
  if (device.rounds < 1) return std::nullopt;
  return (static_cast<double>(device.gap_ns) + static_cast<double>(device.host_ns)) /
         static_cast<double>(device.rounds);
}

Judgement judge_deciding_dear(const Evidence& of) {
  const RoundAccount& round = of.round;
  if (!round.parts) return no_phases();
  if (!round.speedup) return no_vanilla_step(of);
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
  if (round.unit != RoundUnit::vanilla_step) return no_vanilla_step(of);
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
  OutsideTime outside = outside_on_host(of);
  // Part of the device's idle time may be outside all phases; the larger of the two counts nothing twice.
  if (std::optional<OutsideTime> idle = outside_on_device(of);
      idle && idle->excess_ns() > outside.excess_ns())
    outside = *std::move(idle);
  const double excess = outside.excess_ns() / round.unit_ns;
  if (excess < thresholds::own_time_steps) return {};
  return {.outcome = Outcome::found,
          .figure = excess,
          .threshold = thresholds::own_time_steps,
          .cost = excess,
          .values = {{"outside", duration_text(outside.ns, Characters::ascii)},
                     {"beside_vanilla", beside_vanilla_text(outside, round)},
                     {"places", places_text(outside)}}};
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

std::optional<double> uninterrupted_takes(const Evidence& of) {
  if (!of.round.takes || of.passes.vanilla == nullptr) return std::nullopt;
  const Interruptions vanilla = interruptions({of.passes.vanilla, 1});
  if (!(vanilla.all_ns > 0.0) || !(vanilla.share() < 1.0)) return std::nullopt;
  return *of.round.takes * (1.0 - interruptions({&of.rows, 1}).share()) / (1.0 - vanilla.share());
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
                      .without = "interruptions of this run and of vanilla decoding",
                      .values = {{"share", share_text(share)}}};
  if (of.round.takes) judgement.cost = share * *of.round.takes;
  if (const std::optional<double> takes = uninterrupted_takes(of); takes && of.round.speedup)
    judgement.speedup_instead = *of.round.yields / *takes;
  return judgement;
}

Judgement judge_repeats_differ(const Evidence& of) {
  if (!of.figures.speedup)
    return of.baseline == nullptr ? no_vanilla_step(of)
                                  : unjudged("no request of it is timed beside a vanilla one of its prompt");
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
  if (!of.round.speedup) return no_vanilla_step(of);
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
