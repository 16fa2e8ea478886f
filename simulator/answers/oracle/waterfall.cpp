// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/speedup.h>
#include <draftscope/simulator/answers/waterfall.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/figures/resampling.h"
#include "answers/oracle/oracle.h"
#include "answers/oracle/price_of_time.h"
#include "answers/oracle/text_rounds.h"

namespace draftscope::simulator {

namespace {

using Times = std::vector<double>;

// Number of parts for progress.
constexpr std::size_t oracles = 5;
constexpr std::size_t steps = 12;

double total(const Times& times) {
  return std::accumulate(times.begin(), times.end(), 0.0);
}

/// The ratios of a waterfall, over prompts. Prompts whose texts have one token take no time at any level; a
/// draw of such prompts alone would have no ratio, so that none is drawn.
class Ratios {
 public:
  Ratios(const std::vector<std::size_t>& prompts, const Times& vanilla, const Times& oracle, int resamples)
      : resamples_(resamples) {
    std::map<std::size_t, std::size_t> places;
    for (std::size_t i = 0; i < prompts.size(); ++i)
      if (vanilla[i] > 0.0) places.emplace(prompts[i], places.size());
    count_ = places.size();
    for (const std::size_t prompt : prompts) {
      const auto place = places.find(prompt);
      places_.push_back(place == places.end() ? std::nullopt : std::optional(place->second));
    }
    vanilla_ = by_prompt(vanilla);
    oracle_ = by_prompt(oracle);
  }

  [[nodiscard]] WaterfallFigure speedup(const Times& times) const {
    return figure(
        [&, mine = by_prompt(times)](Drawn drawn) { return sum(vanilla_, drawn) / sum(mine, drawn); });
  }
  [[nodiscard]] WaterfallFigure of_oracle(const Times& times) const {
    return figure(
        [&, mine = by_prompt(times)](Drawn drawn) { return sum(oracle_, drawn) / sum(mine, drawn); });
  }
  [[nodiscard]] std::optional<WaterfallFigure> efficiency(const Times& times) const {
    if (total(vanilla_) / total(oracle_) - 1.0 < min_oracle_gain) return std::nullopt;
    // A draw may consist only of prompts on which the oracle gains nothing.
    for (std::size_t prompt = 0; prompt < count_; ++prompt)
      if (!(oracle_[prompt] < vanilla_[prompt])) return total_efficiency(times);
    return figure([&, mine = by_prompt(times)](Drawn drawn) {
      const double vanilla = sum(vanilla_, drawn);
      return (vanilla / sum(mine, drawn) - 1.0) / (vanilla / sum(oracle_, drawn) - 1.0);
    });
  }
  [[nodiscard]] WaterfallFigure gap(const Times& slower, const Times& faster) const {
    return figure([&, a = by_prompt(slower), b = by_prompt(faster)](Drawn drawn) {
      const double vanilla = sum(vanilla_, drawn);
      return vanilla / sum(b, drawn) - vanilla / sum(a, drawn);
    });
  }

 private:
  using Drawn = std::span<const std::size_t>;

  [[nodiscard]] Times by_prompt(const Times& times) const {
    Times sums(count_);
    for (std::size_t i = 0; i < times.size(); ++i)
      if (places_[i]) sums[*places_[i]] += times[i];
    return sums;
  }
  static double sum(const Times& times, Drawn drawn) {
    double total = 0.0;
    for (const std::size_t i : drawn) total += times[i];
    return total;
  }

  [[nodiscard]] std::optional<WaterfallFigure> total_efficiency(const Times& times) const {
    const double vanilla = total(vanilla_);
    return WaterfallFigure{(vanilla / total(times) - 1.0) / (vanilla / total(oracle_) - 1.0), std::nullopt};
  }

  template <typename Statistic>
  [[nodiscard]] WaterfallFigure figure(const Statistic& statistic) const {
    std::vector<std::size_t> all(count_);
    std::iota(all.begin(), all.end(), std::size_t{0});
    WaterfallFigure result{statistic(all), std::nullopt};
    if (count_ >= min_prompts_for_interval && resamples_ > 0)
      result.interval = bootstrap_95(count_, statistic, resamples_);
    return result;
  }

