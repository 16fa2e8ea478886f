// SPDX-License-Identifier: GPL-3.0-or-later
#include "prices/fit/pass_times.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace draftscope::simulator {

namespace {

struct Sum {
  double ns = 0.0;
  double steps = 0.0;
  double context = 0.0;  // Context summed over all steps.
  double passes = 0.0;

  void add(const PassTime& time) {
    ns += time.ns;
    steps += time.steps;
    context += time.steps * time.context;
    passes += 1.0;
  }
};

/// Times of one kind, without its interrupted passes.
struct Means {
  MeasuredPassKind kind;
  Sum sum;
  std::map<std::int64_t, Sum> by_block;
  double passes = 0.0;             // Number of passes, including interrupted ones.
  double deviation = 0.0;          // Relative deviation of one pass.
  double usual_ns_per_step = 0.0;  // Usual time; a pass far beyond it was interrupted.

  [[nodiscard]] double ns_per_step() const { return sum.ns / sum.steps; }
};

std::vector<double> times_per_step(const std::vector<PassTime>& times) {
  std::vector<double> a_step;
  a_step.reserve(times.size());
  for (const PassTime& time : times) a_step.push_back(time.ns / time.steps);
  return a_step;
}

Means means_of(const MeasuredPassKind& kind, const std::vector<PassTime>& times, double beyond_ns,
               double& interruptions_ns) {
  std::vector<double> a_step = times_per_step(times);
  Means means{.kind = kind};
  means.usual_ns_per_step = uninterrupted_medians * usual_of(a_step);
  means.passes = static_cast<double>(times.size());
  for (const PassTime& time : times) {
    if (time.ns > means.usual_ns_per_step * time.steps + beyond_ns) continue;
    means.sum.add(time);
    means.by_block[time.block].add(time);
  }
  double squares = 0.0;
  for (const PassTime& time : times) {
    const double excess_ns = time.ns - means.ns_per_step() * time.steps;
    if (time.ns > means.usual_ns_per_step * time.steps + beyond_ns)
      interruptions_ns += excess_ns;
    else
      squares += excess_ns * excess_ns;
  }
  means.deviation = std::sqrt(squares / means.sum.passes) * means.sum.passes / means.sum.ns;
  return means;
}

/// Times and their expected values at the means, over all kinds.
struct BlockTime {
  double ns = 0.0;
  double usual_ns = 0.0;
};
using BlockTimes = std::map<std::int64_t, BlockTime>;

BlockTimes block_times(const std::vector<Means>& kinds) {
  BlockTimes blocks;
  for (const Means& means : kinds)
    for (const auto& [block, of] : means.by_block) {
      blocks[block].ns += of.ns;
      blocks[block].usual_ns += of.steps * means.ns_per_step();
    }
  return blocks;
}

/// Squared relative deviation of a part of a block from `ratio` times its expected time, without the slowness
/// that the block's other passes show. Their own deviation is in that, too: if passes vary independently of
/// each other, it is the part's share of the block's time, and is taken out.
double own_variance(const BlockTime& part, const BlockTime& block, double ratio) {
  const double others_usual_ns = block.usual_ns - part.usual_ns;
  // With few other passes, the correction would add more noise than it removes.
  const bool has_others = others_usual_ns > 0.5 * part.usual_ns;
  const double slowness = has_others ? (block.ns - part.ns) / others_usual_ns : 1.0;
  const double deviation = part.ns / part.usual_ns / slowness / ratio - 1.0;
  return deviation * deviation * (has_others ? others_usual_ns / block.usual_ns : 1.0);
}

struct Scatter {
  double plain = 0.0;    ///< Σ over blocks of deviation².
  double weighed = 0.0;  ///< Σ (share of the steps · deviation)²: the mean's variance · (n − 1) / n
  double concentration = 0.0;  ///< Σ share²
};

Scatter scatter_of(const Means& means, const BlockTimes& blocks) {
  Scatter scatter;
  for (const auto& [block, of] : means.by_block) {
    const double usual_ns = of.steps * means.ns_per_step();
    const double share = of.steps / means.sum.steps;
    const double squared = own_variance({of.ns, usual_ns}, blocks.at(block), 1.0);
    scatter.plain += squared;
    scatter.weighed += share * share * squared;
    scatter.concentration += share * share;
  }
  return scatter;
}

constexpr double min_error = 0.002;
/// Relative error of kinds whose few passes may all have been interrupted.
constexpr double hardly_measured = 0.5;

/// Minimum number of blocks that shows how much they differ.
constexpr double enough_blocks = 8.0;

/// Relative error of a mean. `deviation_of_blocks` is over all kinds; absent where the recording is too short
/// for it.
double relative_error(const Means& means, const Scatter& scatter,
                      const std::optional<double>& deviation_of_blocks) {
  if (means.passes < static_cast<double>(min_for_median)) return hardly_measured;
  const auto blocks = static_cast<double>(means.by_block.size());
  double error = dependence_of_passes * means.deviation / std::sqrt(means.sum.passes);
  if (blocks >= enough_blocks)
    error = std::sqrt(scatter.weighed * blocks / (blocks - 1.0));
  else if (deviation_of_blocks)
    error = *deviation_of_blocks * std::sqrt(scatter.concentration);
  return std::max(error, min_error);
}

/// Error of each run's time, over its uninterrupted passes.
std::vector<MeasuredRun> runs_of(const PassTimes& times, const std::vector<Means>& kinds, double beyond_ns,
                                 const BlockTimes& blocks) {
  // A round without a draft has the price of a vanilla one.
  const auto vanilla =
      std::find_if(kinds.begin(), kinds.end(), [](const Means& means) { return means.kind.is_vanilla; });
  std::map<traces::RunId, BlockTimes> by_run;
  for (const Means& means : kinds) {
    const bool as_vanilla = vanilla != kinds.end() && !means.kind.is_draft && means.kind.rows == 1;
    const double priced_ns = as_vanilla ? vanilla->ns_per_step() : means.ns_per_step();
    for (const PassTime& time : times.at(means.kind)) {
      if (time.ns > means.usual_ns_per_step * time.steps + beyond_ns) continue;
      BlockTime& sum = by_run[time.run_id][time.block];
      sum.ns += time.ns;
      sum.usual_ns += time.steps * priced_ns;
    }
  }
  std::vector<MeasuredRun> runs;
  for (const auto& [run_id, of] : by_run) {
    BlockTime all;
    for (const auto& [block, time] : of) {
      all.ns += time.ns;
      all.usual_ns += time.usual_ns;
    }
    const double ratio = all.ns / all.usual_ns;
    double variance = 0.0;
    for (const auto& [block, time] : of) {
      const double share = time.usual_ns / all.usual_ns;
      variance += share * share * own_variance(time, blocks.at(block), ratio);
    }
    MeasuredRun measured{.run_id = run_id, .blocks = static_cast<double>(of.size())};
    if (measured.blocks > 1.0)
      measured.relative_error = std::sqrt(variance * measured.blocks / (measured.blocks - 1.0));
    runs.push_back(measured);
  }
  return runs;
}

}  // namespace

