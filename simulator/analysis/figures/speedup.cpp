// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/speedup.h>

#include <draftscope/base/statistics.h>
#include <draftscope/simulator/analysis/comparison.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/figures/resampling.h"

namespace draftscope::simulator {

namespace {

/// Tokens and time of both sides, summed over pairs.
struct Sums {
  double baseline_tokens = 0.0;
  double baseline_ns = 0.0;
  double comparison_tokens = 0.0;
  double comparison_ns = 0.0;

  Sums& operator+=(const Sums& other) {
    baseline_tokens += other.baseline_tokens;
    baseline_ns += other.baseline_ns;
    comparison_tokens += other.comparison_tokens;
    comparison_ns += other.comparison_ns;
    return *this;
  }
  [[nodiscard]] bool is_usable() const {
    return baseline_tokens > 0 && baseline_ns > 0 && comparison_tokens > 0 && comparison_ns > 0;
  }
  /// Ratio of tokens per second; of wall times if the numbers of tokens are equal.
  [[nodiscard]] double speed_ratio() const {
    return (comparison_tokens / comparison_ns) / (baseline_tokens / baseline_ns);
  }
};

Sums whole_request(const RequestPair& pair) {
  if (!pair.known.wall_times) return {};
  const auto tokens = [](const traces::Request& r) { return static_cast<double>(r.tokens.size()); };
  const auto time = [](const traces::Request& r) { return static_cast<double>(r.end_ns - r.start_ns); };
  return {tokens(*pair.baseline), time(*pair.baseline), tokens(*pair.comparison), time(*pair.comparison)};
}

Sums after_first_token(const RequestPair& pair) {
  if (!pair.known.wall_times || !pair.known.first_token_times) return {};
  const auto tokens = [](const traces::Request& r) {
    return r.tokens.empty() || r.first_token_ns <= 0 ? 0.0 : static_cast<double>(r.tokens.size() - 1);
  };
  const auto time = [](const traces::Request& r) {
    return r.first_token_ns <= 0 ? 0.0 : static_cast<double>(r.end_ns - r.first_token_ns);
  };
  return {tokens(*pair.baseline), time(*pair.baseline), tokens(*pair.comparison), time(*pair.comparison)};
}

/// Sums of all prompts, with cached logarithms that a bootstrap needs thousands of times.
struct Prompts {
  explicit Prompts(std::vector<Sums> sums) : by_prompt(std::move(sums)) {
    for (const Sums& prompt : by_prompt) log_ratios.push_back(std::log(prompt.speed_ratio()));
  }
  std::vector<Sums> by_prompt;
  std::vector<double> log_ratios;  ///< [prompt]
};

/// Value of the prompts in `drawn`, with repetition.
double value_of(const Prompts& prompts, std::span<const std::size_t> drawn, SpeedupEstimator estimator) {
  if (estimator == SpeedupEstimator::total_wall_time) {
    Sums total;
    for (const std::size_t prompt : drawn) total += prompts.by_prompt[prompt];
    return total.speed_ratio();
  }
  double log_sum = 0.0;
  for (const std::size_t prompt : drawn) log_sum += prompts.log_ratios[prompt];
  return std::exp(log_sum / static_cast<double>(drawn.size()));
}

/// Value of all prompts, once each.
double value_of(const Prompts& prompts, SpeedupEstimator estimator) {
  std::vector<std::size_t> indices(prompts.by_prompt.size());
  for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = i;
  return value_of(prompts, indices, estimator);
}

/// Sums per prompt of the pairs that `measure` can use; prompts without any are left out.
template <typename Measure>
std::vector<Sums> sums_by_prompt(std::span<const RequestPair* const> pairs, Measure measure) {
  std::map<std::size_t, Sums> by_prompt;
  for (const RequestPair* pair : pairs)
    if (const Sums sums = measure(*pair); sums.is_usable()) by_prompt[pair->prompt_index] += sums;
  std::vector<Sums> sums;
  sums.reserve(by_prompt.size());
  for (const auto& [prompt, value] : by_prompt) sums.push_back(value);
  return sums;
}

std::optional<Interval> interval_of(const Prompts& prompts, SpeedupEstimator estimator) {
  if (prompts.by_prompt.size() < min_prompts_for_interval) return std::nullopt;
  return bootstrap_95(prompts.by_prompt.size(), [&](std::span<const std::size_t> drawn) {
    return value_of(prompts, drawn, estimator);
  });
}

void add_repeats(Speedup& result, std::span<const RequestPair* const> pairs) {
  std::map<std::int32_t, std::vector<const RequestPair*>> repeats;
  for (const RequestPair* pair : pairs) repeats[pair->baseline->repeat].push_back(pair);
  for (const auto& [repeat, repeat_pairs] : repeats) {
    const Prompts prompts(sums_by_prompt(repeat_pairs, whole_request));
    result.by_repeat.push_back(value_of(prompts, result.estimator));
  }
  result.repeat_median = mean_median(std::vector(result.by_repeat));
  const auto [minimum, maximum] = std::ranges::minmax(result.by_repeat);
  result.repeat_minimum = minimum;
  result.repeat_maximum = maximum;
}

/// Text, and index among the prompts with this text (0 except for repeated texts).
using PromptKey = std::pair<std::string_view, std::size_t>;

std::map<std::pair<PromptKey, std::int32_t>, const RequestRows*> requests_by_key(const RunRows& run) {
  std::map<std::string_view, std::set<traces::PromptId>> ids_of_text;
  for (const RequestRows& rows : run.requests) ids_of_text[rows.prompt->text].insert(rows.prompt->id);
  std::map<std::pair<PromptKey, std::int32_t>, const RequestRows*> requests;
  for (const RequestRows& rows : run.requests) {
    const std::set<traces::PromptId>& ids = ids_of_text[rows.prompt->text];
    const auto occurrence = static_cast<std::size_t>(std::distance(ids.begin(), ids.find(rows.prompt->id)));
    requests.emplace(std::pair{PromptKey{rows.prompt->text, occurrence}, rows.request->repeat}, &rows);
  }
  return requests;
}

KnownOfRequest known_of_both(const KnownOfRequest& a, const KnownOfRequest& b) {
  return {.wall_times = a.wall_times && b.wall_times,
          .first_token_times = a.first_token_times && b.first_token_times,
          .token_ids = a.token_ids && b.token_ids,
          .output_text = a.output_text && b.output_text};
}

/// The fastest of runs that are restricted to one category; `baseline` is one of them.
std::optional<Winner> winner_of(const std::vector<RunRows>& runs, std::size_t baseline) {
  std::vector<std::pair<double, std::size_t>> fastest{{1.0, baseline}};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i == baseline) continue;
    const auto over_vanilla = speedup(pair_requests(Baseline(runs[baseline]), Comparison(runs[i])));
    if (over_vanilla) fastest.emplace_back(over_vanilla->value, i);
  }
  if (fastest.size() < 2) return std::nullopt;
  std::stable_sort(fastest.begin(), fastest.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  const RunRows& first = runs[fastest[0].second];
  const RunRows& second = runs[fastest[1].second];
  return Winner{.run = first.run,
                .runner_up = second.run,
                .lead = speedup(pair_requests(Baseline(second), Comparison(first)))};
}

}  // namespace