  std::vector<std::optional<std::size_t>> places_;  // [request]
  std::size_t count_ = 0;
  Times vanilla_;
  Times oracle_;
  int resamples_ = 0;
};

Result<Times> times_of(const std::vector<RoundStatistics>& requests, const Prices& prices) {
  Times times;
  for (const RoundStatistics& statistics : requests) {
    DRAFTSCOPE_TRY_ASSIGN(const double time, checked_time_ns(statistics, prices));
    times.push_back(time);
  }
  return times;
}

/// Times of the setting that `setting_of(request)` names.
template <typename SettingOf>
Times times_of(const SettingMatrix& matrix, const Prices& prices, SettingOf setting_of) {
  Times times;
  for (std::size_t i = 0; i < matrix.statistics.size(); ++i)
    times.push_back(time_ns(matrix.statistics[i][setting_of(i)], prices));
  return times;
}

/// Counts parts of the work; each pass over a text is one part.
class WaterfallProgress {
 public:
  using Listener = std::function<bool(std::int64_t, std::int64_t)>;

  explicit WaterfallProgress(const Listener& listener) : listener_(listener) {}

  void expect(std::size_t parts) { all_ += static_cast<std::int64_t>(parts); }
  /// Returns false to stop.
  [[nodiscard]] bool advance(std::size_t parts = 1) {
    done_ = std::min(done_ + static_cast<std::int64_t>(parts), all_);
    return !listener_ || listener_(done_, all_);
  }

 private:
  const Listener& listener_;
  std::int64_t done_ = 0;
  std::int64_t all_ = 0;
};

/// The fastest setting that drafts, over all requests; exit 0 if there is none.
FixedSetting best_drafting(const SettingMatrix& matrix, const Prices& prices) {
  FixedSetting best;
  double least = 0.0;
  for (std::size_t i = 0; i < matrix.settings.size(); ++i) {
    if (matrix.settings[i].length == 0) continue;
    const double time = total(times_of(matrix, prices, [&](std::size_t) { return i; }));
    if (best.exit == 0 || time < least) {
      best = matrix.settings[i];
      least = time;
    }
  }
  return best;
}

std::vector<std::int32_t> exits_used(const RoundStatistics& statistics) {
  std::vector<std::int32_t> exits;
  for (const DraftStatistics& draft : statistics.drafts)
    if (draft.steps.passes > 0) exits.push_back(draft.exit);
  return exits;
}

/// Builds one waterfall; each step needs the previous ones.
class WaterfallMaker {
 public:
  WaterfallMaker(std::span<const WaterfallRequest> requests, const Prices& prices,
                 const WaterfallPolicy* policy, const WaterfallOptions& options)
      : requests_(requests),
        prices_(prices),
        policy_(policy),
        options_(options),
        progress_(options.progress) {}

  Result<Waterfall> make() {
    DRAFTSCOPE_TRY(check());
    DRAFTSCOPE_TRY(choose_range());
    expect_parts();
    DRAFTSCOPE_TRY(add_settings());
    if (policy_ != nullptr) {
      DRAFTSCOPE_TRY_ASSIGN(Times times, times_of(policy_->requests, prices_));
      add(WaterfallLevel::policy, std::move(times), policy_->status);
    }
    DRAFTSCOPE_TRY(add_rules());
    DRAFTSCOPE_TRY(add_oracles());
    DRAFTSCOPE_TRY(measure());
    return std::move(result_);
  }

 private:
  Result<void> check() {
    if (requests_.empty()) return fail("waterfall: found no request, expected a finished one");
    if (policy_ != nullptr && policy_->requests.size() != requests_.size())
      return fail("waterfall: the policy has {} requests, expected {}", policy_->requests.size(),
                  requests_.size());
    for (const WaterfallRequest& request : requests_) tables_.push_back(request.table);
    return {};
  }

  /// Chooses the exits and lengths of all levels.
  Result<void> choose_range() {
    range_.exits = options_.exits;
    range_.longest = options_.longest;
    if (policy_ != nullptr) cover(*policy_);
    for (const ShadowTable* table : tables_) {
      DRAFTSCOPE_TRY_ASSIGN(const OracleChoices choices, oracle_choices(*table, prices_, range_));
      if (choices.exits.empty() || choices.lengths.empty())
        return fail("waterfall: found no exit and length with prices, expected one");
      if (!exits_.empty() && exits_ != choices.exits)
        return fail("waterfall: request {} has {} layers, expected the same model throughout",
                    table->request_id, table->n_layers);
      exits_ = choices.exits;
      lengths_ = choices.lengths;
    }
    range_.exits = exits_;
    range_.lengths = lengths_;
    return {};
  }

