// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/reports.h"

#include <draftscope/simulator/analysis/question_names.h>
#include <draftscope/speculation/policy_history.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "report/report_json.h"
#include "terminal/numbers.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

/// A row of series_table().
struct ChartedSeries {
  std::string title;
  std::vector<double> values;  ///< Values in their order; non-finite ones are left out.
};

/// Table with one row per series: first and last value, range, mean and a line chart. Indented by four cells.
/// Series without a value are left out.
std::string series_table(const std::vector<ChartedSeries>& series, const Glyphs& glyphs) {
  Table table({"series"}, {"values", "first", "last", "min", "mean", "max"}, {"from first to last"});
  for (const ChartedSeries& one : series) {
    std::vector<double> values;
    std::copy_if(one.values.begin(), one.values.end(), std::back_inserter(values),
                 [](double value) { return std::isfinite(value); });
    if (values.empty()) continue;
    const auto [min, max] = std::minmax_element(values.begin(), values.end());
    const double mean =
        std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    table.add_row({one.title, count(static_cast<std::int64_t>(values.size())), number(values.front()),
                   number(values.back()), number(*min), number(mean), number(*max),
                   line_chart(values, bar_width, glyphs)});
  }
  return table.text(4, glyphs.columns);
}

using simulator::DecisionSeries;
using simulator::DecisionsOfKind;
using simulator::RunDecisions;

std::string title_of(const DecisionSeries& series) {
  if (series.exit == 0) return std::string(series.row->title);
  return fmt::format("{}, exit {}", series.row->title, series.exit);
}

std::int64_t time_of(const DecisionsOfKind& decisions) {
  return std::accumulate(decisions.duration_ns.begin(), decisions.duration_ns.end(), std::int64_t{0});
}

/// Text like "candidates: random 85, bayesian 4", with one line for each field of words.
std::string words_text(const DecisionsOfKind& decisions) {
  std::string lines;
  for (const simulator::DecisionWords& words : decisions.words) {
    std::map<std::string_view, std::int64_t> counts;
    for (const std::string& word : words.values)
      if (!word.empty()) ++counts[word];
    std::string text;
    for (const auto& [word, decided] : counts)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", printable(word), count(decided));
    if (!text.empty()) lines += fmt::format("    {}: {}\n", words.row->title, text);
  }
  return lines;
}

/// Exits that were never chosen are left out; JSON has them.
std::string series_text(const DecisionsOfKind& decisions, const Glyphs& glyphs) {
  std::set<std::int32_t> chosen;
  for (const DecisionSeries& one : decisions.series)
    if (one.row->key == "exit")
      for (const double exit : one.values)
        if (std::isfinite(exit)) chosen.insert(static_cast<std::int32_t>(exit));
  std::vector<ChartedSeries> series;
  series.reserve(decisions.series.size());
  for (const DecisionSeries& one : decisions.series)
    if (one.exit == 0 || chosen.empty() || chosen.contains(one.exit))
      series.push_back({title_of(one), one.values});
  return series_table(series, glyphs);
}

std::string kind_text(const DecisionsOfKind& decisions, double wall_ns, const Glyphs& glyphs) {
  const auto adopted = std::count(decisions.adopted.begin(), decisions.adopted.end(), true);
  std::string text = fmt::format("  {}: {} decisions, {} took effect", printable(decisions.kind),
                                 count(static_cast<std::int64_t>(decisions.start_ns.size())), count(adopted));
  if (const auto spent_ns = static_cast<double>(time_of(decisions)); spent_ns > 0.0)
    text +=
        fmt::format(", {} to decide{}", duration(spent_ns, glyphs),
                    wall_ns > 0.0 ? fmt::format(" ({} of the wall time)", percent(spent_ns / wall_ns)) : "");
  return text + '\n' + words_text(decisions) + series_text(decisions, glyphs);
}

