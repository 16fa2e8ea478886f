// SPDX-License-Identifier: GPL-3.0-or-later
#include "reproduce/searches.h"

#include <algorithm>
#include <map>

#include "terminal/numbers.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

using speculation::PolicyFile;
using speculation::SublayerMask;
using speculation::Trial;

bool is_better(const Trial* a, const Trial* b) {
  return a->measured.score > b->measured.score;
}

/// Layers whose attention, or whose MLP, the trial skips.
std::vector<std::int32_t> skipped_layers(const Trial& trial, bool (SublayerMask::*runs)(std::int32_t) const) {
  std::vector<std::int32_t> layers;
  const SublayerMask& mask = trial.candidate->mask;
  for (std::int32_t layer = 0; layer < mask.n_layers(); ++layer)
    if (!(mask.*runs)(layer)) layers.push_back(layer);
  return layers;
}

std::vector<std::int32_t> skipped_attentions(const Trial& trial) {
  return skipped_layers(trial, &SublayerMask::runs_attention);
}
std::vector<std::int32_t> skipped_mlps(const Trial& trial) {
  return skipped_layers(trial, &SublayerMask::runs_mlp);
}

/// Trials of sets whose scores can be compared, in their order.
std::vector<const Trial*> comparable_trials(const PolicyFile& policy) {
  std::int32_t prompts = 0;
  for (const Trial& trial : policy.trials)
    if (trial.candidate) prompts = std::max(prompts, trial.prompts);
  std::vector<const Trial*> trials;
  for (const Trial& trial : policy.trials)
    if (trial.candidate && trial.prompts == prompts) trials.push_back(&trial);
  return trials;
}

/// A letter a layer: '#' where it is skipped.
std::string map_text(std::int32_t n_layers, const std::vector<std::int32_t>& skipped) {
  std::string text(static_cast<std::size_t>(n_layers), '.');
  for (const std::int32_t layer : skipped) text[static_cast<std::size_t>(layer)] = '#';
  return text;
}

}  // namespace

std::vector<TrialsBySkipped> trials_by_skipped(const PolicyFile& policy) {
  std::map<std::int32_t, TrialsBySkipped> by_number;
  for (const Trial* trial : comparable_trials(policy)) {
    const auto skipped =
        static_cast<std::int32_t>(skipped_attentions(*trial).size() + skipped_mlps(*trial).size());
    by_number[skipped].skipped = skipped;
    by_number[skipped].trials.push_back(trial);
  }
  std::vector<TrialsBySkipped> result;
  for (auto& [skipped, trials] : by_number) {
    std::stable_sort(trials.trials.begin(), trials.trials.end(), is_better);
    result.push_back(std::move(trials));
  }
  return result;
}

std::vector<SetAfterTrials> sets_after_trials(const PolicyFile& policy) {
  constexpr std::size_t parts = 4;
  const std::vector<const Trial*> trials = comparable_trials(policy);
  std::vector<SetAfterTrials> sets;
  for (std::size_t part = 1; part <= parts; ++part) {
    const std::size_t count = trials.size() * part / parts;
    if (count == 0 || (!sets.empty() && sets.back().trials == count)) continue;
    const auto end = trials.begin() + static_cast<std::ptrdiff_t>(count);
    sets.push_back({count, *std::min_element(trials.begin(), end, is_better)});
  }
  return sets;
}

std::string trials_text(const PolicyFile& policy, const Glyphs& glyphs) {
  Table table({}, {"skipped", "trials", "best speedup", "its acceptance"}, {""});
  const std::vector<TrialsBySkipped> rows = trials_by_skipped(policy);
  double highest = 1.0;
  for (const TrialsBySkipped& row : rows) highest = std::max(highest, row.trials.front()->measured.score);
  for (const TrialsBySkipped& row : rows) {
    const speculation::Measurement& best = row.trials.front()->measured;
    table.add_row({count(row.skipped), count(static_cast<std::int64_t>(row.trials.size())),
                   factor(best.score, glyphs), percent(best.acceptance_rate),
                   bar(best.score / highest, bar_width, glyphs)});
  }
  return "\nspeedup by number of skipped sublayers\n" + table.text(2, glyphs.columns);
}