  /// Adds the policy's choices to those of the oracle, so that the bound holds for it.
  void cover(const WaterfallPolicy& policy) {
    for (const RoundStatistics& statistics : policy.requests) {
      for (const DraftStatistics& draft : statistics.drafts)
        for (std::size_t rows = 2; rows < draft.verify.size(); ++rows)
          if (draft.verify[rows].passes > 0)
            range_.longest = std::max(range_.longest, static_cast<std::int32_t>(rows) - 1);
      if (options_.exits.empty()) continue;
      for (const std::int32_t exit : exits_used(statistics)) range_.exits.push_back(exit);
    }
  }

  /// Counts the parts: all settings, rules fitted to all texts and to those outside each fold, oracles,
  /// resamples.
  void expect_parts() {
    prompts_ = prompt_numbers(requests_);
    folds_ = fold_count(*std::max_element(prompts_.begin(), prompts_.end()) + 1, options_.folds);
    const std::size_t texts = tables_.size();
    constexpr std::size_t fits_of_a_rule = 2;
    const std::size_t rules = exits_.size() * (options_.thresholds.size() + fits_of_a_rule);
    progress_.expect(texts + rules * texts * std::max<std::size_t>(folds_, 2) + oracles * texts +
                     steps * texts);
  }

  Result<void> add_settings() {
    DRAFTSCOPE_TRY_ASSIGN(matrix_,
                          setting_matrix(tables_, exits_, lengths_, [this] { return progress_.advance(); }));
    std::vector<std::string> categories;
    for (const WaterfallRequest& request : requests_) categories.push_back(request.category);
    DRAFTSCOPE_TRY_ASSIGN(result_.best, best_settings(matrix_, categories, prices_));
    const BestSettings& best = result_.best;
    const auto add_choice = [&](WaterfallLevel level, const auto& setting_of) {
      add(level, times_of(matrix_, prices_, setting_of), AnswerStatus::exact);
    };
    add_choice(WaterfallLevel::vanilla, [](std::size_t) { return std::size_t{0}; });
    if (!(total(result_.steps.front().times_ns) > 0.0))
      return fail("waterfall: found no token after the first in any request, expected one");
    add_choice(WaterfallLevel::best_global, [&](std::size_t) { return best.global; });
    add_choice(WaterfallLevel::best_by_category,
               [&](std::size_t i) { return best.by_category.at(requests_[i].category); });
    add_choice(WaterfallLevel::best_by_request, [&](std::size_t i) { return best.by_request[i]; });
    result_.settings = matrix_.settings;
    return {};
  }

  Result<void> add_rules() {
    const RuleSearch search{.exits = exits_,
                            .longest = lengths_.back(),
                            .bins = options_.bins,
                            .thresholds = options_.thresholds,
                            .go_on = [this] { return progress_.advance(); }};
    result_.folds = static_cast<std::int32_t>(folds_);
    DRAFTSCOPE_TRY_ASSIGN(result_.threshold, fit_single_threshold(tables_, prices_, search));
    DRAFTSCOPE_TRY_ASSIGN(CrossFitted single, cross_fit_single_threshold(requests_, prices_, search, folds_));
    add(WaterfallLevel::single_threshold, std::move(single));
    DRAFTSCOPE_TRY_ASSIGN(CrossFitted rule, cross_fit_prefix_rule(requests_, prices_, search, folds_));
    add(WaterfallLevel::causal_rule, std::move(rule));
    return {};
  }

  Result<void> add_oracles() {
    const FixedSetting drafting = best_drafting(matrix_, prices_);
    OracleOptions perfect = range_;
    perfect.perfect_drafts = true;
    OracleOptions one_length = range_;
    one_length.lengths = {drafting.length};
    const auto at_exits = [&](std::size_t i) {
      OracleOptions options = range_;
      options.exits = policy_ != nullptr ? exits_used(policy_->requests[i]) : std::vector{drafting.exit};
      // A policy that drafted nowhere leaves nothing to choose, whereas an empty list of exits would mean
      // all.
      if (options.exits.empty()) options.max_rows = 1;
      return options;
    };
    const auto same = [](const OracleOptions& options) { return [&](std::size_t) { return options; }; };
    DRAFTSCOPE_TRY(add_oracle(WaterfallLevel::oracle_length, prices_, at_exits));
    DRAFTSCOPE_TRY(add_oracle(WaterfallLevel::oracle_exit, prices_, same(one_length)));
    DRAFTSCOPE_TRY(add_oracle(WaterfallLevel::oracle, prices_, same(range_)));
    DRAFTSCOPE_TRY(add_oracle(WaterfallLevel::free_drafts, free_drafts(prices_), same(range_)));
    DRAFTSCOPE_TRY(add_oracle(WaterfallLevel::perfect_drafts, prices_, same(perfect)));
    // No recording could show these rounds.
    result_.steps.back().status = AnswerStatus::approximate;
    return {};
  }