std::string persistence_text(const RunDecisions& run, const Glyphs& glyphs) {
  if (run.persistence.empty()) return {};
  Table table({}, {"tokens apart", "pairs", "in common"}, {""});
  for (const simulator::Persistence& gap : run.persistence)
    table.add_row({gap.min_gap == gap.max_gap
                       ? std::to_string(gap.min_gap)
                       : fmt::format("{}{}{}", gap.min_gap, glyphs.range(), gap.max_gap),
                   count(gap.pairs), percent(gap.jaccard), bar(gap.jaccard, bar_width, glyphs)});
  return "  how long sets of skipped layers persist: layers in both / in either, mean over pairs of sets\n" +
         table.text(4, glyphs.columns);
}

/// Table with one row per exit and two columns per category: its share of the category's rounds, and the
/// acceptance.
std::string exits_text(const RunDecisions& run, const Glyphs& glyphs) {
  if (run.exits.empty()) return {};
  std::set<std::string> categories;
  std::map<std::string, std::int64_t> rounds_of;
  std::map<std::int32_t, std::map<std::string, const simulator::ExitByCategory*>> cells;
  for (const simulator::ExitByCategory& entry : run.exits) {
    categories.insert(entry.category);
    rounds_of[entry.category] += entry.rounds;
    cells[entry.exit][entry.category] = &entry;
  }
  Table table({{"exit", Align::left}});
  for (const std::string& category : categories)
    table.add_column(printable(simulator::category_name(category)));
  for (const auto& [exit, by_category] : cells) {
    table.add_row({std::to_string(exit)});
    for (const std::string& category : categories) {
      const auto found = by_category.find(category);
      table.add_cell(found == by_category.end()
                         ? std::string(glyphs.absent())
                         : fmt::format("{} ({})",
                                       percent(static_cast<double>(found->second->rounds) /
                                               static_cast<double>(rounds_of[category])),
                                       percent(static_cast<double>(found->second->accepted) /
                                               static_cast<double>(found->second->drafted))));
    }
  }
  return "  exits by category: share of the category's rounds with a draft (their acceptance)\n" +
         table.text(4, glyphs.columns);
}

Json kind_json(const DecisionsOfKind& decisions) {
  Json json = Json::object();
  json["kind"] = decisions.kind;
  json["decisions"] = decisions.start_ns.size();
  json["adopted_decisions"] = std::count(decisions.adopted.begin(), decisions.adopted.end(), true);
  json["deciding_ns"] = time_of(decisions);
  json["request_id"] =
      json_list(decisions.requests, [](traces::RequestId request) { return request.value(); });
  json["round_index"] = decisions.rounds;
  json["start_ns"] = decisions.start_ns;
  json["duration_ns"] = decisions.duration_ns;
  json["adopted"] = decisions.adopted;
  json["origin"] = std::vector<std::string>(decisions.start_ns.size());
  Json& words = json["words"] = Json::array();
  for (const simulator::DecisionWords& one : decisions.words)
    if (one.row->key == "origin")
      json["origin"] = one.values;
    else
      words.push_back(Json::object({{"key", one.row->key}, {"values", one.values}}));
  json["series"] = json_list(decisions.series, [](const DecisionSeries& one) -> Json {
    return {{"key", one.row->key},
            {"exit", one.exit == 0 ? Json(nullptr) : Json(one.exit)},
            {"values", values_json(one.values)}};
  });
  return json;
}

Json persistence_json(const simulator::Persistence& gap) {
  return {{"min_gap", gap.min_gap}, {"max_gap", gap.max_gap}, {"pairs", gap.pairs}, {"jaccard", gap.jaccard}};
}

Json exit_json(const simulator::ExitByCategory& entry) {
  return {{"exit", entry.exit},
          {"category", entry.category},
          {"rounds", entry.rounds},
          {"drafted_tokens", entry.drafted},
          {"accepted_tokens", entry.accepted}};
}

}  // namespace