double interruption_ns(const PassTimes& times, bool is_busy) {
  constexpr double target_steps = 4.0;
  double shortest = 0.0;
  double longest = 0.0;
  for (const auto& [kind, of_kind] : times) {
    if (of_kind.size() < min_for_median) continue;
    std::vector<double> all;
    all.reserve(of_kind.size());
    for (const PassTime& time : of_kind) all.push_back(time.ns);
    const double median = usual_of(all);
    longest = std::max(longest, median);
    if (!kind.is_draft && (shortest == 0.0 || median < shortest)) shortest = median;
  }
  return std::max(target_steps * shortest, is_busy ? longest : 0.0);
}

MeasuredPasses measure(const PassTimes& times, double beyond_ns,
                       const std::function<CostVector(const MeasuredPassKind& kind, double steps,
                                                      double context)>& coefficients) {
  MeasuredPasses result;
  std::vector<Means> kinds;
  for (const auto& [kind, of_kind] : times)
    kinds.push_back(means_of(kind, of_kind, beyond_ns, result.interruptions_ns));
  const BlockTimes blocks = block_times(kinds);
  std::vector<Scatter> scatters;
  double sum = 0.0;
  double freedom = 0.0;
  for (const Means& means : kinds) {
    scatters.push_back(scatter_of(means, blocks));
    sum += scatters.back().plain;
    freedom += static_cast<double>(means.by_block.size()) - 1.0;
  }
  std::optional<double> deviation;
  if (freedom >= enough_blocks) deviation = std::sqrt(sum / freedom);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const Means& means = kinds[i];
    const Sum& of = means.sum;
    result.passes.push_back(
        {.kind = means.kind,
         .coefficients = coefficients(means.kind, of.steps / of.passes, of.context / of.steps),
         .ns = of.ns / of.passes,
         .relative_error = relative_error(means, scatters[i], deviation),
         .passes = means.passes});
  }
  result.runs = runs_of(times, kinds, beyond_ns, blocks);
  return result;
}

}  // namespace draftscope::simulator