  /// Adds the oracle's times under the options that `options_of(request)` returns.
  template <typename OptionsOf>
  Result<void> add_oracle(WaterfallLevel level, const Prices& prices, const OptionsOf& options_of) {
    Times times;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      DRAFTSCOPE_TRY_ASSIGN(const double time, oracle_time_ns(*requests_[i].table, prices, options_of(i)));
      times.push_back(time);
      if (!progress_.advance()) return fail("waterfall: stopped");
    }
    add(level, std::move(times), AnswerStatus::exact);
    return {};
  }

  void add(WaterfallLevel level, Times times, AnswerStatus status) {
    result_.steps.push_back({.level = level,
                             .status = status,
                             .times_ns = std::move(times),
                             .speedup = {},
                             .of_oracle = {},
                             .efficiency = {},
                             .bounds = {}});
  }

  void add(WaterfallLevel level, CrossFitted fitted) {
    add(level, std::move(fitted.modelled_ns), fitted.status);
    if (fitted.status == AnswerStatus::exact) return;
    const double vanilla = total(result_.steps.front().times_ns);
    const double a = vanilla / total(fitted.max_ns);
    const double b = vanilla / total(fitted.min_ns);
    // Fewer draft tokens are not always faster, since verification may fall in price with its width.
    result_.steps.back().bounds = Interval{std::min(a, b), std::max(a, b)};
  }

  [[nodiscard]] const Times& times_at(WaterfallLevel level) const {
    return std::find_if(result_.steps.begin(), result_.steps.end(),
                        [&](const WaterfallStep& step) { return step.level == level; })
        ->times_ns;
  }

  Result<void> measure() {
    const Times& vanilla = times_at(WaterfallLevel::vanilla);
    const Times& oracle = times_at(WaterfallLevel::oracle);
    const Times& rule = times_at(WaterfallLevel::causal_rule);
    const Ratios ratios(prompts_, vanilla, oracle, options_.resamples);
    for (WaterfallStep& step : result_.steps) {
      step.speedup = ratios.speedup(step.times_ns);
      step.of_oracle = ratios.of_oracle(step.times_ns);
      step.efficiency = ratios.efficiency(step.times_ns);
      if (!progress_.advance(tables_.size())) return fail("waterfall: stopped");
    }
    WaterfallGaps& gaps = result_.gaps;
    gaps.tuning =
        ratios.gap(times_at(WaterfallLevel::best_global), times_at(WaterfallLevel::best_by_request));
    gaps.information = ratios.gap(rule, oracle);
    if (policy_ != nullptr) gaps.learning = ratios.gap(times_at(WaterfallLevel::policy), rule);
    gaps.hardware = ratios.gap(oracle, times_at(WaterfallLevel::free_drafts));
    std::int64_t tokens = 0;
    for (const std::vector<RoundStatistics>& row : matrix_.statistics) tokens += row.front().tokens;
    result_.price = static_cast<double>(tokens) / total(oracle);
    return {};
  }

  std::span<const WaterfallRequest> requests_;
  const Prices& prices_;
  const WaterfallPolicy* policy_;
  const WaterfallOptions& options_;
  WaterfallProgress progress_;
  std::size_t folds_ = 1;
  std::vector<const ShadowTable*> tables_;
  std::vector<std::size_t> prompts_;
  std::vector<std::int32_t> exits_;
  std::vector<std::int32_t> lengths_;
  OracleOptions range_;
  SettingMatrix matrix_;
  Waterfall result_;
};

}  // namespace

std::string_view waterfall_level_name(WaterfallLevel level) {
  constexpr std::array<std::string_view, steps> names{"no speculation",
                                                      "best global setting",
                                                      "best setting by category",
                                                      "best setting by request",
                                                      "policy",
                                                      "best threshold",
                                                      "best causal rule",
                                                      "oracle length",
                                                      "oracle exit",
                                                      "oracle",
                                                      "free drafts",
                                                      "perfect drafts"};
  return names[static_cast<std::size_t>(level)];
}

Result<Waterfall> waterfall(std::span<const WaterfallRequest> requests, const Prices& prices,
                            const WaterfallPolicy* policy, const WaterfallOptions& options) {
  return WaterfallMaker(requests, prices, policy, options).make();
}

}  // namespace draftscope::simulator