std::string decisions_text(const simulator::MeasuredRecording& measured,
                           const std::vector<RunDecisions>& runs, const Glyphs& glyphs) {
  std::string text = header_text(measured, glyphs);
  std::string without;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RunDecisions& run = runs[i];
    const std::string name = printable(run.run->specification);
    if (run.kinds.empty() && run.exits.empty()) {
      without += (without.empty() ? "" : ", ") + name;
      continue;
    }
    text += '\n' + name + '\n';
    const auto wall_ns = static_cast<double>(measured.figures.runs[i].all.throughput.wall_ns);
    for (const DecisionsOfKind& decisions : run.kinds) text += kind_text(decisions, wall_ns, glyphs);
    text += persistence_text(run, glyphs) + exits_text(run, glyphs);
  }
  if (!without.empty()) text += "\nwithout decisions: " + without + '\n';
  return text;
}

std::string decisions_json(const simulator::MeasuredRecording& measured,
                           const std::vector<RunDecisions>& runs) {
  Json json = recording_document(measured);
  json["runs"] = json_list(runs, [](const RunDecisions& run) {
    Json entry = Json::object();
    add_run(entry, *run.run);
    entry["decisions_by_kind"] = json_list(run.kinds, kind_json);
    entry["persistence"] = json_list(run.persistence, persistence_json);
    entry["exits_by_category"] = json_list(run.exits, exit_json);
    return entry;
  });
  return json_text(json);
}

namespace {

/// Trials by proposer, such as "single 60, probe 9, model 120", in order of first appearance.
std::string proposed_by_text(const speculation::PolicyFile& policy) {
  std::vector<std::string_view> order;
  std::map<std::string_view, std::int64_t> counts;
  for (const speculation::Trial& trial : policy.trials)
    if (const std::string_view origin = speculation::trial_origin(trial); ++counts[origin] == 1)
      order.push_back(origin);
  std::string text;
  for (const std::string_view origin : order)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", origin, count(counts[origin]));
  return text;
}

std::int64_t teacher_forced_trials(const speculation::PolicyFile& policy) {
  return std::count_if(policy.trials.begin(), policy.trials.end(), [](const speculation::Trial& trial) {
    return trial.scored_by == speculation::ScoredBy::teacher_forced;
  });
}

}  // namespace

std::string history_text(const speculation::PolicyFile& policy, const Glyphs& glyphs) {
  std::string text =
      fmt::format("{}{}\n", policy.strategy.empty() ? "no trial yet" : printable(policy.strategy),
                  policy.finished                                       ? ""
                  : policy.settings.contains(speculation::policy_shard) ? " (a shard of a search)"
                                                                        : " (the search is not finished)");
  const auto all = static_cast<std::int64_t>(policy.trials.size());
  text += fmt::format("  {} trials: {}\n", count(all), proposed_by_text(policy));
  if (const std::int64_t forced = teacher_forced_trials(policy); forced > 0)
    text += fmt::format("  scored: teacher-forced {}, decoded {}\n", count(forced), count(all - forced));
  std::vector<ChartedSeries> series;
  for (const speculation::TrialSeries& one : speculation::policy_history(policy))
    series.push_back({std::string(one.title), one.values});
  return text + series_table(series, glyphs);
}

std::string history_json(const speculation::PolicyFile& policy) {
  Json json = new_document();
  json["strategy"] = policy.strategy;
  json["finished"] = policy.finished;
  json["trials"] = policy.trials.size();
  using speculation::Trial;
  json["origin"] = json_list(policy.trials, speculation::trial_origin);
  json["scored_by"] = json_list(
      policy.trials, [](const Trial& trial) { return speculation::scored_by_name(trial.scored_by); });
  json["setting"] = json_list(policy.trials, [](const Trial& trial) { return trial.setting; });
  json["series"] =
      json_list(speculation::policy_history(policy), [](const speculation::TrialSeries& one) -> Json {
        return {{"key", one.key}, {"values", values_json(one.values)}};
      });
  return json_text(json);
}

}  // namespace draftscope::cli
