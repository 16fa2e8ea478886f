// SPDX-License-Identifier: GPL-3.0-or-later
#include "pass_times.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "observation_groups.h"

namespace draftscope::simulator {

namespace {

struct Sum {
  double ns = 0.0;
  double steps = 0.0;
  double context = 0.0;  // of all steps
  double passes = 0.0;

  void add(const PassTime& time) {
    ns += time.ns;
    steps += time.steps;
    context += time.steps * time.context;
    passes += 1.0;
  }
};

/// Of one kind, without its interrupted passes.
struct Means {
  PassKind kind;
  Sum sum;
  std::map<std::int64_t, Sum> by_request;
  double passes = 0.0;  // interrupted ones included

  [[nodiscard]] double ns_a_step() const { return sum.ns / sum.steps; }
};

std::vector<double> times_a_step(const std::vector<PassTime>& times) {
  std::vector<double> a_step;
  a_step.reserve(times.size());
  for (const PassTime& time : times) a_step.push_back(time.ns / time.steps);
  return a_step;
}

Means means_of(const PassKind& kind, const std::vector<PassTime>& times, double beyond_ns,
               double& interruptions_ns) {
  std::vector<double> a_step = times_a_step(times);
  const double usual = times.size() < fewest_for_median ? std::numeric_limits<double>::infinity()
                                                        : uninterrupted_medians * median_of(a_step);
  Means means{.kind = kind};
  means.passes = static_cast<double>(times.size());
  for (const PassTime& time : times) {
    if (time.ns > usual * time.steps + beyond_ns) continue;
    means.sum.add(time);
    means.by_request[time.request].add(time);
  }
  for (const PassTime& time : times)
    if (time.ns > usual * time.steps + beyond_ns)
      interruptions_ns += time.ns - means.ns_a_step() * time.steps;
  return means;
}

/// Σ over requests of (its mean / the mean − 1)².
double scatter(const Means& means) {
  double sum = 0.0;
  for (const auto& [request, of] : means.by_request) {
    const double deviation = of.ns / (of.steps * means.ns_a_step()) - 1.0;
    sum += deviation * deviation;
  }
  return sum;
}

/// The same, weighed by shares of the steps: the variance of the mean, but for a factor n / (n − 1).
double weighed_scatter(const Means& means) {
  double sum = 0.0;
  for (const auto& [request, of] : means.by_request) {
    const double deviation = of.ns / (of.steps * means.ns_a_step()) - 1.0;
    const double share = of.steps / means.sum.steps;
    sum += share * share * deviation * deviation;
  }
  return sum;
}

double sum_of_squared_shares(const Means& means) {
  double sum = 0.0;
  for (const auto& [request, of] : means.by_request) {
    const double share = of.steps / means.sum.steps;
    sum += share * share;
  }
  return sum;
}

constexpr double least_error = 0.002;
/// Of kinds whose few passes may all have been interrupted.
constexpr double hardly_measured = 0.5;

double relative_error(const Means& means, double deviation_of_requests) {
  if (means.passes < static_cast<double>(fewest_for_median)) return hardly_measured;
  constexpr std::size_t enough_requests = 8;
  const auto requests = static_cast<double>(means.by_request.size());
  const double variance = means.by_request.size() >= enough_requests
                              ? weighed_scatter(means) * requests / (requests - 1.0)
                              : deviation_of_requests * deviation_of_requests * sum_of_squared_shares(means);
  return std::max(std::sqrt(variance), least_error);
}

}  // namespace

double interruption_ns(const PassTimes& times) {
  constexpr double target_steps = 4.0;
  double shortest = 0.0;
  for (const auto& [kind, of_kind] : times) {
    if (kind.is_draft || of_kind.size() < fewest_for_median) continue;
    std::vector<double> a_step = times_a_step(of_kind);
    const double median = median_of(a_step);
    if (shortest == 0.0 || median < shortest) shortest = median;
  }
  return target_steps * shortest;
}

MeasuredPasses measure(
    const PassTimes& times,
    const std::function<CostVector(const PassKind& kind, double steps, double context)>& coefficients) {
  MeasuredPasses result;
  std::vector<Means> kinds;
  const double beyond_ns = interruption_ns(times);
  double scatters = 0.0;
  double freedom = 0.0;
  for (const auto& [kind, of_kind] : times) {
    kinds.push_back(means_of(kind, of_kind, beyond_ns, result.interruptions_ns));
    scatters += scatter(kinds.back());
    freedom += static_cast<double>(kinds.back().by_request.size()) - 1.0;
  }
  constexpr double unknown_deviation = 0.1;
  const double deviation = freedom > 0.0 ? std::sqrt(scatters / freedom) : unknown_deviation;
  for (const Means& means : kinds) {
    const Sum& sum = means.sum;
    result.passes.push_back(
        {.kind = means.kind,
         .coefficients = coefficients(means.kind, sum.steps / sum.passes, sum.context / sum.steps),
         .ns = sum.ns / sum.passes,
         .relative_error = relative_error(means, deviation),
         .passes = means.passes});
  }
  return result;
}

}  // namespace draftscope::simulator