std::string sets_text(const PolicyFile& policy, const Glyphs& glyphs) {
  Table table({}, {"after", "best speedup", "attentions", "MLPs"}, {"sublayers"});
  for (const SetAfterTrials& set : sets_after_trials(policy)) {
    const auto attentions = skipped_attentions(*set.best);
    const auto mlps = skipped_mlps(*set.best);
    const std::int32_t layers = set.best->candidate->mask.n_layers();
    table.add_row({counted(set.trials, "trial"), factor(set.best->measured.score, glyphs),
                   count(static_cast<std::int64_t>(attentions.size())),
                   count(static_cast<std::int64_t>(mlps.size())),
                   "attention " + map_text(layers, attentions)});
    table.add_row({"", "", "", "", "MLP       " + map_text(layers, mlps)});
  }
  return "\nthe best set so far; # is a skipped sublayer, the first layer is left\n" +
         table.text(2, glyphs.columns);
}

Json search_json(const PolicyFile& policy) {
  Json json = Json::object();
  json["by_skipped"] = json_list(trials_by_skipped(policy), [](const TrialsBySkipped& row) -> Json {
    return {{"skipped", row.skipped},
            {"scores", json_list(row.trials, [](const Trial* trial) { return trial->measured.score; })},
            {"acceptance_rate", row.trials.front()->measured.acceptance_rate}};
  });
  json["sets"] = json_list(sets_after_trials(policy), [](const SetAfterTrials& set) -> Json {
    return {{"trials", set.trials},
            {"score", set.best->measured.score},
            {"skipped_attentions", skipped_attentions(*set.best)},
            {"skipped_mlps", skipped_mlps(*set.best)}};
  });
  return json;
}

Chart trials_chart(const PolicyFile& policy) {
  Chart chart{.title = "Speedup by number of skipped sublayers",
              .x_title = "skipped sublayers",
              .y_title = "speedup",
              .level = 1.0,
              .sentence =
                  "Each dot is a trial of the search. The dashed line joins the fastest set of each "
                  "number: where it falls, drafts are wrong too often."};
  ChartSeries trials{.name = "trials"};
  ChartSeries best{
      .name = "best of a number", .color = 2, .mark = ChartMark::none, .is_joined = true, .is_dashed = true};
  for (const TrialsBySkipped& row : trials_by_skipped(policy)) {
    for (const Trial* trial : row.trials) {
      trials.x.push_back(row.skipped);
      trials.y.push_back(trial->measured.score);
    }
    best.x.push_back(row.skipped);
    best.y.push_back(row.trials.front()->measured.score);
  }
  chart.series = {std::move(trials), std::move(best)};
  return chart;
}

Chart sets_chart(const PolicyFile& policy) {
  Chart chart{.title = "Which sublayers the draft skips",
              .x_title = "layer",
              .bar_width = 0.86,
              .sentence =
                  "A row of squares is attention (orange) or MLP (blue): filled where it is skipped, grey "
                  "where it stays. The best sets of ever more trials stand one above the other."};
  ChartSeries kept{.color = light_grey, .mark = ChartMark::bar};
  ChartSeries attentions{.name = "attention skipped", .color = 2, .mark = ChartMark::bar};
  ChartSeries mlps{.name = "MLP skipped", .color = 1, .mark = ChartMark::bar};
  const auto add_square = [](ChartSeries& series, std::int32_t layer, double bottom) {
    series.x.push_back(layer);
    series.low.push_back(bottom);
    series.y.push_back(bottom + 0.42);
  };
  double bottom = 0.0;
  for (const SetAfterTrials& set : sets_after_trials(policy)) {
    const SublayerMask& mask = set.best->candidate->mask;
    for (std::int32_t layer = 0; layer < mask.n_layers(); ++layer) {
      add_square(mask.runs_attention(layer) ? kept : attentions, layer, bottom + 0.46);
      add_square(mask.runs_mlp(layer) ? kept : mlps, layer, bottom);
    }
    chart.rows.push_back(counted(set.trials, "trial"));
    bottom += 1.0;
  }
  chart.series = {std::move(kept), std::move(attentions), std::move(mlps)};
  return chart;
}

}  // namespace draftscope::cli