std::optional<Speedup> speedup(const Pairing& pairing) {
  std::vector<const RequestPair*> pairs;
  bool equal_lengths = true;
  for (const RequestPair& pair : pairing.pairs) {
    if (!whole_request(pair).is_usable()) continue;
    pairs.push_back(&pair);
    equal_lengths = equal_lengths && pair.baseline->tokens.size() == pair.comparison->tokens.size();
  }
  if (pairs.empty()) return std::nullopt;

  Speedup result;
  result.estimator = equal_lengths ? SpeedupEstimator::total_wall_time : SpeedupEstimator::prompt_mean;
  const Prompts prompts(sums_by_prompt(pairs, whole_request));
  result.value = value_of(prompts, result.estimator);
  result.prompts = prompts.by_prompt.size();
  result.pairs = pairs.size();
  result.unpaired = pairing.unpaired;
  add_repeats(result, pairs);

  result.interval = interval_of(prompts, result.estimator);
  if (result.interval) result.p_value = signed_rank_p_value(prompts.log_ratios);
  if (const Prompts decode(sums_by_prompt(pairs, after_first_token)); !decode.by_prompt.empty()) {
    result.decode_value = value_of(decode, result.estimator);
    result.decode_interval = interval_of(decode, result.estimator);
  }
  return result;
}

Pairing pair_requests(Baseline<RunRows> baseline, Comparison<RunRows> comparison) {
  const auto baseline_requests = requests_by_key(baseline.value);
  const auto comparison_requests = requests_by_key(comparison.value);
  Pairing pairing;
  const PromptKey* last = nullptr;
  for (const auto& [key, rows] : baseline_requests) {
    const auto partner = comparison_requests.find(key);
    if (partner == comparison_requests.end()) continue;
    if (last == nullptr || *last != key.first) ++pairing.prompts;
    last = &key.first;
    pairing.pairs.push_back({.baseline = rows->request,
                             .comparison = partner->second->request,
                             .prompt_index = pairing.prompts - 1,
                             .known = known_of_both(rows->known, partner->second->known)});
  }
  pairing.unpaired =
      baseline.value.requests.size() + comparison.value.requests.size() - 2 * pairing.pairs.size();
  return pairing;
}

std::optional<OutputIdentity> output_identity(const Pairing& pairing) {
  if (pairing.pairs.empty() ||
      !std::ranges::all_of(pairing.pairs, [](const RequestPair& pair) { return pair.known.token_ids; }))
    return std::nullopt;
  OutputIdentity identity;
  identity.compared_requests = pairing.pairs.size();
  identity.compared_prompts = pairing.prompts;
  std::set<std::size_t> differing;
  for (std::size_t i = 0; i < pairing.pairs.size(); ++i) {
    const auto& expected = pairing.pairs[i].baseline->tokens;
    const auto& found = pairing.pairs[i].comparison->tokens;
    if (expected == found) continue;
    const auto [position, other] =
        std::mismatch(expected.begin(), expected.end(), found.begin(), found.end());
    identity.differences.push_back({i, static_cast<std::size_t>(position - expected.begin())});
    differing.insert(pairing.pairs[i].prompt_index);
  }
  identity.differing_prompts = differing.size();
  return identity;
}

std::vector<Winner> winners(const traces::Recording& recording) {
  const std::vector<RunRows> runs = rows_by_run(recording);
  const RunRows* baseline = baseline_of(runs);
  if (baseline == nullptr) return {};
  const auto place = static_cast<std::size_t>(baseline - runs.data());
  std::vector<Winner> all;
  if (auto winner = winner_of(runs, place)) all.push_back(std::move(*winner));
  const std::vector<std::string> names = categories(*baseline);
  if (names.size() < 2) return all;
  for (const std::string& category : names) {
    std::vector<RunRows> parts;
    parts.reserve(runs.size());
    for (const RunRows& run : runs) parts.push_back(only_category(run, category));
    if (auto winner = winner_of(parts, place)) {
      winner->category = category;
      all.push_back(std::move(*winner));
    }
  }
  return all;
}

}  // namespace draftscope::simulator
